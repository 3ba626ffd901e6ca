"""Leave-one-out for bags of tokens: each row scored as if it had never been counted.

Taking a row away changes the counts of its class (for complement: those outside of every other class). Where only some
tokens are believed in, as in a pruned vocabulary, it also changes which: tokens that only this row had are gone.

Counts stay sparse: what a class has never seen has one logarithm for all tokens, so that logarithms are taken of the
counts that are not zero, and of each distinct count once.

Notation: n rows, V tokens, C classes, w the weight of a row, α the pseudo-count of a token (a number, or one for each
token); an *entry* is a token of a row and how often it occurs there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import ClassCodes, EstimateOptions, Weights
from tallybayes.events.families.dirichlet import log_share
from tallybayes.events.inputs import Floats, Sparse
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact, SparsityPattern

__all__ = [
    "LEAST_ALPHA",
    "Alpha",
    "BagRows",
    "LeftOutBag",
    "OutsideCounts",
    "OwnCounts",
    "Presence",
    "leave_bag_out",
    "row_blocks",
]

Alpha = float | Floats
Mask = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]

# The least smoothing of complement. Without any, a token that no other class has seen would speak for its class without
# measure, and two such tokens of different classes would contradict each other without measure.
LEAST_ALPHA = 1e-10
_MAX_KEPT = 1 << 23  # entries of rows kept ready for another smoothing, of some 60 bytes each
_MAX_CELLS = 1 << 25  # entries times classes of one block of rows: 256 MB for a table with a row for each entry


class LeftOutBag(Protocol):
    """Rows made ready to be scored as if they had never been counted."""

    def scores(self, alpha: Alpha, /) -> Floats:
        """The scores (n, C) under a smoothing."""


def row_blocks(bag: Sparse, n_classes: int) -> Iterator[tuple[slice, Sparse]]:
    """Yield slices of rows, and the rows, whose tables fit in memory."""
    per_row = int(bag.indptr[-1] - bag.indptr[0]) * n_classes / max(len(bag), 1)
    size = max(1, int(_MAX_CELLS / max(per_row, 1.0)))
    for start in range(0, len(bag), size):
        rows = slice(start, min(start + size, len(bag)))
        yield rows, Sparse(bag.indptr[rows.start : rows.stop + 1], bag.indices, bag.data, bag.width)


def leave_bag_out(
    bag: Sparse, n_classes: int, classes: ClassCodes, weights: Weights, prepare: Callable[[BagRows], LeftOutBag]
) -> Callable[[EstimateOptions, Floats], None]:
    """Return what adds to scores (n, C) those of rows left out, under any smoothing of the columns.

    Parameters
    ----------
    bag : Sparse, shape (n, V)
        The rows.
    n_classes : int
        C.
    classes, weights
        The class and the weight of each row.
    prepare : callable
        Makes some of the rows ready.
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
    """Tokens of rows, and how often each occurs there."""

    row: Index
    token: Index
    times: Floats

    def where(self, kept: Mask) -> Entries:
        """Some of the entries."""
        return self if kept.all() else Entries(self.row[kept], self.token[kept], self.times[kept])


