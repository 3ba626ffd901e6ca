"""Scorecards as JSON: every number a double in its shortest form, null for −∞. docs/export.md has the schema."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, singledispatch
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from tallybayes.categories import Categories
from tallybayes.errors import BadModelFile, BadOption, TallyError, wanted
from tallybayes.events import Event, parse
from tallybayes.events.event import as_event
from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import Interaction, Part
from tallybayes.events.plain_terms import (
    CellTable,
    Domain,
    IntervalTable,
    LinearCounts,
    LookupTable,
    NamedDensity,
    PlainTerm,
    TokenTable,
)
from tallybayes.events.text.token_cells import TokenWeights
from tallybayes.export.readings import clock_of_text, currency, date_pattern, number_of_text, unit_of_text
from tallybayes.export.scorecard import Scorecard, ScoredTerm
from tallybayes.inference.posterior import Temperature, Tempering
from tallybayes.kernels.text_types import TextOptions
from tallybayes.plain_values import plain_types
from tallybayes.schema.column_names import names
from tallybayes.schema.schema import Block, Schema
from tallybayes.sources.missing import checked
from tallybayes.sources.reading import Reading

__all__ = ["FORMAT", "VERSION", "from_json", "to_dict", "to_json"]

FORMAT, VERSION = "tallybayes scorecard", 1
_MOST_FADING = 1024  # a share to this power is 0 in all but whole rows
_DECIMALS = 13  # of an interval's amount, one for each column: a thousand columns are off by 1e-10 at most
_WHOLE = 2**53  # whole numbers beyond it are written as text: JavaScript would round them
_TEXT_OPTIONS = ("lowercase", "strip_accents", "analyzer", "ngram_range", "stop_words")
# What a document that is no scorecard makes the functions below raise.
_BROKEN = (TallyError, LookupError, TypeError, ValueError, AttributeError, OverflowError, pa.ArrowException)

Plain = dict[str, Any]


def to_json(card: Scorecard) -> str:
    """Return a scorecard as JSON."""
    return json.dumps(to_dict(card), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_dict(card: Scorecard) -> Plain:
    """Return a scorecard as plain values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "label": card.schema.label,
        "classes": _put_values(card.categories),
        "columns": list(card.schema.columns),
        "missing": card.schema.missing,
        "missing_values": "auto" if card.schema.missing_values == "auto" else list(card.schema.missing_values),
        "unseen": card.unseen,
        **({"readings": _put_readings(card)} if card.schema.readings else {}),
        "log_prior": _put(card.log_prior),
        "calibration": _put_calibration(card),
        "terms": [_put_scored(term, weighted=card.bias is not None) for term in card.terms],
    }


def _put(numbers: Floats) -> list[Any]:
    """Return numbers as lists; None for −∞, and whole numbers without a fraction."""
    values: list[Any] = numbers.tolist()
    if numbers.ndim > 1:
        return [_put(one) for one in numbers]
    return [None if x == -np.inf else int(x) if x == 0 else x for x in values]


def _put_values(values: Categories) -> Plain:
    array = values.array
    if pa.types.is_temporal(array.type):
        listed: list[Any] = [None if value is None else value.isoformat() for value in values.values]
    else:
        listed = [str(v) if isinstance(v, int) and abs(v) > _WHOLE else v for v in values.values]
    if any(isinstance(v, float) and not np.isfinite(v) for v in listed):
        raise BadOption(wanted("export", "finite numbers as values", "an infinite one", "Make it missing"))
    return {"kind": values.kind, "values": listed}


def _put_readings(card: Scorecard) -> Plain:
    """Return how columns are read, with the regular expressions that other languages read them by."""
    out: Plain = {}
    for name, reading in card.schema.readings.items():
        out[name] = {"kind": reading.kind, "options": list(reading.options)}
        if reading.kind == "numbers":
            out[name] |= {"pattern": number_of_text(reading.options[0], reading.unit), "currency": currency()}
            out[name] |= {"unit": unit_of_text(reading.unit)} if reading.unit else {}
        if reading.kind == "times":
            out[name] |= dict(zip(("pattern", "half_day"), clock_of_text(), strict=True))
        if reading.kind == "dates":
            date = date_pattern(reading.options[0])
            out[name] |= {"pattern": date.pattern, "fields": list(date.fields)}
    return out


def _put_calibration(card: Scorecard) -> Plain | None:
    if card.bias is not None:
        return {"kind": "weights", "bias": _put(card.bias), "fading": card.fading}
    t = card.temperature
    if t is None:
        return None
    if isinstance(t, TokenWeights):
        return {"kind": "tokens", "t": t.t, "b": t.b, "typical": t.typical, "prior": t.prior}
    return {"kind": "temperature", "a": t.a, "b": t.b}


def _put_scored(term: ScoredTerm, *, weighted: bool) -> Plain:
    out = {"name": term.name, "event": term.event, "kind": term.plain.kind, **_put_term(term.plain, term.name)}
    if weighted:
        out["weight"] = term.weight
        if term.correction is not None:
            table, cell = np.unique(term.correction, axis=0, return_inverse=True)
            out["correction"] = {"cell": cell.reshape(-1).tolist(), "table": _put(table)}
        if term.missing.any():
            out["missing"] = _put(term.missing)
    return out


