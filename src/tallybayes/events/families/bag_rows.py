"""Rows of a bag of tokens to leave out, and the counts and tokens that change without each.

Leaving a row out changes the counts of its class (for complement: those outside of every other class). With a pruned
vocabulary it can also change the *view*, the set of tokens that are used: a token that only this row had is gone.

Notation: n rows, V tokens, C classes, w the weight of a row, α the pseudo-count of a token (a number, or one for each
token); an *entry* is a token of a row and the number of its occurrences there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import AddScores, ClassCodes, Weights
from tallybayes.events.inputs import Floats, Sparse
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.exact.sparse import SparsityPattern

__all__ = [
    "Alpha",
    "BagRows",
    "ChangedCells",
    "Entries",
    "LeftOutBag",
    "LogCounts",
    "all_of",
    "alpha_of",
    "leave_bag_out",
    "row_blocks",
]

Alpha = float | Floats
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_MAX_KEPT = 1 << 23  # entries of rows kept for another smoothing, some 60 bytes each
_MAX_CELLS = 1 << 25  # entries times classes of one block of rows: 256 MB for a table with a row for each entry


class LeftOutBag(Protocol):
    """Rows, ready to be scored as if each had never been counted."""

    def scores(self, alpha: Alpha, /) -> Floats:
        """Return the scores (n, C) under a smoothing."""


def row_blocks(bag: Sparse, n_classes: int) -> Iterator[tuple[slice, Sparse]]:
    """Yield slices of rows, and the rows, whose tables fit in memory."""
    per_row = int(bag.indptr[-1] - bag.indptr[0]) * n_classes / max(len(bag), 1)
    size = max(1, int(_MAX_CELLS / max(per_row, 1.0)))
    for start in range(0, len(bag), size):
        rows = slice(start, min(start + size, len(bag)))
        yield rows, bag.rows(rows)


def leave_bag_out(
    bag: Sparse, n_classes: int, classes: ClassCodes, weights: Weights, prepare: Callable[[BagRows], LeftOutBag]
) -> AddScores:
    """Return a function that adds leave-one-out scores to `out` (n, C), under any smoothing.

    Parameters
    ----------
    bag : Sparse, shape (n, V)
        The rows.
    n_classes : int
        C.
    classes, weights
        The class and the weight of each row.
    prepare : callable
        Prepares a block of the rows.
    """
    weight = np.ones(len(bag)) if weights is None else weights

    def blocks() -> Iterator[tuple[slice, LeftOutBag]]:
        for rows, part in row_blocks(bag, n_classes):
            yield rows, prepare(BagRows(part, classes[rows], weight[rows]))

    kept = list(blocks()) if bag.indptr[-1] - bag.indptr[0] <= _MAX_KEPT else None

    def add(options: EstimateOptions, out: Floats) -> None:
        alpha = options.alpha
        same = float(alpha[0]) if len(alpha) and (alpha == alpha[0]).all() else alpha
        for rows, left_out in blocks() if kept is None else kept:
            out[rows] += left_out.scores(same)

    return add


class Entries(NamedTuple):
    """Tokens of rows, and the number of occurrences of each."""

    row: Index
    token: Index
    times: Floats

    def where(self, kept: Mask) -> Entries:
        """Return some of the entries."""
        return self if kept.all() else Entries(self.row[kept], self.token[kept], self.times[kept])


class BagRows:
    """Rows to leave out: the entries in the view without their row, and those that change the view.

    Parameters
    ----------
    bag : Sparse, shape (n, V)
        The rows, each a bag of tokens.
    own : ndarray of int, shape (n,)
        The class of each row.
    weight : ndarray, shape (n,)
        The weight of each row.
    view : ndarray of bool, shape (V,), optional
        The tokens in the view without a row that does not have them; all by default.
    after : ndarray of bool, shape (entries,), optional
        Whether each entry's token is in the view without its row; by default as in `view`.
    """

    def __init__(
        self, bag: Sparse, own: ClassCodes, weight: Floats, view: Mask | None = None, after: Mask | None = None
    ) -> None:
        row, token, times = bag.entries()
        every = Entries(row, token, times.astype(np.float64))
        self.n, self.own, self.weight = len(bag), own, weight
        self.view = np.ones(bag.width, bool) if view is None else view
        if view is None or after is None:
            before = after = np.ones(len(token), bool) if view is None else view[token]
        else:
            before = view[token]
        self.length = self.total(every, after * every.times)
        self.kept, self.changed = every.where(after), every.where(before != after)
        self.sign = after[before != after] * 2.0 - 1.0  # 1 for entries that join the view, −1 for those that leave
        self.before = self.length - self.total(self.changed, self.sign * self.changed.times)
        self.strange = self.total(every, every.times) - self.length  # (n,) tokens outside the view
        self.size = self.view.sum() + self.total(self.changed, self.sign)  # (n,) tokens in the view
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(self.kept.row, minlength=self.n))])
        # Only the tokens of these rows matter: few of a large vocabulary.
        seen = np.bincount(self.kept.token, minlength=bag.width) > 0
        self.used = np.flatnonzero(seen)
        self.place = (np.cumsum(seen, dtype=np.int32) - 1)[self.kept.token]  # of each entry's token among those used

    def total(self, entries: Entries, values: Floats) -> Floats:  # (n,)
        """Return the sum over the entries of each row."""
        return np.asarray(np.bincount(entries.row, values, minlength=self.n), np.float64)

    def total_kept(self, values: Floats, rows: slice) -> Floats:  # (rows,)
        """Return the sum over the entries that are kept of each row of a slice."""
        some = slice(self.starts[rows.start], self.starts[rows.stop])
        sums = np.bincount(self.kept.row[some] - rows.start, values[some], minlength=rows.stop - rows.start)
        return np.asarray(sums, np.float64)

    def weigh(self, entries: Entries) -> Floats:  # (entries,)
        """Return the weight of each entry's row."""
        return self.weight[entries.row]

    def others(self, n_classes: int) -> Mask:  # (n, C)
        """Return a mask of all classes but each row's own."""
        return np.asarray(self.own[:, None] != np.arange(n_classes))

    def mass(self, alpha: Alpha) -> Floats:  # (n, 1)
        """Return the sum of pseudo-counts of the tokens in the view without the row."""
        whole = alpha * self.size if isinstance(alpha, float) else np.full(self.n, alpha[self.view].sum())
        return np.asarray(whole)[:, None]

    def add_products(self, table: Floats, out: Floats, times: Floats | None = None, rows: slice = slice(None)) -> None:
        """Add to each row of a slice the table's rows (used, C) times the occurrences of their tokens, or `times`."""
        starts = self.starts if rows == slice(None) else self.starts[rows.start : rows.stop + 1]
        kernels.score_sparse(starts, self.place, self.kept.times if times is None else times, table, out)

    def lengths(self, worth: Floats | None) -> Floats:  # (n,)
        """Return the length of each row without its own: each token in the view times its weight, if given."""
        return self.length if worth is None else self.total(self.kept, self.times(worth))

    def times(self, worth: Floats | None) -> Floats:  # (entries,)
        """Return the number of occurrences of each entry that is kept, times the weight (V,) of its token."""
        return self.kept.times if worth is None else self.kept.times * worth[self.kept.token]


