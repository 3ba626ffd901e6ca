"""Counts of all pairs of columns, per class: exact sums that add and subtract like evidence."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines, kernels
from tallybayes.categories import Categories
from tallybayes.encoding.bins import Slots, code
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadOption, CannotMerge, did_you_mean, wanted
from tallybayes.events.class_totals import class_totals
from tallybayes.events.inputs import Floats
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.evidence.class_sums import ClassSums
from tallybayes.evidence.evidence import class_codes, row_weights
from tallybayes.exact.array import Exact
from tallybayes.schema.schema import Schema

# A gigabyte of counts; twice as much while slices are added.
_MOST_CELLS = 1 << 27
# A product column for each pair of slots. Slots are fixed before counting, so no values need to be aligned.
_SUMS = {"pairs": Sum("column")}


@dataclass(frozen=True, eq=False)
class PairCounts(ClassSums):
    """How often each pair of values of each pair of columns occurs in each class.

    Examples
    --------
    >>> import tallybayes as tb
    >>> xor = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": ["same", "different", "different", "same"]}
    >>> counts = tb.dependence(xor, "y").counts
    >>> counts.classes.values, counts.table("a", "b").tolist()      # both 0 or both 1 in two rows, else different
    (('different', 'same'), [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> (counts + counts) - counts == counts
    True
    """

    columns: tuple[str, ...]  # the F columns
    slots: tuple[Slots, ...]  # the bins or values in which each column is counted
    classes: Categories  # the classes seen, sorted
    rows: Exact  # (C,): the weight of each class
    # its sum "pairs" (C, cells) holds the tables of all pairs end to end: (0, 1), (0, 2), ..., (1, 2), ...
    statistics: tuple[Statistic, ...]

    @classmethod
    def empty(cls, columns: tuple[str, ...], slots: tuple[Slots, ...]) -> PairCounts:
        """Return the counts of no rows: the identity of `+`."""
        sizes = [slot.size for slot in slots]
        cells = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2  # each two columns once, none with itself
        rows = Exact.zeros((0,))
        statistic = Statistic(rows, {"pairs": Exact.zeros((0, cells))}, _SUMS)
        return cls(columns, slots, Categories(pa.nulls(0)), rows, (statistic,))

    def count(self, schema: Schema, batch: pa.RecordBatch, first: int = 0) -> PairCounts:
        """Return the counts of a batch of rows in the same slots."""
        batch_rows = RowBatch(batch, first, schema.missing)
        codes, classes = class_codes(batch_rows, schema.label)
        weights = row_weights(batch_rows, schema.weight)
        C = len(classes)
        self._check_size(C)
        slots = code(schema, self.columns, self.slots, batch_rows)
        pairs = kernels.count_pairs(slots, codes, C, self.sizes, weights=weights)
        rows = class_totals(codes, C, weights)
        statistic = Statistic(rows, {"pairs": Exact.from_limbs(pairs).settle()}, _SUMS)
        return self._replace(classes, rows, (statistic,)).without_empty_classes()

    def count_all(self, schema: Schema, rows: Iterable[pa.RecordBatch], threads: int) -> PairCounts:
        """Return the counts of all rows of a source in the same slots."""
        empty = PairCounts.empty(self.columns, self.slots)

        def work(batch: pa.RecordBatch, first: int) -> PairCounts:
            return empty.count(schema, batch, first)

        return engines.fold(rows, work, operator.add, empty, threads=threads)

    @property
    def counts(self) -> Exact:  # (C, cells)
        """The tables of all pairs, end to end."""
        return self.statistics[0].sums["pairs"]

    @property
    def sizes(self) -> npt.NDArray[np.int64]:  # (F,)
        """The number of slots of each column."""
        return np.array([slot.size for slot in self.slots], np.int64)

    @property
    def pairs(self) -> npt.NDArray[np.intp]:  # (P, 2)
        """The positions of the columns of each pair, in the order of the tables."""
        return np.column_stack(np.triu_indices(len(self.columns), 1))

    def starts(self) -> npt.NDArray[np.int64]:  # (P,)
        """Return the position of the first cell of each table."""
        areas = self.sizes[self.pairs].prod(axis=1)
        return np.asarray(np.cumsum(areas) - areas)

    def table(self, first: str, second: str) -> Floats:  # (C, A, B)
        """Return the counts of one pair by class, first and second slot, without unused slots."""
        f, g = self._position(first), self._position(second)
        low, high = min(f, g), max(f, g)
        at = int(self.starts()[(self.pairs == (low, high)).all(axis=1)][0])
        shape = (len(self.classes), *self.sizes[[low, high]].tolist())
        cells = np.arange(at, at + shape[1] * shape[2])
        table = self.counts.take(cells, axis=1).to_float().reshape(shape)
        table = table[:, table.any(axis=(0, 2))][:, :, table.any(axis=(0, 1))]
        return table if f < g else table.transpose(0, 2, 1)

    def _replace(self, classes: Categories, rows: Exact, statistics: tuple[Statistic, ...]) -> Self:
        return replace(self, classes=classes, rows=rows, statistics=statistics)

    def _is_like(self, other: Self) -> bool:
        return self.columns == other.columns and self.slots == other.slots

    def _conform(self, other: Self) -> Self:
        if self._is_like(other):
            return other
        got = "other columns" if self.columns != other.columns else "other values or bins"
        do = "Learn the rows of one in the other: found.learn(rows)"
        raise CannotMerge(wanted("cannot merge pairs", "the same columns in the same slots", got, do))

    def _position(self, column: str) -> int:
        if column in self.columns:
            return self.columns.index(column)
        do = did_you_mean(column, self.columns)
        raise BadOption(wanted("column", "a column that was counted", repr(column), do))

    def _check_size(self, n_classes: int) -> None:
        cells = n_classes * self.counts.shape[1]
        if cells > _MOST_CELLS:
            got = f"{cells:,} ({len(self.columns)} columns, {n_classes} classes)"
            do = "Name fewer columns (columns=[...]), or choose fewer bins and values"
            raise BadOption(wanted("dependence", f"at most {_MOST_CELLS:,} counts", got, do))