@singledispatch
def _put_term(term: PlainTerm, name: str) -> Plain:
    raise BadOption(wanted(f"column {name!r}", "a form that JSON can hold", type(term).__name__))


@_put_term.register
def _(term: LookupTable, name: str) -> Plain:
    return {"values": _put_values(term.values), "log": _put(term.log)}


@_put_term.register
def _(term: IntervalTable, name: str) -> Plain:
    return {"edges": _put(term.edges), "log": _put(np.round(term.log, _DECIMALS)), "domain": term.domain}


@_put_term.register
def _(term: LinearCounts, name: str) -> Plain:
    return {"log": _put(term.log), "domain": term.domain}


@_put_term.register
def _(term: NamedDensity, name: str) -> Plain:
    parameters = {key: _put(value) for key, value in term.parameters.items()}
    return {"form": term.form, "parameters": parameters, "domain": term.domain, "of_log": term.of_log}


@_put_term.register
def _(term: CellTable, name: str) -> Plain:
    parts = [part._asdict() for part in term.parts]
    return {"parts": parts, "factor": term.factor, "log": _put(term.log)}


@_put_term.register
def _(term: TokenTable, name: str) -> Plain:
    refuse_tokenizer(term, name)
    options: Plain = {key: getattr(term.options, key) for key in _TEXT_OPTIONS}
    options |= {"ngram_range": list(term.options.ngram_range), "stop_words": list(term.options.stop_words)}
    if term.options.strip_accents == "unicode":
        options["combining"] = _combining()
    return {
        "options": options,
        "vocabulary": list(term.vocabulary.values),
        "log": _put(term.log),
        "base": _put(term.base),
        "unknown": None if term.unknown is None else _put(term.unknown),
        "distinct": term.distinct,
        "needed": None if term.needed is None else np.argwhere(term.needed).tolist(),
        "worth": None if term.worth is None else _put(term.worth),
        "worth_unknown": term.worth_unknown,
    }


@cache
def _combining() -> str:
    """Return the combining characters as ranges of a regular expression: JavaScript has no name for them."""
    found = [c for c in range(sys.maxunicode + 1) if unicodedata.combining(chr(c))]
    runs = np.split(np.array(found), np.flatnonzero(np.diff(found) != 1) + 1)
    return "".join(f"\\u{{{run[0]:x}}}-\\u{{{run[-1]:x}}}" for run in runs)


def refuse_tokenizer(term: TokenTable, name: str) -> None:
    """Raise if texts are split by a function of the user's, which no file can hold."""
    if term.options.tokenizer is not None:
        do = "Fit without tokenizer=, or keep the model in Python"
        raise BadOption(wanted(f"column {name!r}", "the built-in tokenizer for export", "a function", do))


def from_json(text: str | bytes) -> Scorecard:
    """Return the scoring-only model that `Model.to_json` wrote.

    Parameters
    ----------
    text : str or bytes
        The JSON.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> tb.from_json(model.to_json()).predict([{"x": "q"}]).tolist()
    ['yes']
    """
    try:
        put = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise _no_scorecard("something else") from None
    if not isinstance(put, dict) or put.get("format") != FORMAT:
        raise _no_scorecard("other JSON")
    if put.get("version") != VERSION:
        do = "Use the version of tallybayes that wrote it"
        raise BadModelFile(wanted("from_json", f"version {VERSION}", repr(put.get("version"))[:40], do))
    try:
        return _card(put)
    except _BROKEN as error:
        raise _no_scorecard(f"one with parts that do not fit ({str(error)[:100]})") from None


def _no_scorecard(got: str) -> BadModelFile:
    return BadModelFile(wanted("from_json", "the JSON of Model.to_json", got, "Export the model again"))


def _card(put: Plain) -> Scorecard:
    classes = _values(put["classes"])
    C, calibration = len(classes), put["calibration"]
    pairs = [_scored(one, C) for one in put["terms"]]
    blocks = tuple(Block(event, (term.name,)) for event, term in pairs)
    if put["missing"] not in ("skip", "category", "error") or put["unseen"] not in ("smooth", "skip", "error"):
        raise ValueError("missing, unseen")
    schema = Schema(str(put["label"]), None, blocks, names(map(str, put["columns"])), put["missing"])
    markers = put["missing_values"]
    if markers != "auto" and not all(isinstance(one, str) for one in markers):
        raise ValueError("missing_values")
    schema = replace(schema, missing_values=checked(markers), readings=_readings(put.get("readings", {})))
    weighted = calibration is not None and calibration["kind"] == "weights"
    return Scorecard(
        schema=schema,
        categories=classes,
        unseen=put["unseen"],
        log_prior=_numbers(put["log_prior"], (C,)),
        terms=tuple(term for _, term in pairs),
        bias=_numbers(calibration["bias"], (C,)) if weighted else None,
        temperature=None if weighted or calibration is None else _tempering(calibration),
        fading=_whole(calibration["fading"]) if weighted else 1,
    )