class ChangedCells:
    """Cells of entries that change the view: one for each entry and class that has its token."""

    def __init__(self, rows: BagRows, places: SparsityPattern) -> None:
        found, self.at = places.of_columns(rows.changed.token)
        self.entry, self.c = found.columns(), found.rows
        row = rows.changed.row[self.entry]
        self.mine = rows.own[row] == self.c
        self.weight, self.times = rows.weight[row], rows.changed.times[self.entry]
        self.sign, self.cell = rows.sign[self.entry], row * places.height + self.c
        self.shape = rows.n, places.height

    def total(self, values: Floats) -> Floats:  # (n, C)
        """Return the signed sum of the cells of each row and class."""
        cells = np.bincount(self.cell, self.sign * values, minlength=self.shape[0] * self.shape[1])
        return np.asarray(cells, np.float64).reshape(self.shape)


class LogCounts:
    """Counts whose logarithms are taken under many smoothings: small whole ones are looked up."""

    def __init__(self, values: Floats, token: npt.NDArray[Any]) -> None:
        self.values, self.token = values, token
        few = len(values) > 0 and values.min() >= 0 and values.max() < len(values)
        whole = values.astype(np.int32) if few else None
        self.which = whole if whole is not None and (whole == values).all() else None
        self.largest = int(values.max()) if self.which is not None else 0

    def logs(self, alpha: Alpha) -> Floats:
        """Return the logarithm of each count plus its token's α."""
        with np.errstate(divide="ignore"):
            if self.which is None or not isinstance(alpha, float):
                return np.asarray(kernels.log(self.values + alpha_of(alpha, self.token)))
            return np.asarray(kernels.log(np.arange(self.largest + 1.0) + alpha)[self.which])


def alpha_of(alpha: Alpha, token: npt.NDArray[Any]) -> Alpha:
    """Return the pseudo-count of each token."""
    return alpha if isinstance(alpha, float) else alpha[token]


def all_of(like: npt.NDArray[Any]) -> tuple[Index]:
    """Return the index of every entry, for `Exact.less`."""
    return (np.arange(len(like)),)
