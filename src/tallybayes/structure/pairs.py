"""Every two columns counted together, per class: evidence of a second kind, which adds and subtracts as all does."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines, kernels
from tallybayes.categories import Categories
from tallybayes.encoding.bins import Slots, code
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadOption, CannotMerge, did_you_mean, wanted
from tallybayes.events.statistic import NEVER_THERE
from tallybayes.evidence.evidence import class_codes, row_weights
from tallybayes.exact.array import Exact
from tallybayes.schema.schema import Schema

__all__ = ["PairCounts"]

# A gigabyte of counts; twice as much while slices are added.
_MOST_CELLS = 1 << 27


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How often each two values of each two columns occur together in each class.

    Attributes
    ----------
    columns : tuple of str
        The columns, F of them.
    slots : tuple of Slots
        What each column is counted as.
    classes : Categories
        The classes seen, sorted.
    rows : Exact, shape (C,)
        The weight of each class.
    counts : Exact, shape (C, cells)
        The tables of all pairs laid end to end: (0, 1), (0, 2), ..., (1, 2), ...

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

    columns: tuple[str, ...]
    slots: tuple[Slots, ...]
    classes: Categories
    rows: Exact
    counts: Exact

    @classmethod
    def empty(cls, columns: tuple[str, ...], slots: tuple[Slots, ...]) -> PairCounts:
        """The counts of no rows: the identity of `+`."""
        sizes = [slot.size for slot in slots]
        cells = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2  # each two columns once, none with itself
        return cls(columns, slots, Categories(pa.nulls(0)), Exact.zeros((0,)), Exact.zeros((0, cells)))

    def count(self, schema: Schema, batch: pa.RecordBatch, first: int = 0) -> PairCounts:
        """The counts of a batch of rows in the same slots."""
        rows = RowBatch(batch, first, schema.missing)
        classes, labels = class_codes(rows, schema.label)
        weights = row_weights(rows, schema.weight)
        C = len(labels)
        self._check_size(C)
        codes = code(schema, self.columns, self.slots, rows)
        total, _ = kernels.count_codes((np.zeros(len(rows), np.int8),), classes, C, [1], weights=weights)
        counts = kernels.count_pairs(codes, classes, C, self.sizes, weights=weights)
        made = replace(self, classes=labels, rows=Exact.from_limbs(total).reshape((C,)))
        return replace(made, counts=Exact.from_limbs(counts).settle())._without_empty_classes()

    def count_all(self, schema: Schema, rows: Iterable[pa.RecordBatch], threads: int) -> PairCounts:
        """The counts of all rows of a source in the same slots, whatever these hold."""
        empty = PairCounts.empty(self.columns, self.slots)

        def work(batch: pa.RecordBatch, first: int) -> PairCounts:
            return empty.count(schema, batch, first)

        return engines.fold(rows, work, operator.add, empty, threads=threads)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:  # (F,)
        """How many slots each column has."""
        return np.array([slot.size for slot in self.slots], np.int64)

    @property
    def pairs(self) -> npt.NDArray[np.intp]:  # (P, 2)
        """The places of the columns of each pair, in the order of the tables."""
        return np.column_stack(np.triu_indices(len(self.columns), 1))

    def starts(self) -> npt.NDArray[np.int64]:  # (P,)
        """Where the table of each pair begins."""
        areas = self.sizes[self.pairs].prod(axis=1)
        return np.asarray(np.cumsum(areas) - areas)

    def table(self, first: str, second: str) -> npt.NDArray[np.float64]:  # (C, A, B)
        """The counts of one pair: a class, a slot of the first column, a slot of the second; unused slots left out."""
        f, g = self._place(first), self._place(second)
        low, high = min(f, g), max(f, g)
        at = int(self.starts()[(self.pairs == (low, high)).all(axis=1)][0])
        shape = (len(self.classes), *self.sizes[[low, high]].tolist())
        cells = np.arange(at, at + shape[1] * shape[2])
        table = self.counts.take(cells, axis=1).to_float().reshape(shape)
        table = table[:, table.any(axis=(0, 2))][:, :, table.any(axis=(0, 1))]
        return table if f < g else table.transpose(0, 2, 1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairCounts):
            return NotImplemented
        alike = self._alike(other) and self.classes == other.classes
        return alike and self.rows == other.rows and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: PairCounts) -> PairCounts:
        left, right = self._align(other)
        return replace(left, rows=left.rows + right.rows, counts=left.counts + right.counts)

    def __sub__(self, other: PairCounts) -> PairCounts:
        left, right = self._align(other)
        made = replace(left, rows=left.rows - right.rows, counts=left.counts - right.counts)
        if made.rows.negative().any() or made.counts.negative().any():
            raise CannotMerge(NEVER_THERE)
        return made._without_empty_classes()

    def _alike(self, other: PairCounts) -> bool:
        return self.columns == other.columns and self.slots == other.slots

    def _align(self, other: PairCounts) -> tuple[PairCounts, PairCounts]:
        """Both with the same classes."""
        if not self._alike(other):
            do = "Learn the rows of one in the other: found.learn(rows)"
            got = "other columns" if self.columns != other.columns else "other values or bins"
            raise CannotMerge(wanted("cannot merge pairs", "the same columns in the same slots", got, do))
        if self.classes == other.classes:
            return self, other
        classes, mine, theirs = self.classes.join(other.classes)
        return self._with_classes(classes, mine), other._with_classes(classes, theirs)

    def _with_classes(self, classes: Categories, at: npt.NDArray[np.intp]) -> PairCounts:
        rows, counts = self.rows.spread(at, len(classes)), self.counts.spread(at, len(classes))
        return replace(self, classes=classes, rows=rows, counts=counts)

    def _without_empty_classes(self) -> PairCounts:
        some = self.rows.nonzero()
        if some.all():
            return self
        if self.counts.take(~some).nonzero().any():
            raise CannotMerge(NEVER_THERE)
        return replace(self, classes=self.classes.take(some), rows=self.rows.take(some), counts=self.counts.take(some))

    def _place(self, column: str) -> int:
        if column not in self.columns:
            raise BadOption(
                wanted("column", "a column that was counted", repr(column), did_you_mean(column, self.columns))
            )
        return self.columns.index(column)

    def _check_size(self, n_classes: int) -> None:
        cells = n_classes * self.counts.shape[1]
        if cells > _MOST_CELLS:
            got = f"{cells:,} ({len(self.columns)} columns, {n_classes} classes)"
            do = "Name fewer columns (columns=[...]), or choose fewer bins and values"
            raise BadOption(wanted("dependence", f"at most {_MOST_CELLS:,} counts", got, do))