def _readings(put: Plain) -> dict[str, Reading]:
    readings = {name: Reading(one["kind"], tuple(map(str, one["options"]))) for name, one in put.items()}
    if not all(one.valid for one in readings.values()):
        raise ValueError("readings")
    return readings


def _whole(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= _MOST_FADING:
        raise ValueError("fading")
    return value


def _tempering(put: Plain) -> Tempering:
    if put["kind"] == "tokens":
        t, b, typical, prior = (float(put[key]) for key in ("t", "b", "typical", "prior"))
        return TokenWeights(t, b, typical, prior, ())
    if put["kind"] != "temperature":
        raise ValueError(put["kind"])
    return Temperature(float(put["a"]), float(put["b"]))


def _scored(put: Plain, C: int) -> tuple[Event, ScoredTerm]:
    make, name = _MAKERS[put["kind"]], str(put["name"])
    plain = make(put, C)
    event = as_event(_interaction(put)) if put["kind"] == "cells" else parse(put["event"])
    found = put.get("correction")
    correction = None if found is None else _numbers(found["table"], (None, C))[np.asarray(found["cell"], np.intp)]
    if correction is not None and len(correction) != len(put["log"]) - (put["kind"] == "lookup"):
        raise ValueError(f"{len(correction)} corrections")
    missing = _numbers(put["missing"], (C,)) if "missing" in put else np.zeros(C)
    return event, ScoredTerm(name, str(put["event"]), plain, float(put.get("weight", 1.0)), correction, missing)


def _interaction(put: Plain) -> Interaction:
    parts = [(part["column"], part["kind"], part["values"], part["names"]) for part in put["parts"]]
    return Interaction.of(parts, float(put["factor"]))


def _lookup(put: Plain, C: int) -> LookupTable:
    values = _values(put["values"])
    return LookupTable(values, _numbers(put["log"], (len(values) + 1, C)))


def _interval(put: Plain, C: int) -> IntervalTable:
    edges = _numbers(put["edges"], (None,))
    if not (np.diff(edges) > 0).all() or put["domain"] not in get_args(Domain):
        raise ValueError("edges")
    return IntervalTable(edges, _numbers(put["log"], (len(edges) + 1, C)), put["domain"])


def _counts(put: Plain, C: int) -> LinearCounts:
    return LinearCounts(_numbers(put["log"], (C,)), put["domain"])


def _density(put: Plain, C: int) -> NamedDensity:
    parameters = {key: _numbers(value, (C,)) for key, value in put["parameters"].items()}
    return NamedDensity(put["form"], parameters, put["domain"], bool(put["of_log"]))


def _cells(put: Plain, C: int) -> CellTable:
    event = _interaction(put)
    parts: tuple[Part, ...] = event.parts
    return CellTable(parts, _numbers(put["log"], (event.size, C)), event.base)


def _tokens(put: Plain, C: int) -> TokenTable:
    options = put["options"]
    made = {"ngram_range": tuple(options["ngram_range"]), "stop_words": tuple(options["stop_words"])}
    vocabulary = Categories(pa.array(put["vocabulary"], pa.string()))
    V, needed = len(vocabulary), None
    if put["needed"] is not None:
        needed = np.zeros((V, C), bool)
        needed[tuple(np.asarray(put["needed"], np.intp).T)] = True
    return TokenTable(
        options=TextOptions(**{**{key: options[key] for key in _TEXT_OPTIONS}, **made}),
        vocabulary=vocabulary,
        log=_numbers(put["log"], (V, C)),
        base=_numbers(put["base"], (C,)),
        unknown=None if put["unknown"] is None else _numbers(put["unknown"], (C,)),
        distinct=bool(put["distinct"]),
        needed=needed,
        worth=None if put["worth"] is None else _numbers(put["worth"], (V,)),
        worth_unknown=float(put["worth_unknown"]),
    )


_MAKERS: Mapping[str, Callable[[Plain, int], PlainTerm]] = {
    "lookup": _lookup,
    "interval": _interval,
    "counts": _counts,
    "density": _density,
    "cells": _cells,
    "tokens": _tokens,
}


def _numbers(put: list[Any], shape: tuple[int | None, ...]) -> Floats:
    """Return numbers of a shape; None in it is any length, and None among the numbers is −∞."""
    if len(shape) > 1:
        rows = [_numbers(row, shape[1:]) for row in put]
        found = np.array(rows) if rows else np.zeros((0, *(n or 0 for n in shape[1:])))
    else:
        found = np.array([-np.inf if x is None else float(x) for x in put], np.float64)
    if (shape[0] is not None and len(found) != shape[0]) or np.isnan(found).any():
        raise ValueError(f"{len(found)} numbers")
    return found


def _values(put: Plain) -> Categories:
    type_ = plain_types()[put["kind"]]
    values = put["values"]
    if pa.types.is_temporal(type_):
        return Categories(pa.array(values, pa.string()).cast(type_))
    if type_ == pa.int64():
        values = [None if v is None else int(v) for v in values]
    return Categories(pa.array(values, type_))
