"""Choose pairs of columns whose interaction makes rows left out more probable.

The score test of a pair asks what a small weight of its interaction I would gain, given the probabilities P so far:
with g = Σ (Y − P)·I its slope and h = Σ Var_P(I) its curvature, about g²/2h nats. Pairs above a threshold are fitted
together; those that keep a weight above 0 are chosen. Everything is measured on a sample of the rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.errors import BoundedSearchWarning
from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import interaction_tables
from tallybayes.evidence.evidence import Evidence, count_rows
from tallybayes.exact.array import Exact
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms, rows_to_weigh
from tallybayes.inference.fit_weights import THRESHOLD, FittedWeights, fit_weights, probabilities
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.schema.schema import Block
from tallybayes.structure.products import SlottedColumn, counted_alone, product, slotted_columns

__all__ = ["MOST_COLUMNS", "choose_pairs", "look_at"]

MOST_COLUMNS = 200  # whose pairs are looked at
_MOST_PAIRS = MOST_COLUMNS * (MOST_COLUMNS - 1) // 2  # 19,900: a second or two
_MOST_CELLS = 1 << 22  # of all tables and classes (32 MB)
_MOST_CANDIDATES = 200  # fitted together: the strongest
_MOST_EXTENDED = 15  # pairs, the strongest, that a third column is added to
_SCANS = 2  # a second look, given the pairs of the first, finds those that they hid
_AT_ONCE = 1 << 22  # cells of rows and pairs (16 MB) that are scanned together

_Pair: TypeAlias = tuple[int, ...]  # of columns; or three of them


def choose_pairs(evidence: Evidence, choices: Choices, sample: SampledRows, *, free: bool = False) -> list[Block]:
    """Return the pairs of columns that improve the probabilities of sampled rows, as products.

    Parameters
    ----------
    evidence : Evidence
        The evidence of all rows.
    choices : Choices
        How the columns are estimated; every smoothing is a number.
    sample : SampledRows
        Some of the rows.
    free : bool
        Whether weights of interactions have no penalty; then triples of columns are looked for as well.
    """
    schema, C = evidence.schema, len(evidence.classes)
    rows = sample.with_others(evidence, rows_to_weigh(len(schema.columns) + _MOST_CANDIDATES // 2, C))
    if not len(rows) or len(schema.columns) < 2:
        return []
    terms = ColumnTerms.of(evidence, choices, rows.rows, rows.classes, rows.left)
    given = terms.to_fit(rows.classes, rows.weights, partial=False)
    alone = weights = fit_weights(given)
    p = probabilities(given, alone)
    columns = slotted_columns(schema, rows, _telling(terms, alone))
    scan = _Scan(rows, C, columns, look_at([column.size for column in columns], C, len(schema.columns)))
    chosen: dict[_Pair, Block] = {}
    threshold = THRESHOLD
    for k in range(_SCANS + free):
        if k == _SCANS:
            scan = _Scan(rows, C, columns, _triples(list(chosen), columns, C))
            threshold = max(THRESHOLD, float(np.log(math.comb(len(columns), 3) or 1)))
        found = [pair for pair in scan.strongest(p, terms.share, threshold) if pair not in chosen]
        if not found:
            continue
        taken = [name for block in chosen.values() for name in block.columns]
        for pair in found:
            chosen[pair] = product(schema, (columns[k].part for k in pair), base=0.0, free=free, taken=taken)
            taken += chosen[pair].columns
        counted = count_rows(counted_alone(schema, [chosen[pair] for pair in found]), rows.rows)
        more = evidence.select(()).with_products(counted)
        terms = terms.with_products(ColumnTerms.of(more, choices, rows.rows, rows.classes, rows.left))
        given = terms.to_fit(rows.classes, rows.weights, partial=False)
        weights = fit_weights(given, alone=alone)
        p = probabilities(given, weights)
    earned = weights.scale[len(schema.columns) :][: len(chosen)] > 0
    return [block for block, kept in zip(chosen.values(), earned, strict=True) if kept]


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
    """Return the pairs of columns to look at: all of them, or those of the first columns if there are many.

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