class BagRows:
    """Rows to leave out: the entries that are believed in without their row, and those that change the view.

    Parameters
    ----------
    bag : Sparse, shape (n, V)
        The rows, each a bag of tokens.
    own : ndarray of int, shape (n,)
        The class of each row.
    weight : ndarray, shape (n,)
        The weight of each row.
    view : ndarray of bool, shape (V,), optional
        The tokens believed in, as seen by a row that does not have them; all by default.
    after : ndarray of bool, shape (entries,), optional
        Which entries' tokens are believed in without their row; by default what `view` says.
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
        self.sign = after[before != after] * 2.0 - 1.0  # 1 for what comes into the view, −1 for what falls out
        self.before = self.length - self.total(self.changed, self.sign * self.changed.times)
        self.strange = self.total(every, every.times) - self.length  # (n,) tokens not believed in
        self.size = self.view.sum() + self.total(self.changed, self.sign)  # (n,) tokens believed in
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(self.kept.row, minlength=self.n))])
        # Only the tokens of these rows matter: of a large vocabulary they are few.
        seen = np.bincount(self.kept.token, minlength=bag.width) > 0
        self.used = np.flatnonzero(seen)
        self.place = (np.cumsum(seen, dtype=np.int32) - 1)[self.kept.token]  # of each entry's token among those used

    def total(self, entries: Entries, values: Floats) -> Floats:  # (n,)
        """The sum over the entries of each row."""
        return np.asarray(np.bincount(entries.row, values, minlength=self.n), np.float64)

    def weigh(self, entries: Entries) -> Floats:  # (entries,)
        """The weight of each entry's row."""
        return self.weight[entries.row]

    def mass(self, alpha: Alpha) -> Floats:  # (n, 1)
        """The pseudo-counts of all tokens believed in without the row."""
        whole = alpha * self.size if isinstance(alpha, float) else np.full(self.n, alpha[self.view].sum())
        return np.asarray(whole)[:, None]

    def add_products(self, table: Floats, out: Floats) -> None:
        """Add to each row the table's rows (used, C), as often as their tokens occur."""
        kernels.score_sparse(self.starts, self.place, self.kept.times, table, out)


class _Cells:
    """The classes that have the token of an entry that changes the view: one cell for each entry and class."""

    def __init__(self, rows: BagRows, places: SparsityPattern) -> None:
        found, self.at = places.of_columns(rows.changed.token)
        self.entry, self.c = found.columns(), found.rows
        row = rows.changed.row[self.entry]
        self.mine = rows.own[row] == self.c
        self.weight, self.times = rows.weight[row], rows.changed.times[self.entry]
        self.sign, self.cell = rows.sign[self.entry], row * places.height + self.c
        self.shape = rows.n, places.height

    def total(self, values: Floats) -> Floats:  # (n, C)
        """The signed sum of the cells of each row and class."""
        cells = np.bincount(self.cell, self.sign * values, minlength=self.shape[0] * self.shape[1])
        return np.asarray(cells, np.float64).reshape(self.shape)


class _Taken(NamedTuple):
    """Tokens, and what is taken from their counts: a weight times how often they occur."""

    token: Index
    weight: Floats
    times: Floats


class _Counts:
    """Counts to take the logarithm of under many smoothings: most are small and whole, and looked up."""

    def __init__(self, values: Floats, token: npt.NDArray[Any]) -> None:
        self.values, self.token = values, token
        few = len(values) > 0 and values.min() >= 0 and values.max() < len(values)
        whole = values.astype(np.int32) if few else None
        self.which = whole if whole is not None and (whole == values).all() else None
        self.largest = int(values.max()) if self.which is not None else 0

    def logs(self, alpha: Alpha) -> Floats:
        """The logarithm of each count and its token's α."""
        with np.errstate(divide="ignore"):
            if self.which is None or not isinstance(alpha, float):
                return np.asarray(np.log(self.values + _of(alpha, self.token)))
            return np.asarray(np.log(np.arange(self.largest + 1.0) + alpha)[self.which])


