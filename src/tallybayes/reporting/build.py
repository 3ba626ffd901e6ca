"""`report`: from rows, and perhaps a model, to everything that a report says."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import tallybayes
from tallybayes import sources
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.families.bag import BagEvent
from tallybayes.evidence.evidence import Evidence
from tallybayes.explain.histograms import Histogram, histogram
from tallybayes.explain.importance import Importance, importance
from tallybayes.explain.mutual_information import counted_information
from tallybayes.explain.nomogram import Nomogram, nomogram
from tallybayes.explain.tables import Table, prior_table, table
from tallybayes.fitting import fit
from tallybayes.model import Model
from tallybayes.reporting.columns import Remark, facts_of, remarks_on
from tallybayes.reporting.data import Origin, ReportData
from tallybayes.reporting.first_pass import FirstPass, look_at
from tallybayes.reporting.mistakes import worst_mistakes
from tallybayes.reporting.performance import Answer, answer_by, answer_on_new, chosen_how
from tallybayes.structure.dependence import Dependence
from tallybayes.structure.independence import of_model
from tallybayes.validation import LearningCurve, learning_curve, validate_model
from tallybayes.validation.validate import check_options

__all__ = ["report"]

# So many columns are listed, drawn, and looked at in pairs; so many mistakes are explained.
_LISTED, _DRAWN, _PAIRED, _MISTAKES = 60, 24, 30, 5
# Scores of rows held out are kept for every class: of more numbers than this, a sample of the rows is validated.
_MOST_SCORES, _FEWEST_VALIDATED = 2_500_000, 2000
# What the importance of each column by rows left out is worked out for; of wider tables only the bits are told.
_WEIGHED = 400
# The learning curve is one of so many rows (times columns), learned this often, at so many sizes.
_CURVE_ROWS, _CURVE_NUMBERS, _SHUFFLES, _SIZES = 3000, 300_000, 3, 6
_FEWEST_FOR_CURVE, _PARTNERED_CLASSES = 30, 12
_READING = ("missing_values", "errors", "bad_lines", "where")
_ROW_OPTIONS = ("weights", *_READING)


def report(
    rows: Any,
    label: Any = None,
    model: Model | None = None,
    *,
    source: str | None = None,
    command: str | None = None,
    how: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    **fit_options: Any,
) -> ReportData:
    """Everything worth knowing of a model on some rows: what they are, how good it is, why, and where it errs.

    Parameters
    ----------
    rows : anything `fit` takes
        Labelled rows. A file larger than memory is read several times; a stream is kept.
    label : str or array_like, optional
        The column that holds the class, or the classes themselves; by default the column that the model tells.
    model : Model, optional
        The model. Without one, a model is fitted. One that has learned exactly these rows is validated by leaving them
        out in turn; of any other the rows are new, and what it says of them is what is reported.
    source, command : str, optional
        What the page calls the rows, and how it says to reproduce itself.
    how : str, optional
        How rows are held out, as in `validate`; by default ``"loo"`` of up to 1,000 rows and ``"10-fold"`` of more.
    seed : int
        The same seed draws the same folds and samples.
    threads : int, optional
        How many threads count and score.
    **fit_options
        As in `fit`; beside a model only weights, missing_values, errors, bad_lines and where.

    Returns
    -------
    ReportData

    Examples
    --------
    >>> import tallybayes as tb
    >>> days = {"outlook": ["sunny", "rainy", "rainy", "sunny"] * 3, "play": ["no", "yes", "yes", "no"] * 3}
    >>> data = tb.report(days, "play")
    >>> data.answer["accuracy"].value, data.answer["accuracy"].plain
    (1.0, 0.5)
    >>> data.to_html().startswith("<!DOCTYPE html>")
    True
    """
    _check(label, model, fit_options)
    weights = fit_options.pop("weights", None)
    if model is not None:
        weights = model.schema.weight if weights is None and label is None else weights
        label = model.schema.label if label is None else label
    reading = {name: fit_options.pop(name) for name in _READING if name in fit_options}
    opened = {{"missing_values": "missing"}.get(name, name): value for name, value in reading.items()}

    def first_look(types: open_rows.Types | None) -> FirstPass:
        return look_at(open_rows.labelled(rows, label, weights, types=types, **opened), seed)

    looked = open_rows.reading(first_look)
    asked = _asked(looked, model, how, seed, threads, fit_options)
    given = fit_options | reading | ({"weights": looked.weight} if looked.weight else {})
    return _reported(asked, _origin(rows, looked, source, command, seed, given))


def _check(label: Any, model: Model | None, options: Mapping[str, Any]) -> None:
    if model is None:
        if label is None:
            raise BadOption(wanted("report", "the label: a column, or the classes", "none", "Name it, or give a model"))
        return
    if not isinstance(model, Model):
        raise BadOption(wanted("model", "a fitted Model", f"a {type(model).__name__}"))
    other = [name for name in options if name not in _ROW_OPTIONS]
    if other:
        do = "Use model.with_ to choose otherwise"
        raise BadOption(wanted("report", f"only {', '.join(_ROW_OPTIONS)} beside a model", repr(other[0]), do))


@dataclass(frozen=True, eq=False)
class _Asked:
    """The model that is reported on, its rows, and how they are held out."""

    looked: FirstPass
    model: Model
    how: str | None
    seed: int
    threads: int | None
    fitted: bool  # by the report itself
    learned: bool  # exactly these rows


def _asked(
    looked: FirstPass, model: Model | None, how: str | None, seed: int, threads: int | None, options: Mapping[str, Any]
) -> _Asked:
    if model is None:
        check_options(options)
        made = fit(looked.source, looked.label, weights=looked.weight, threads=threads, **options)
        return _Asked(looked, made, how, seed, threads, fitted=True, learned=True)
    empty = Model(Evidence.empty(model.schema), model.choices)
    counted = empty.learn(looked.source, looked.label, weights=looked.weight, threads=threads)
    learned = counted.evidence == model.evidence
    if how is not None and not learned:
        got = f"{how!r} for rows that the model has not learned"
        raise BadOption(wanted("how", "none", got, "They are new to it as they are; fit a model of them to validate"))
    return _Asked(looked, model, how, seed, threads, fitted=False, learned=learned)


def _reported(asked: _Asked, origin: Origin) -> ReportData:
    looked, model = asked.looked, asked.model
    left_out: list[str] = []
    answer = _answer(asked, left_out)
    mattering = _importance(asked, left_out)
    ranking = mattering.ranking()
    if len(ranking) > _LISTED:
        left_out.append(f"Of {len(ranking):,} columns the {_LISTED} that matter most are listed.")
    if len(ranking) > _DRAWN:
        left_out.append(f"Of {len(ranking):,} columns the {_DRAWN} that matter most are drawn.")
    kept = set(ranking[:_LISTED])
    facts = facts_of(looked, model.schema, [name for name in model.schema.columns if name in kept])
    tables = tuple(table(model, name) for name in ranking[:_DRAWN])
    told = dict(zip(model.schema.columns, mattering.information.tolist(), strict=True))
    remarks = remarks_on(looked, model, facts, told | counted_information(tables), inferred=asked.fitted)
    return ReportData(
        label=looked.label,
        rows=looked.rows,
        columns=len(model.schema.columns),
        facts=facts,
        remarks=(*_on_the_model(asked), *remarks),
        prior=prior_table(model),
        answer=answer,
        learning=_curve(asked, left_out),
        tables=tables,
        histograms=_histograms(asked, tables),
        importance=mattering,
        dependence=_dependence(asked, ranking, left_out),
        nomogram=_nomogram(model, answer, left_out),
        mistakes=worst_mistakes(model, looked, answer, _MISTAKES, learned=asked.learned),
        origin=origin,
        left_out=tuple(left_out),
    )


def _on_the_model(asked: _Asked) -> list[Remark]:
    if asked.learned:
        return []
    counted = f"{asked.model.evidence.rows.sum().to_float():g}"
    said = f"The model was made of {counted} other rows. Figures are of what it says of these, which are new to it"
    return [Remark("new rows", asked.looked.label, f"{said}, if none of them were among the others.")]


def _answer(asked: _Asked, left_out: list[str]) -> Answer:
    looked, model = asked.looked, asked.model
    if not asked.learned:
        return answer_on_new(model, looked, asked.threads)
    rows: Any = looked.source
    most = max(_FEWEST_VALIDATED, _MOST_SCORES // len(model.classes))
    if looked.rows > most and len(model.classes) > 20:
        sample = looked.sample.slice(0, most) if looked.sample.num_rows > most else looked.sample
        rows = sources.read(sample)
        left_out.append(f"Validated by {sample.num_rows:,} of {looked.rows:,} rows: there are so many classes.")
    how = asked.how or chosen_how(looked.rows)
    return answer_by(
        validate_model(model, rows, looked.label, how, weights=looked.weight, seed=asked.seed, threads=asked.threads)
    )


def _importance(asked: _Asked, left_out: list[str]) -> Importance:
    model, looked = asked.model, asked.looked
    units = sum(1 if isinstance(block.event, BagEvent) else len(block.columns) for block in model.schema.blocks)
    if not asked.learned:
        left_out.append("What rows left out lose without a column is known only of rows that the model has learned.")
    elif units > _WEIGHED:
        left_out.append(f"What rows left out lose without a column is not told of more than {_WEIGHED} columns.")
    elif units > 1:
        return importance(model, looked.source, looked.label, looked.weight)
    return importance(model, None, None, None)


def _curve(asked: _Asked, left_out: list[str]) -> LearningCurve | None:
    model, sample = asked.model, asked.looked.sample
    classes, width = len(model.classes), len(model.schema.columns)
    rows = min(_CURVE_ROWS, max(200, _CURVE_NUMBERS // width), sample.num_rows)
    if rows < _FEWEST_FOR_CURVE or rows < 6 * classes:
        left_out.append(f"No learning curve: {sample.num_rows:,} rows are too few for {classes} classes.")
        return None
    drawn = np.sort(np.random.default_rng([asked.seed, 11]).permutation(sample.num_rows)[:rows])
    some = sources.take(sample, drawn)
    most = rows - -(-rows // 3) - classes  # what holding out a third of every class leaves at least
    first = max(2 * classes, 10)
    sizes = np.unique(np.geomspace(first, most, _SIZES).round().astype(int)) if most > first else [most]
    compare = ("ridge",) if classes <= _PARTNERED_CLASSES else ()
    if rows < asked.looked.rows:
        left_out.append(f"The learning curve is one of {rows:,} rows drawn at random.")
    choices = {field.name: getattr(model.choices, field.name) for field in fields(model.choices)}
    return learning_curve(
        _with_features(some, model, asked.looked),
        asked.looked.label,
        sizes=[int(size) for size in sizes],
        shuffles=_SHUFFLES,
        compare=compare,
        seed=asked.seed,
        threads=asked.threads,
        weights=asked.looked.weight,
        events=_events(model),
        missing=model.schema.missing,
        **choices,
    )


def _with_features(some: pa.RecordBatch, model: Model, looked: FirstPass) -> sources.Source:
    """The rows with the columns of the model only: those that it ignores are not to be inferred again."""
    used = set(model.schema.columns) if any(_is_plain(field) for field in some.schema) else set()
    names = [
        field.name
        for field in some.schema
        if not _is_plain(field) or field.name in used or field.name in (looked.label, looked.weight)
    ]
    return sources.read(some.select(names))


def _is_plain(field: pa.Field) -> bool:
    return sources.kind_of(field) == "column"


def _events(model: Model) -> Any:
    """The model's event models, as `fit` takes them."""
    if len(model.schema.blocks) == 1:
        return model.schema.blocks[0].event
    return {name: block.event for block in model.schema.blocks for name in block.columns}


