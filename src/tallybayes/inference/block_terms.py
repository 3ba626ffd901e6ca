"""Left-out terms of the columns of a block: row by row, or by the pair of code and class that rows share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.events.event import ClassCodes, PairTerms
from tallybayes.events.inputs import Floats
from tallybayes.inference.correction_bins import CorrectionBins
from tallybayes.inference.dropped_columns import DroppedColumns
from tallybayes.inference.posterior import refuse_nan
from tallybayes.inference.terms import no_codes

__all__ = ["BlockTerms", "PairedTerms", "RowTerms", "coded_terms", "shifted"]

_LARGEST = 1e4  # a term this far below the largest is as good as impossible; beyond, products lose their digits
# Rows for each pair from which on rows share pairs enough: a fit adds up its tables once for every pair, not row.
_ROWS_PER_PAIR = 32
Codes: TypeAlias = npt.NDArray[np.int32]
Small: TypeAlias = npt.NDArray[np.float32]  # (F, C − 1, n)
Sizes: TypeAlias = npt.NDArray[np.int64]
AddTerms: TypeAlias = Callable[[slice, Floats], None]  # of some rows, to their scores (k, C)


@dataclass(frozen=True)
class RowTerms:
    """The terms of each row.

    Attributes
    ----------
    start : int
        The position of the first column among all columns.
    terms : ndarray, shape (F, C, n)
        The terms, less the largest of each row; 0 where a value is missing.
    bins : ndarray of int32, shape (F, n), or None
        The bin of each row's value; None without corrections.
    """

    start: int
    terms: Floats
    bins: Codes | None

    @property
    def columns(self) -> range:
        """The positions of the columns."""
        return range(self.start, self.start + len(self.terms))

    def dense(self) -> Floats:  # (F, C, n)
        """Return the terms."""
        return self.terms

    @property
    def by_row(self) -> bool:
        """Whether a fit takes the terms of each row."""
        return True

    def to_fit(
        self, rows: slice, dropped: DroppedColumns, first: Sizes, sizes: Sizes, terms: Small
    ) -> kernels.CodedTerms | None:
        """Write the terms of some rows, and of some that keep only some values, less the last class's.

        The corrections of a column are `sizes` many from the number `first` on. Their tables are returned.
        """
        at, some, kept = terms.shape[2] - len(dropped.rows), dropped.rows, dropped.kept[self.columns]
        np.subtract(self.terms[:, :-1, rows], self.terms[:, -1:, rows], out=terms[:, :, :at])
        terms[:, :, at:] = (self.terms[:, :-1, some] - self.terms[:, -1:, some]) * kept[:, None, :]
        if self.bins is None:
            return None
        left = np.where(kept, self.bins[:, some], sizes[:, None] - 1)
        return _tables(np.concatenate([self.bins[:, rows], left], axis=1), first, sizes, self.terms.shape[1])

    def weighted(self, factors: Floats) -> AddTerms:
        """Return what adds the terms of some rows, times a factor for each column."""
        total = kernels.weighted_sum(factors, self.terms)

        def add(rows: slice, out: Floats) -> None:
            out += total[:, rows].T

        return add

    def fitted(self, scale: Floats, table: Floats, first: Sizes) -> AddTerms:
        """Return what adds the terms of some rows, times the scale of each column, and the corrections."""
        weighted = self.weighted(scale)

        def add(rows: slice, out: Floats) -> None:
            weighted(rows, out)
            for at, bins in zip(first.tolist(), () if self.bins is None else self.bins, strict=False):
                out += table[at + bins[rows]]

        return add

    def without_bins(self) -> RowTerms:
        """Return the same without corrections."""
        return replace(self, bins=None)

    def bins_of_rows(self) -> Codes | None:  # (F, n)
        """Return the bin of each row's value."""
        return self.bins