class OwnCounts:
    """Scores by the counts of each class (multinomial), each row's entries gone from its own.

    Parameters
    ----------
    rows : BagRows
        The rows.
    counts : SparseExact, shape (C, V)
        How often each token occurs in each class.
    smooth : bool
        Whether a token that is not believed in is one more token with a count of zero, rather than nothing.
    """

    def __init__(self, rows: BagRows, counts: SparseExact, *, smooth: bool = False) -> None:
        self.rows, self.smooth, C = rows, smooth, counts.shape[0]
        few = counts.columns(rows.used)
        columns = few.places.columns()
        self.at, self.counts = columns.astype(np.intp) * C + few.places.rows, _Counts(few.values.to_float(), columns)
        e = rows.kept
        self.own = _Counts(counts.less((rows.own[e.row], e.token), rows.weigh(e), e.times), e.token)
        totals, cells = counts.columns(np.flatnonzero(rows.view)).sum(axis=1), _Cells(rows, counts.places)
        left = counts.values.take(cells.at).less(_all(cells.at), np.where(cells.mine, cells.weight, 0.0), cells.times)
        self.total = np.tile(totals.to_float(), (rows.n, 1))
        self.total[np.arange(rows.n), rows.own] = totals.less((rows.own,), rows.weight, rows.before)
        self.total += cells.total(left)

    def scores(self, alpha: Alpha) -> Floats:  # (n, C)
        """Σ times · log share."""
        rows, mine = self.rows, (np.arange(self.rows.n), self.rows.own)
        scores = np.zeros_like(self.total)
        rows.add_products(self._logs(alpha), scores)
        scores[mine] = rows.total(rows.kept, _product(rows.kept.times, self.own.logs(alpha)))
        return _shares(rows, scores, self.total, alpha, smooth=self.smooth)

    def _logs(self, alpha: Alpha) -> Floats:  # (used, C)
        """The logarithm of each count and α: one for all counts of zero of a token."""
        shape = len(self.rows.used), self.total.shape[1]
        few = alpha if isinstance(alpha, float) else alpha[self.rows.used]
        with np.errstate(divide="ignore"):
            logs = np.broadcast_to(np.reshape(np.log(few), (-1, 1)), shape).copy()
        logs.reshape(-1)[self.at] = self.counts.logs(few)
        return logs


class OutsideCounts:
    """Scores by the counts outside of each class (complement), each row's entries gone from all but its own.

    Parameters
    ----------
    rows, smooth
        As for `OwnCounts`.
    counts : SparseExact, shape (C, V)
        How often each token occurs in each class.
    """

    def __init__(self, rows: BagRows, counts: SparseExact, *, smooth: bool = False) -> None:
        self.rows, self.smooth, self.C = rows, smooth, counts.shape[0]
        e, whole = rows.kept, counts.sum(axis=0)
        self.whole = whole.take(rows.used)
        self.few = counts.columns(rows.used)
        own = whole.take(e.token) - counts.at(rows.own[e.row], e.token)
        self.own = _Counts(own.to_float(), e.token)
        self.total = self._totals(counts, whole)
        self.pair, self.pairs = self._pairs()
        # What is taken away is mostly 1: then the pairs are hardly more than the tokens, and their counts are kept.
        self.counts = self._left() if len(self.pairs.token) <= 2 * len(rows.used) else None

    def scores(self, alpha: Alpha) -> Floats:  # (n, C)
        """Minus Σ times · log share among all other classes."""
        alpha = max(alpha, LEAST_ALPHA) if isinstance(alpha, float) else np.maximum(alpha, LEAST_ALPHA)
        rows, mine = self.rows, (np.arange(self.rows.n), self.rows.own)
        base, counts, at = self._left() if self.counts is None else self.counts
        few = alpha if isinstance(alpha, float) else alpha[rows.used]
        logs = np.repeat(base.logs(few), self.C)
        logs[at] = counts.logs(few)
        scores = np.zeros_like(self.total)
        kernels.score_sparse(rows.starts, self.pair, rows.kept.times, logs.reshape(-1, self.C), scores)
        scores[mine] = rows.total(rows.kept, _product(rows.kept.times, self.own.logs(alpha)))
        return -_shares(rows, scores, self.total, alpha, smooth=self.smooth)

    def _totals(self, counts: SparseExact, whole: Exact) -> Floats:  # (n, C)
        """How often any token that is believed in occurs outside of each class, without the row."""
        rows, x, C = self.rows, self.rows.changed, self.C
        totals = counts.columns(np.flatnonzero(rows.view)).sum(axis=1).others()
        other = _others(rows, C)
        taken = (np.where(other, part[:, None], 0.0).reshape(-1) for part in (rows.weight, rows.before))
        total = totals.less((np.tile(np.arange(C), rows.n),), *taken).reshape(rows.n, C)
        left, cells = whole.less((x.token,), rows.weigh(x), x.times), _Cells(rows, counts.places)
        outside = whole.take(x.token[cells.entry]) - counts.values.take(cells.at)
        there = outside.less(_all(cells.at), np.where(cells.mine, 0.0, cells.weight), cells.times)
        return np.asarray(total + rows.total(x, rows.sign * left)[:, None] + cells.total(there - left[cells.entry]))

    def _pairs(self) -> tuple[npt.NDArray[np.int32], _Taken]:
        """Which of the distinct pairs of a token and what is taken from it each entry is, and these."""
        rows, e = self.rows, self.rows.kept
        weight = rows.weigh(e)
        usual = float(rows.weight[0]) if rows.n else 1.0
        rest = np.flatnonzero((weight != usual) | (e.times != 1.0))
        weights, by_weight = np.unique(weight[rest], return_inverse=True)
        amounts, by_times = np.unique(e.times[rest], return_inverse=True)
        keys = (rows.place[rest].astype(np.int64) * len(weights) + by_weight) * len(amounts) + by_times
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        pair, n_used = rows.place.copy(), len(rows.used)
        pair[rest] = n_used + which
        first, every = rest[first], np.ones(n_used)
        pairs = _Taken(
            np.concatenate([np.arange(n_used), rows.place[first]]),
            np.concatenate([usual * every, weight[first]]),
            np.concatenate([every, e.times[first]]),
        )
        return pair, pairs

    def _left(self) -> tuple[_Counts, _Counts, Index]:
        """What is left of each pair outside of a class that lacks it, outside of those that do not, and their cells."""
        token, weight, times = self.pairs
        places, at = self.few.places.of_columns(token)
        pair = places.columns()
        base = self.whole.less((token,), weight, times)
        outside = self.whole.take(token[pair]) - self.few.values.take(at)
        left = outside.less(_all(at), weight[pair], times[pair])
        cells = pair.astype(np.intp) * self.C + places.rows
        # Below 0 is only what no row asks for: the own class, and pairs that no entry is.
        return _Counts(np.maximum(base, 0.0), token), _Counts(np.maximum(left, 0.0), token[pair]), cells