def _histograms(asked: _Asked, tables: Sequence[Table]) -> dict[str, Histogram]:
    looked = asked.looked
    made = {one.column: histogram(asked.model, one, looked.sample, looked.label, looked.weight) for one in tables}
    return {name: found for name, found in made.items() if found is not None}


def _dependence(asked: _Asked, ranking: Sequence[str], left_out: list[str]) -> Dependence | None:
    schema, looked = asked.model.schema, asked.looked
    prose = {name for block in schema.blocks if block.event.input == "text" for name in block.columns}
    usable = [name for name in ranking if name not in prose]
    if len(usable) < 2:
        return None
    if len(usable) > _PAIRED:
        left_out.append(f"Pairs are looked at among the {_PAIRED} columns that matter most.")
    chosen = set(usable[:_PAIRED])
    columns = [name for name in schema.columns if name in chosen]
    return of_model(
        asked.model, looked.source, looked.label, weights=looked.weight, columns=columns, threads=asked.threads
    )


def _nomogram(model: Model, answer: Answer, left_out: list[str]) -> Nomogram | None:
    """Points for the class looked for; of several, for the two most frequent."""
    support = dict(zip(model.classes, model.evidence.rows.to_float(), strict=True))
    first, second = sorted(model.classes, key=lambda name: -support[name])[:2]
    if answer.positive is not None:
        first, second = answer.positive, next(name for name in model.classes if name != answer.positive)
    try:
        return nomogram(model, first, second)
    except BadData as error:  # a value that one of the classes has never had, and no smoothing
        left_out.append(f"No nomogram: {error}")
        return None


def _origin(
    rows: Any, looked: FirstPass, source: str | None, command: str | None, seed: int, options: Mapping[str, Any]
) -> Origin:
    named = looked.source.name if source is None else source
    told = {
        name: repr(value) if isinstance(value, str | int | float | dict) else str(value)
        for name, value in options.items()
    }
    called = ", ".join([repr(named), repr(looked.label), *(f"{name}={value}" for name, value in told.items())])
    return Origin(named, command or f"tb.report({called})", tallybayes.__version__, seed, _hashes(rows), told)


def _hashes(rows: Any) -> dict[str, str]:
    """The SHA-256 of each file that was given, by its name."""
    if not sources.is_path(rows):
        return {}
    given = [os.fspath(path) for path in (rows if isinstance(rows, list | tuple) else [rows])]
    files = [Path(file) for path in given for file in (sorted(glob.glob(path)) if glob.has_magic(path) else [path])]
    found = {}
    for file in files:
        if file.is_file():
            with file.open("rb") as opened:
                found[file.name] = hashlib.file_digest(opened, "sha256").hexdigest()
    return found
