"""Scorecards as ONNX graphs: double precision, standard operators, an input for each column.

Every term becomes a matrix with the plain amounts of all classes, the weighted ones, and what it adds to the length of
the row. They are summed, mixed, and normalised by one softmax. A row that `predict` would refuse is NaN.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallybayes.encoding.product import values_of
from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import BINS, Part
from tallybayes.events.plain_terms import CellTable, IntervalTable, LinearCounts, LookupTable, NamedDensity, TokenTable
from tallybayes.export.onnx_densities import Densities, finite, form_of
from tallybayes.export.onnx_graph import Graph
from tallybayes.export.onnx_intervals import IntervalTables
from tallybayes.export.scorecard import Scorecard, ScoredTerm
from tallybayes.inference.posterior import Temperature
from tallybayes.sources.missing import markers_of_names

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["add_answer", "takes_texts", "to_onnx"]

_IS_IMPOSSIBLE = -1e150  # a sum below is that of something impossible
_TEXTS = ("text", "dates", "times")  # the kinds of values that are strings in ONNX


def to_onnx(card: Scorecard) -> ModelProto:
    """Return the graph that scores rows; see `Model.to_onnx`."""
    graph = Graph()
    texts = takes_texts(card)
    inputs = {name: graph.input(name, text=name in texts) for name in card.schema.columns}
    label, probabilities = add_answer(graph, card, inputs)
    whole = card.categories.kind == "whole numbers"
    graph.output("label", label, "int64" if whole else "string", 1)
    graph.output("probabilities", probabilities, "double", 2, len(card.classes))
    return graph.model(card.schema.label)


def takes_texts(card: Scorecard) -> set[str]:
    """Return the columns whose input is strings."""
    return {name for term in card.terms for name, kind in _kinds(term) if kind in _TEXTS}


def _kinds(term: ScoredTerm) -> list[tuple[str, str]]:
    if isinstance(term.plain, CellTable):
        return [(part.column, part.kind) for part in term.plain.parts]
    return [(term.name, term.plain.values.kind if isinstance(term.plain, LookupTable) else "numbers")]


def add_answer(graph: Graph, card: Scorecard, inputs: dict[str, str]) -> tuple[str, str]:
    """Add the nodes that score columns (n, 1); return the names of the labels (n,) and the probabilities (n, C)."""
    query = _Scorer(graph, card, inputs)
    intervals, alike, parts = [], defaultdict(list), []
    for term in card.terms:
        if isinstance(term.plain, IntervalTable):
            intervals.append(term)
        elif isinstance(term.plain, NamedDensity | LinearCounts):
            alike[form_of(term)].append(term)
        else:
            parts.append(query.term(term))
    parts += [query.intervals(intervals)] if intervals else []
    parts += [query.densities(terms) for terms in alike.values()]
    return query.answer(graph.op("Sum", *parts))


class _Scorer:
    def __init__(self, graph: Graph, card: Scorecard, inputs: dict[str, str]) -> None:
        self.g, self.card, self.inputs = graph, card, inputs
        self.C, self.refused = len(card.classes), [graph.const(np.zeros((1, 1), bool))]
        self.checked: set[str] = set()

    def term(self, term: ScoredTerm) -> str:  # (n, 2C + 1)
        """Return the plain and weighted amounts of a term, and what it adds to the length."""
        plain = term.plain
        if isinstance(plain, LookupTable):
            return self._table(term, self._value_cell(plain, term.name), plain.log, len(plain.values))
        if isinstance(plain, CellTable):
            return self._table(term, self._product_cell(plain), plain.log, 0)
        if isinstance(plain, TokenTable):
            want, do = (
                "columns without text for ONNX, whose operators split words differently",
                "Use to_json or to_html",
            )
            raise BadOption(wanted(f"column {term.name!r}", want, "text", do))
        raise BadOption(wanted(f"column {term.name!r}", "a form that ONNX can compute", plain.kind))

    def densities(self, terms: Sequence[ScoredTerm]) -> str:  # (n, 2C + 1)
        """Return the amounts of all densities of the same form, or of counts."""
        found = Densities(self.g, [self.inputs[term.name] for term in terms], terms)
        self.checked |= {term.name for term in terms}
        self.refused += found.outside()
        self.refused += [found.lacking()] if self.card.schema.missing == "error" else []
        return found.amounts()

    def intervals(self, terms: Sequence[ScoredTerm]) -> str:  # (n, 2C + 1)
        """Return the amounts of all tables of intervals, found at once."""
        g, missing = self.g, self.card.schema.missing
        found = IntervalTables(g, [self.inputs[term.name] for term in terms])
        tables, domains = [], []
        for term in terms:
            assert isinstance(term.plain, IntervalTable)
            self.checked.add(term.name)
            amounts = self._amounts(term, term.plain.log)
            if not isinstance(self.card.temperature, Temperature):
                for half in np.split(amounts, 2, axis=1):  # what all classes share is left out
                    half -= np.where(half[:, :1] > _IS_IMPOSSIBLE, half[:, :1], 0.0)
            tables.append((term.plain.edges, amounts))
            domains.append(term.plain.domain)
        sums, size = found.sums(tables), found.size
        self.refused += found.outside(domains)
        self.refused += [g.op("Less", size, g.const(float(len(terms))))] if missing == "error" else []
        return g.op("Concat", sums, size, axis=1)

    def _table(self, term: ScoredTerm, cell: str, log: Floats, known: int) -> str:
        """Return the rows of a table; the row after its last is for a missing value."""
        size = (np.arange(len(log) + 1) < known).astype(np.float64)[:, None]
        rows = self.g.const(np.concatenate([self._amounts(term, log), size], axis=1))
        return self.g.op("Gather", rows, self.g.op("Squeeze", cell, self.g.const([1])), axis=0)

    def _amounts(self, term: ScoredTerm, log: Floats) -> Floats:  # (cells + 1, 2C)
        """Return the plain and the weighted amounts of each cell, and of a missing value."""
        factor = term.plain.factor if isinstance(term.plain, CellTable) else 1.0
        missing = np.zeros((1, self.C))
        plain = np.concatenate([factor * log if factor != 1 else log, missing])
        with np.errstate(invalid="ignore"):
            weighted = np.where(np.isneginf(log), -np.inf, term.weight * log)
        if term.correction is not None:
            weighted[: len(term.correction)] += term.correction
        weighted = np.concatenate([weighted, missing + term.missing])
        return finite(np.concatenate([plain, weighted], axis=1))

    # Numbers, values and their cells, all (n, 1).

    def _missing(self, x: str) -> str:
        return self.g.op("IsNaN", x)

    def _number(self, name: str, domain: str) -> str:
        x = self.inputs[name]
        if name in self.checked:
            return x
        self.checked.add(name)
        self.refused += self.g.outside(x, domain)
        self.refused += [self._missing(x)] if self.card.schema.missing == "error" else []
        return x

    def _value_cell(self, plain: LookupTable, name: str) -> str:
        known, values = len(plain.values), plain.values.values
        null = known + 1
        if self.card.schema.missing == "category":
            null = values.index(None) if None in values else known
        cell = self._slot(name, plain.values.kind, values, known, null)
        if self.card.unseen == "error":
            self.refused.append(self.g.op("Equal", cell, self.g.const(np.int64(known))))
        if self.card.schema.missing == "error":
            self.refused.append(self.g.op("Equal", cell, self.g.const(np.int64(known + 1))))
        return cell

    def _slot(self, name: str, kind: str, values: Sequence[Any], other: int, null: int) -> str:
        """Return the position of a value; `other` for a value that is not listed, and `null` for a missing one."""
        g, x = self.g, self.inputs[name]
        listed = [value for value in values if value is not None]
        if kind in _TEXTS:
            keys = [value if kind == "text" else value.isoformat() for value in listed]
            places = list(range(len(keys)))
            # an empty string is a missing one, unless it is a value; so are the marks of missing values
            markers = markers_of_names(self.card.schema.missing_values) if kind == "text" else ()
            gone = [text for text in dict.fromkeys(("", *markers)) if text not in keys]
            keys, places = keys + gone, places + [null] * len(gone)
            return g.label_codes(x, keys, places, other)
        if any(abs(value) > 2**53 for value in listed):
            do = "Use to_json, or make the values text"
            raise BadOption(wanted(f"column {name!r}", "whole numbers up to 2^53 for ONNX", "larger ones", do))
        cell = g.const(np.full((1, 1), other))
        if listed:
            numbers = np.array(listed, np.float64)
            place = g.op("Max", g.op("Sub", g.search(x, numbers), g.const(np.int64(1))), g.const(np.int64(0)))
            hit = g.op("Equal", g.op("Gather", g.const(numbers), place, axis=0), x)
            cell = g.op("Where", hit, place, g.const(np.int64(other)))
        return g.op("Where", self._missing(x), g.const(np.int64(null)), cell)

    def _product_cell(self, plain: CellTable) -> str:
        g, cell, missing = self.g, "", ""
        for part in plain.parts:
            slot = self._part_slot(part)
            lacks = g.op("Less", slot, g.const(np.int64(0)))
            step = g.op("Mul", cell, g.const(np.int64(len(part.names)))) if cell else ""
            cell = g.op("Add", step, slot) if cell else slot
            missing = g.op("Or", missing, lacks) if missing else lacks
        return g.op("Where", missing, g.const(np.int64(len(plain.log))), cell)

    def _part_slot(self, part: Part) -> str:
        if part.kind == BINS:
            x = self._number(part.column, "any")
            below = self.g.search(x, np.array(part.values, np.float64), strictly=True)
            return self.g.op("Where", self._missing(x), self.g.const(np.int64(-1)), below)
        known = values_of(part)
        other = len(known) if len(part.names) > len(known) else -1
        null = -1
        if self.card.schema.missing == "category":
            null = known.values.index(None) if None in known.values else other
        return self._slot(part.column, part.kind, known.values, other, null)

    def answer(self, sums: str) -> tuple[str, str]:
        """Return the labels (n,) and the probabilities (n, C), given the sum of all terms."""
        g, card, C = self.g, self.card, self.C
        prior = finite(card.log_prior)[None]
        plain = g.op("Add", g.columns(sums, 0, C), g.const(prior))
        size = g.columns(sums, 2 * C, 2 * C + 1)
        scores = self._calibrated(plain, sums, size, prior)
        most = g.op("ReduceMax", scores, g.const([1]), keepdims=1)
        p = g.op("Softmax", scores, axis=1)
        hopeless = g.op("Less", most, g.const(_IS_IMPOSSIBLE))
        p = g.op("Where", hopeless, g.const(np.exp(card.log_prior)[None]), p)
        refused = self.refused[0]
        for one in self.refused[1:]:
            refused = g.op("Or", refused, one)
        p = g.op("Where", refused, g.const(np.nan), p)
        whole = card.categories.kind == "whole numbers"
        names = np.array(card.classes if whole else [str(one) for one in card.classes], np.int64 if whole else object)
        return g.op("Gather", g.const(names), g.op("ArgMax", p, axis=1, keepdims=0), axis=0), p

    def _calibrated(self, plain: str, sums: str, size: str, prior: Floats) -> str:
        g, card, C = self.g, self.card, self.C
        if card.bias is not None:
            weighted = g.op("Add", g.columns(sums, C, 2 * C), g.const(prior + card.bias))
            others = g.op("Max", g.op("Sub", size, g.const(1.0)), g.const(0.0))
            m = g.op("Div", others, g.const(float(max(len(card.schema.columns) - 1, 1))))
            m = g.op("Pow", m, g.const(float(card.fading)))
            rest = g.op("Sub", g.const(1.0), m)
            return g.op("Add", g.op("Mul", rest, plain), g.op("Mul", m, weighted))
        if not isinstance(card.temperature, Temperature):
            return plain
        a, b = g.const(card.temperature.a), g.const(float(card.temperature.b))
        if card.temperature.by_size:
            t = g.op("Mul", a, g.op("Pow", g.op("Add", size, g.const(1.0)), b))
            t = g.op("Where", g.op("Greater", size, g.const(0.0)), t, g.const(1.0))
        else:
            apart = g.op("ReduceMax", g.op("Abs", g.op("Sub", plain, g.const(prior))), g.const([1]), keepdims=1)
            t = g.op("Where", g.op("Greater", apart, g.const(0.0)), a, g.const(1.0))
        return g.op("Mul", plain, t)