class Presence:
    """Scores by which tokens are there and which are not (bernoulli), each row gone from its class.

    Parameters
    ----------
    rows : BagRows
        The rows, each token once.
    ones : SparseExact, shape (C, V)
        The weight of the rows that have each token.
    present : Exact, shape (C,) or (C, V)
        The weight of all rows, or of those in which each token is not missing; (C,) where the view changes.
    """

    def __init__(self, rows: BagRows, ones: SparseExact, present: Exact) -> None:
        self.rows, self.present, (self.C, self.V) = rows, present, ones.shape
        self.per_token = len(present.shape) > 1
        self.c, self.token = ones.places.rows, ones.places.columns()
        self.zeros = self._present_at(self.c, self.token) - ones.values  # where ones are; elsewhere it is `present`
        self.n = np.broadcast_to(present.to_float().reshape(self.C, -1), ones.shape)
        places, at = ones.places.of_columns(rows.used)
        columns = places.columns()
        self.at = columns.astype(np.intp) * self.C + places.rows
        n = self.n[places.rows, rows.used[columns]]
        self.there = _Change(ones.values.take(at).to_float(), self.zeros.take(at).to_float(), n, columns)
        e = rows.kept
        self.own = self._own_change(ones, rows.own[e.row], e.token, rows.weigh(e))
        self.cells = x = _Cells(rows, ones.places)
        taken = np.where(x.mine, x.weight, 0.0)
        self.cell_zeros = np.maximum(self.zeros.take(x.at).less(_all(x.at), taken), 0.0)
        self.cell_n = np.maximum(present.less((x.c,), taken) if len(x.at) else taken, 0.0)
        order = np.argsort(self.c, kind="stable")
        order = order[rows.view[self.token[order]]]
        self.of_class = np.split(order, np.cumsum(np.bincount(self.c[order], minlength=self.C))[:-1])
        groups = np.unique(np.stack([rows.own, rows.weight], axis=1), axis=0, return_inverse=True)
        self.groups, self.group = groups[0], groups[1].reshape(-1)
        self.counted = lru_cache(4 * self.C)(self._count_absent)

    def _own_change(self, ones: SparseExact, own: ClassCodes, token: Index, weight: Floats) -> _Change:
        """What each entry adds to its own class without the row."""
        n = self.present.less((own, token) if self.per_token else (own,), weight)
        found = ones.places.find(own, token)
        there = (np.maximum(found, 0),)  # a row without weight may have what was never counted
        zeros = np.where(found >= 0, self.zeros.less(there, weight), n)
        having = np.where(found >= 0, ones.values.less(there, weight), 0.0)
        return _Change(np.maximum(having, 0.0), np.maximum(zeros, 0.0), np.maximum(n, 0.0), token)

    def scores(self, alpha: Alpha) -> Floats:  # (n, C)
        """Every token's log-probability of being there or not."""
        rows, mine = self.rows, (np.arange(self.rows.n), self.rows.own)
        few = alpha if isinstance(alpha, float) else alpha[rows.used]
        absent, never = self._absent([(c, 0.0) for c in range(self.C)], alpha)
        own_absent, own_never = (part[self.group] for part in self._absent(self.groups, alpha))
        scores = np.tile(absent, (rows.n, 1))
        rows.add_products(self._changes(few), scores)
        scores[mine] = own_absent + rows.total(rows.kept, self.own.logs(alpha))
        changed_absent, changed_never = self._changed(alpha)
        scores += changed_absent
        if np.all(np.asarray(alpha) > 0):
            return scores
        # Without smoothing a row that lacks what every row of a class has is impossible.
        impossible = np.tile(never, (rows.n, 1))
        table = np.zeros((len(rows.used), self.C))
        table.reshape(-1)[self.at] = -self.there.never(few)
        rows.add_products(table, impossible)
        impossible[mine] = own_never - rows.total(rows.kept, self.own.never(alpha))
        return np.where(impossible + changed_never > 0, -np.inf, scores)

    def _present_at(self, c: npt.NDArray[Any], token: npt.NDArray[Any]) -> Exact:
        """The weight of a class's rows in which a token is not missing."""
        if not self.per_token:
            return self.present.take(c)
        return self.present.reshape((self.C * self.V,)).take(c.astype(np.intp) * self.V + token)

    def _changes(self, alpha: Alpha) -> Floats:  # (used, C)
        """What a token adds by being there instead of not."""
        n = self.n[:, self.rows.used].T if self.per_token else self.n[:, :1].T
        each = alpha if isinstance(alpha, float) else alpha[:, None]
        table = np.empty((len(self.rows.used), self.C))
        with np.errstate(invalid="ignore"):  # of all tokens that a class has never seen it is the same
            table[:] = log_share(0.0, n, each, 2.0) - log_share(n, n, each, 2.0)
        table.reshape(-1)[self.at] = self.there.logs(alpha)
        return table

    def _absent(self, groups: Iterable[tuple[int, float]], alpha: Alpha) -> Floats:  # (2, groups)
        """The log-probability that a row of each class and weight has no token; how many it cannot lack."""
        return np.array([self._absent_of(int(c), weight, alpha) for c, weight in groups]).reshape(-1, 2).T

    def _absent_of(self, c: int, weight: float, alpha: Alpha) -> tuple[float, float]:
        if isinstance(alpha, float) and not self.per_token:
            left, zeros, times = self.counted(c, weight)
        else:
            left, zeros = self._absent_tokens(c, weight)
            times = self.rows.view.astype(np.float64)
        logs, never = _log_absent(zeros, left, alpha)
        return float(times @ logs), float(times @ never)

    def _count_absent(self, c: int, weight: float) -> tuple[Floats, Floats, Floats]:
        """The weight of a class's rows without one; the distinct weights that lack a token, and how often each is."""
        at, w = self.of_class[c], np.full(1, weight)
        left = np.maximum(self.present.less((np.array([c]),), w), 0.0)
        zeros = np.maximum(self.zeros.take(at).less(_all(at), np.repeat(w, len(at))), 0.0)
        numbers, times = np.unique(zeros, return_counts=True)
        return left, np.append(numbers, left), np.append(times, self.rows.view.sum() - len(at)).astype(np.float64)

    def _absent_tokens(self, c: int, weight: float) -> tuple[Floats, Floats]:  # (V,)
        """The weight of a class's rows without one, and of those of them that lack each token."""
        every, at = np.arange(self.V), self.of_class[c]
        left = self._present_at(np.full(self.V, c), every).less(_all(every), np.full(self.V, weight))
        zeros = left.copy()
        zeros[self.token[at]] = self.zeros.take(at).less(_all(at), np.full(len(at), weight))
        return np.maximum(left, 0.0), np.maximum(zeros, 0.0)

    def _changed(self, alpha: Alpha) -> Floats:  # (2, n, C)
        """What has to be added for tokens that fall out of the view or come into it."""
        rows, cells = self.rows, self.cells
        if not len(cells.at):
            return np.zeros((2, rows.n, self.C))
        everywhere, _ = _log_absent(self.n[:, 0], self.n[:, 0], alpha)
        logs, never = _log_absent(self.cell_zeros, self.cell_n, alpha)
        change = rows.total(rows.changed, rows.sign)[:, None] * np.where(_others(rows, self.C), everywhere, 0.0)
        change += cells.total(logs - np.where(cells.mine, 0.0, everywhere[cells.c]))
        return np.stack([change, cells.total(never)])


