"""Choose pairs of columns whose interaction makes rows left out more probable.

The score test of a pair asks what a small weight of its interaction I would gain, given the probabilities P so far:
with g = Σ (Y − P)·I its slope and h = Σ Var_P(I) its curvature, about g²/2h nats. Pairs above a threshold are fitted
together; those that keep a weight above 0 are chosen. Everything is measured on a sample of the rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.errors import BoundedSearchWarning
from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import interaction_tables
from tallybayes.evidence.evidence import Evidence, count_rows
from tallybayes.exact.array import Exact
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms
from tallybayes.inference.fit_weights import THRESHOLD, fit_weights
from tallybayes.inference.sample_size import rows_to_weigh
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.inference.terms import FittedWeights, Terms
from tallybayes.schema.schema import Block
from tallybayes.structure.correlation import correlation_of
from tallybayes.structure.products import SlottedColumn, counted_alone, product, slotted_columns

__all__ = ["MOST_COLUMNS", "PairSearch", "choose_pairs", "look_at"]

MOST_COLUMNS = 200  # whose pairs are looked at
_MOST_PAIRS = MOST_COLUMNS * (MOST_COLUMNS - 1) // 2  # 19,900: a second or two
_MOST_CELLS = 1 << 22  # of all tables and classes (32 MB)
_MOST_CANDIDATES = 200  # fitted together: the strongest
_MOST_EXTENDED = 15  # pairs, the strongest, that a third column is added to
_FREE_THRESHOLD = 3.0  # nats that a free interaction must gain: nested folds say whether these are too many
_SCANS = 2  # a second look, given the pairs of the first, finds those that they hid
_LEAST_P = 1e-15  # a probability of 0 would decide alone
_AT_ONCE = 1 << 22  # cells of rows and pairs (16 MB) that are scanned together

_Pair: TypeAlias = tuple[int, ...]  # of columns; or three of them


def choose_pairs(evidence: Evidence, choices: Choices, sample: SampledRows) -> list[Block]:
    """Return the pairs of columns that improve the probabilities of sampled rows, as products: see `PairSearch`."""
    return PairSearch(evidence, choices, sample).find()


class PairSearch:
    """Interactions that make sampled rows more probable, given the weights of the columns alone.

    Parameters
    ----------
    evidence : Evidence
        The evidence of all rows.
    choices : Choices
        How the columns are estimated; every smoothing is a number.
    sample : SampledRows
        Some of the rows.
    """

    def __init__(self, evidence: Evidence, choices: Choices, sample: SampledRows) -> None:
        self.evidence, self.choices, self.C = evidence, choices, len(evidence.classes)
        most = rows_to_weigh(len(evidence.schema.columns) + _MOST_CANDIDATES // 2, self.C)
        self.rows = sample.with_others(evidence, most)

    @cached_property
    def _alone(self) -> tuple[ColumnTerms, FittedWeights]:
        """The terms of the columns, and their weights."""
        rows = self.rows
        terms = ColumnTerms.of(self.evidence, self.choices, rows.rows, rows.classes, rows.left)
        return terms, fit_weights(terms.to_fit(rows.classes, rows.weights, partial=False))

    @cached_property
    def _columns(self) -> list[SlottedColumn]:
        return slotted_columns(self.evidence.schema, self.rows, _telling(*self._alone))

    @cached_property
    def _pairs(self) -> _Scan:
        columns = self._columns
        pairs = look_at([column.size for column in columns], self.C, len(self.evidence.schema.columns))
        return _Scan(self.rows, self.C, columns, pairs)

    @cached_property
    def correlation(self) -> Block | None:
        """The numbers that are normal together, as a product; None if that does not surely help.

        It is one term that no label has chosen, with one fitted weight. So rows left out tell whether it helps: their
        mean log-probability must rise by more than its standard error.
        """
        rows = self.rows
        block = correlation_of(self.evidence.schema, rows, _telling(*self._alone)) if len(rows) > 1 else None
        if block is None:
            return None
        found, own = _Found(self), (np.arange(len(rows)), rows.classes)
        before = found.p[own]
        found.add({(): block})
        gain = kernels.log(np.maximum(found.p[own], _LEAST_P) / np.maximum(before, _LEAST_P))
        mean = np.average(gain, weights=rows.weights)
        error = np.sqrt(np.average((gain - mean) ** 2, weights=rows.weights) / len(gain))
        return block if mean > error else None

    def find(self, *, free: bool = False, correlated: bool = False) -> list[Block]:
        """Return the products that earn a weight.

        Parameters
        ----------
        free : bool
            Whether weights of interactions have no penalty; then triples of columns are looked for as well.
        correlated : bool
            Whether the correlation of numbers may be one of them, beside which pairs are looked for.
        """
        schema = self.evidence.schema
        if not len(self.rows) or len(schema.columns) < 2:
            return []
        found = _Found(self)
        if correlated and self.correlation is not None:
            found.add({(): self.correlation})
        scan, threshold, columns = self._pairs, _FREE_THRESHOLD if free else THRESHOLD, self._columns
        for k in range(_SCANS + free):
            if k == _SCANS:
                scan = _Scan(self.rows, self.C, columns, _triples([p for p in found.chosen if p], columns, self.C))
                threshold = max(threshold, float(np.log(math.comb(len(columns), 3) or 1)))
            new: dict[_Pair, Block] = {}
            taken = [name for block in found.chosen.values() for name in block.columns]
            for pair in scan.strongest(found.p, found.terms.share, threshold):
                if pair not in found.chosen:
                    new[pair] = product(schema, (columns[j].part for j in pair), base=0.0, free=free, taken=taken)
                    taken += new[pair].columns
            if new:
                found.add(new)
        return found.earned


class _Found:
    """The products found so far, the weights of all terms, and the probabilities of the rows under them."""

    def __init__(self, search: PairSearch) -> None:
        self.search = search
        self.terms, self.weights = search._alone
        self.chosen: dict[_Pair, Block] = {}

    def add(self, products: Mapping[_Pair, Block]) -> None:
        """Count products in the sampled rows, and fit all weights again."""
        search, rows = self.search, self.search.rows
        self.chosen |= products
        counted = count_rows(counted_alone(search.evidence.schema, list(products.values())), rows.rows)
        more = search.evidence.select(()).with_products(counted)
        self.terms = self.terms.with_products(ColumnTerms.of(more, search.choices, rows.rows, rows.classes, rows.left))
        self.weights = fit_weights(self._given, alone=search._alone[1])

    @property
    def _given(self) -> Terms:
        return self.terms.to_fit(self.search.rows.classes, self.search.rows.weights, partial=False).all

    @property
    def p(self) -> Floats:  # (n, C)
        """The probabilities of the classes of each row, left out."""
        return self._given.probabilities(self.weights)

    @property
    def earned(self) -> list[Block]:
        """The products whose weight is above 0."""
        weights = self.weights.scale[len(self.search.evidence.schema.columns) :][: len(self.chosen)]
        return [block for block, weight in zip(self.chosen.values(), weights, strict=True) if weight > 0]


def _triples(pairs: Sequence[_Pair], columns: Sequence[SlottedColumn], n_classes: int) -> list[_Pair]:
    """Return the strongest pairs with each other column, as far as their tables fit into memory."""
    found: dict[_Pair, None] = {}
    room = _MOST_CELLS // n_classes
    for pair in pairs[:_MOST_EXTENDED]:
        for k in range(len(columns)):
            triple = tuple(sorted({*pair, k}))
            size = math.prod(columns[j].size for j in triple)
            if len(triple) == 3 and triple not in found and size <= room:
                found[triple] = None
                room -= size
    return list(found)


def look_at(sizes: Sequence[int], n_classes: int, columns: int) -> list[_Pair]:
    """Return the pairs of columns to look at.

    These are all pairs, or those of the first columns if there are many.

    Parameters
    ----------
    sizes : sequence of int
        The number of slots of each column that may be in a pair.
    n_classes : int
        The number of classes.
    columns : int
        The number of all columns.

    Examples
    --------
    >>> look_at([2, 2, 3], 2, 3)
    [(0, 1), (0, 2), (1, 2)]
    """
    kept = len(sizes)
    while kept > 1:
        whole, squares = sum(sizes[:kept]), sum(size**2 for size in sizes[:kept])
        if kept * (kept - 1) // 2 <= _MOST_PAIRS and (whole**2 - squares) // 2 * n_classes <= _MOST_CELLS:
            break
        kept -= 1
    if kept < len(sizes) or len(sizes) == MOST_COLUMNS < columns:
        looked, all_ = kept * (kept - 1) // 2, columns * (columns - 1) // 2
        text = f"structure: looked at {looked:,} of {all_:,} pairs of columns, those of {kept} columns."
        warnings.warn(text, BoundedSearchWarning, stacklevel=2)
    return list(combinations(range(kept), 2))


def _telling(terms: ColumnTerms, fitted: FittedWeights) -> list[str]:
    """Return the columns whose weighted terms differ most between classes, in the order of the model if all fit."""
    if len(terms.columns) <= MOST_COLUMNS:
        return list(terms.evidence.schema.columns)
    spread = fitted.scale**2 * terms.terms.var(axis=1).mean(axis=1)
    return [terms.columns[u] for u in np.argsort(-spread, kind="stable")[:MOST_COLUMNS]]


@dataclass(frozen=True)
class _Tables:
    """Pairs of columns whose tables have one shape, and the interactions of their cells in rows left out."""

    pairs: Sequence[_Pair]
    shape: tuple[int, ...]
    others: Floats  # (pairs · cells, C)
    less: Floats


class _Scan:
    """Score tests of pairs of columns, in rows whose slots are known."""

    def __init__(
        self, rows: SampledRows, n_classes: int, columns: Sequence[SlottedColumn], pairs: Sequence[_Pair]
    ) -> None:
        self.rows, self.n_classes, self.columns = rows, n_classes, columns
        self.tables = [self._count(group, shape) for group, shape in self._groups(pairs)]

    def strongest(self, p: Floats, share: Floats, threshold: float) -> list[_Pair]:
        """Return the pairs whose interaction gains more than the threshold, given probabilities p (n, C)."""
        weight = np.ones(len(self.rows)) if self.rows.weights is None else self.rows.weights
        found: list[tuple[float, _Pair]] = []
        for tables in self.tables:
            sizes = [math.prod(tables.shape)] * len(tables.pairs)
            slope, curve = kernels.score_test(
                self._cells(tables.pairs, tables.shape),
                tables.others,
                tables.less,
                sizes,
                self.rows.classes,
                p,
                weight * share,
                weight * share**2,
            )
            gain = np.where((slope > 0) & (curve > 0), slope**2 / (2 * np.maximum(curve, 1e-300)), 0.0)
            found += [(float(gain[k]), tables.pairs[k]) for k in np.flatnonzero(gain > threshold).tolist()]
        found.sort(key=lambda one: (-one[0], one[1]))
        return [pair for _, pair in found[:_MOST_CANDIDATES]]

    def _groups(self, pairs: Sequence[_Pair]) -> Iterator[tuple[list[_Pair], tuple[int, ...]]]:
        """Yield pairs whose tables have one shape, as many at a time as fit into memory."""
        by_shape: dict[tuple[int, ...], list[_Pair]] = {}
        for pair in pairs:
            by_shape.setdefault(tuple(self.columns[f].size for f in pair), []).append(pair)
        size = max(1, _AT_ONCE // max(1, len(self.rows)))
        for shape, group in by_shape.items():
            for k in range(0, len(group), size):
                yield group[k : k + size], shape

    def _cells(self, pairs: Sequence[_Pair], shape: tuple[int, ...]) -> tuple[npt.NDArray[np.int32], ...]:
        """Return the cell of each row in the table of each pair; −1 where a column is missing."""
        return tuple(self._cell(pair, shape) for pair in pairs)

    def _cell(self, pair: _Pair, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
        cell, missing = np.zeros(len(self.rows), np.int32), np.zeros(len(self.rows), bool)
        for f, size in zip(pair, shape, strict=True):
            codes = self.columns[f].codes
            cell = cell * np.int32(size) + codes
            missing |= codes < 0
        cell[missing] = -1
        return cell

    def _count(self, pairs: Sequence[_Pair], shape: tuple[int, ...]) -> _Tables:
        C, cells = self.n_classes, math.prod(shape)
        columns, sizes = self._cells(pairs, shape), np.full(len(pairs), cells)
        limbs, _ = kernels.count_codes(columns, self.rows.classes, C, sizes, weights=self.rows.weights)
        counts = Exact.from_limbs(limbs).to_float().reshape(C, len(pairs), *shape).swapaxes(0, 1)
        found = interaction_tables(np.ascontiguousarray(counts), len(shape))
        others, less = (
            np.ascontiguousarray(table.reshape(len(pairs), C, cells).swapaxes(1, 2)).reshape(-1, C)
            for table in (found.others, found.less)
        )
        return _Tables(pairs, shape, others, less)