@dataclass(frozen=True)
class PairedTerms:
    """The terms of rows by the pair of code and class: rows of one class with the same value share them.

    Attributes
    ----------
    start : int
        The position of the first column among all columns.
    pairs : ndarray of int32, shape (F, n)
        The pair of each row's value; that of a missing value is the last.
    sizes : ndarray of int64, shape (F,)
        The number of pairs of each column.
    values : ndarray, shape (Σ sizes, C)
        The terms of each pair, less the largest; 0 of a missing value.
    bins : ndarray of int32, shape (Σ sizes,)
        The bin of each pair's value; −1 without corrections.
    """

    start: int
    pairs: Codes
    sizes: npt.NDArray[np.int64]
    values: Floats
    bins: Codes

    @classmethod
    def of(cls, start: int, given: PairTerms, classes: ClassCodes, bins: Sequence[CorrectionBins]) -> PairedTerms:
        """Return the terms of rows of these classes; bins are none, or those of each column."""
        C, codes = len(given.by_pair), np.asarray(given.sizes)
        # Each column has a pair more, at 0.
        values, known = kernels.pair_rows(given.by_pair, codes * C, least=-_LARGEST)
        of_pair = np.full(len(values), -1, np.int32)
        if bins and bins[0].cells is not None:
            missing = np.cumsum(codes * C + 1) - 1
            there = np.ones(len(values), bool)
            there[missing] = False
            of_pair[there] = np.repeat(_bins_of_codes(given, bins), C)
            of_pair[missing] = [one.size - 1 for one in bins]
        pairs = kernels.pair_codes(given.columns, codes, classes, C, low=given.low, last=given.last)
        found = cls(start, pairs, codes * C + 1, values, of_pair)
        if not known:  # perhaps only of pairs that no row has: a fit adds up those, too
            refuse_nan(found.dense())
            values[np.isnan(values)] = 0.0
        return found

    @property
    def columns(self) -> range:
        """The positions of the columns."""
        return range(self.start, self.start + len(self.sizes))

    def dense(self) -> Floats:  # (F, C, n)
        """Return the terms of each row."""
        return kernels.code_terms(tuple(self.pairs), self.values, self.sizes)

    @property
    def by_row(self) -> bool:
        """Whether a fit takes the terms of each row; otherwise it looks them up in tables that rows share."""
        return _ROWS_PER_PAIR * len(self.values) > self.pairs.size

    def to_fit(
        self, rows: slice, dropped: DroppedColumns, first: Sizes, sizes: Sizes, terms: Small
    ) -> kernels.CodedTerms | None:
        """Write the terms of some rows, and of some that keep only some values, less the last class's.

        The corrections of a column are `sizes` many from the number `first` on. Their tables are returned, and where
        rows share terms, the tables of both.
        """
        pairs = np.concatenate([self.pairs[:, rows], self.dropped(dropped)], axis=1)
        if self.by_row:
            places = None if self.bins[-1] < 0 else self.bins
            found = kernels.pair_terms(pairs, self._less_last, self.sizes, places, terms)
            return None if found is None else _tables(found, first, sizes, self.values.shape[1])
        bins = self.bins if self.bins[-1] < 0 else self.bins + np.repeat(first, self.sizes).astype(np.int32)
        return kernels.CodedTerms(pairs, self.sizes, self._less_last, np.array(self.columns, np.int32), bins)

    @cached_property
    def _less_last(self) -> Floats:  # (Σ sizes, C − 1)
        """The terms of each pair, less the last class's."""
        return self.values[:, :-1] - self.values[:, -1:]

    def weighted(self, factors: Floats) -> AddTerms:
        """Return what adds the terms of some rows, times a factor for each column."""
        return self._look_up(self._times(factors))

    def fitted(self, scale: Floats, table: Floats, first: Sizes) -> AddTerms:
        """Return what adds the terms of some rows, times the scale of each column, and the corrections."""
        values = np.repeat(scale, self.sizes)[:, None] * self.values
        if self.bins[-1] >= 0:
            values += np.take(table, np.repeat(first, self.sizes) + self.bins, axis=0)
        return self._look_up(values)

    def _times(self, factors: Floats) -> Floats:
        return self.values if (factors == 1).all() else np.repeat(factors, self.sizes)[:, None] * self.values

    def _look_up(self, values: Floats) -> AddTerms:
        def add(rows: slice, out: Floats) -> None:
            kernels.score_codes(tuple(self.pairs[:, rows]), values, self.sizes, out)

        return add

    def without_bins(self) -> PairedTerms:
        """Return the same without corrections."""
        return replace(self, bins=np.full_like(self.bins, -1))

    def bins_of_rows(self) -> Codes | None:  # (F, n)
        """Return the bin of each row's value; None without corrections."""
        if self.bins[-1] < 0:
            return None
        return kernels.bin_codes(tuple(self.pairs), self.bins, self.sizes, np.full(len(self.sizes), -1, np.int32))

    def add_scores(self, pairs: Codes, factors: Floats, out: Floats) -> None:
        """Add the terms of rows with these pairs (F, n), times a factor for each column, to out (n, C)."""
        kernels.score_codes(tuple(pairs), self._times(factors), self.sizes, out)

    def dropped(self, dropped: DroppedColumns) -> Codes:  # (F, k)
        """Return the pairs of rows that keep only some values."""
        missing = (self.sizes - 1)[:, None].astype(np.int32)
        return np.where(dropped.kept[self.columns], self.pairs[:, dropped.rows], missing)


BlockTerms: TypeAlias = RowTerms | PairedTerms


def coded_terms(parts: Sequence[kernels.CodedTerms | None], n: int, others: int) -> kernels.CodedTerms:
    """Return the tables of all columns, of n rows and as many classes but one."""
    tables = [part for part in parts if part is not None]
    if len(tables) == 1:
        return tables[0]
    return kernels.CodedTerms(*map(np.concatenate, zip(*tables, strict=True))) if tables else no_codes(n, others + 1)


def _tables(bins: Codes, first: Sizes, sizes: Sizes, classes: int) -> kernels.CodedTerms:
    """Return tables of corrections alone."""
    numbers = np.concatenate([np.arange(a, a + size) for a, size in zip(first, sizes, strict=True)]).astype(np.int32)
    none = np.full(len(bins), -1, np.int32)
    return kernels.CodedTerms(
        bins.astype(np.int32, copy=False), sizes, np.zeros((len(numbers), classes - 1)), none, numbers
    )


def _bins_of_codes(given: PairTerms, bins: Sequence[CorrectionBins]) -> Codes:  # (Σ sizes,)
    """Return the bin of each code of each column."""
    sizes = given.sizes.tolist()
    if given.cell_of is None and sizes == [len(one.of_cell) for one in bins]:  # codes are cells
        return np.concatenate([one.of_cell for one in bins])
    cells = given.cell_of if given.cell_of is not None else np.concatenate([np.arange(size) for size in sizes])
    each = np.split(cells, np.cumsum(sizes)[:-1])
    return np.concatenate([one.find(mine) for one, mine in zip(bins, each, strict=True)])


def shifted(term: Floats, out: Floats | None = None) -> Floats:  # (C, n), or (k, C, n)
    """Return terms less the largest of each row, so that differences keep their digits; none is infinite.

    They are those of one column, (n, C), or of some, (k, n, C).
    """
    by_class = np.empty(term.shape[::-1]) if out is None else out
    if not kernels.shift_rows(term, by_class, least=-_LARGEST):
        refuse_nan(np.moveaxis(term, -2, 0))  # rows first
    return by_class