class _Change:
    """What tokens add by being there instead of not, by how many rows have each and how many do not."""

    def __init__(self, ones: Floats, zeros: Floats, n: Floats, token: npt.NDArray[Any]) -> None:
        self.ones, self.zeros, self.n = _Counts(ones, token), _Counts(zeros, token), n

    def logs(self, alpha: Alpha) -> Floats:
        """The difference of the log-probabilities, that of what cannot be absent being 0."""
        there, absent = self.ones.logs(alpha), self.zeros.logs(alpha)
        if np.all(np.asarray(alpha) > 0):
            return np.asarray(there - absent)
        whole = self.n + 2 * _of(alpha, self.ones.token)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(whole > 0, there - np.where(np.isneginf(absent), np.log(whole), absent), 0.0)

    def never(self, alpha: Alpha) -> Floats:
        """Where a token cannot be absent."""
        return np.asarray((self.zeros.values + _of(alpha, self.zeros.token) == 0) & (self.n > 0), np.float64)


def _log_absent(zeros: Floats, n: Floats, alpha: Alpha) -> tuple[Floats, Floats]:
    """The log-probability that tokens are absent, 0 where they cannot be; and where that is."""
    logs = log_share(zeros, n, alpha, 2.0)
    never = np.isneginf(logs)
    return np.where(never, 0.0, logs), never.astype(np.float64)


def _shares(rows: BagRows, logs: Floats, total: Floats, alpha: Alpha, *, smooth: bool) -> Floats:  # (n, C)
    """Σ times · log share from Σ times · log(count + α) and the totals; strange tokens too where that is asked."""
    whole, length = total + rows.mass(alpha), rows.length[:, None]
    size = np.maximum(rows.size, 1)[:, None]
    log_whole = np.log(whole, out=np.zeros_like(whole), where=whole > 0)
    scores = np.where(whole > 0, logs - length * log_whole, -length * np.log(size))  # nothing counted: all are alike
    if smooth:
        unseen = log_share(0.0, total, alpha, rows.size[:, None] + 1)
        scores += _product(np.broadcast_to(rows.strange[:, None], scores.shape), unseen)
    return scores


def _product(times: Floats, log: Floats) -> Floats:
    """times · log, taking 0 · −∞ as 0: an impossible token that does not occur says nothing."""
    return np.asarray(np.multiply(times, log, out=np.zeros_like(log), where=times > 0))


def _others(rows: BagRows, n_classes: int) -> Mask:  # (n, C)
    """All classes but each row's own."""
    return np.asarray(rows.own[:, None] != np.arange(n_classes))


def _of(alpha: Alpha, token: npt.NDArray[Any]) -> Alpha:
    return alpha if isinstance(alpha, float) else alpha[token]


def _all(like: npt.NDArray[Any]) -> tuple[Index]:
    """The index of every entry, for `Exact.less`."""
    return (np.arange(len(like)),)
