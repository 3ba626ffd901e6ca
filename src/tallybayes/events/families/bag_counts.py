"""Leave-one-out scores by counts of tokens: those of each class (multinomial), or of all others (complement).

Counts stay sparse: all tokens that a class has never seen share one logarithm. Other logarithms are taken of counts
that are not zero, and of each distinct count once. Notation as in `bag_rows`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import AddSlice, ClassCodes, OverSlices
from tallybayes.events.families.bag_rows import Alpha, BagRows, ChangedCells, LogCounts, all_of
from tallybayes.events.families.dirichlet import LEAST_ALPHA, log_share
from tallybayes.events.inputs import Floats, Sparse
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact

__all__ = ["OutsideCounts", "OwnCounts", "WholeCounts", "bag_lengths"]

Index = npt.NDArray[np.intp]

_LOOKED_UP = 1 << 16  # counts whose logarithms are taken beforehand: half a megabyte, of which most tokens need little


_TOKENS = 1 << 13  # tokens that a thread looks up at a time: under twenty classes a megabyte


class _Taken(NamedTuple):
    """Tokens, and the amount taken from their counts: a weight times the number of occurrences."""

    token: Index
    weight: Floats
    times: Floats


class OwnCounts:
    """Scores by the counts of each class (multinomial), without the row in its own class.

    Parameters
    ----------
    rows : BagRows
        The rows.
    counts : SparseExact, shape (C, V)
        How often each token occurs in each class.
    smooth : bool
        Whether a token outside the vocabulary is one more token with a count of zero, rather than nothing.
    """

    def __init__(self, rows: BagRows, counts: SparseExact, *, smooth: bool = False) -> None:
        self.rows, self.smooth, C = rows, smooth, counts.shape[0]
        few = counts.columns(rows.used)
        columns = few.places.columns()
        self.at, self.counts = columns.astype(np.intp) * C + few.places.rows, LogCounts(few.values.to_float(), columns)
        e = rows.kept
        self.own = LogCounts(counts.less((rows.own[e.row], e.token), rows.weigh(e), e.times), e.token)
        totals, cells = counts.columns(np.flatnonzero(rows.view)).sum(axis=1), ChangedCells(rows, counts.places)
        left = counts.values.take(cells.at).less(all_of(cells.at), np.where(cells.mine, cells.weight, 0.0), cells.times)
        self.total = np.tile(totals.to_float(), (rows.n, 1))
        self.total[np.arange(rows.n), rows.own] = totals.less((rows.own,), rows.weight, rows.before)
        self.total += cells.total(left)

    def scores(self, alpha: Alpha, worth: Floats | None = None) -> Floats:  # (n, C)
        """Return Σ times · log share; each token times its weight `worth` (V,), if given."""
        return self.under(alpha, worth)(slice(0, self.rows.n))

    def under(self, alpha: Alpha, worth: Floats | None = None) -> Callable[[slice], Floats]:
        """Return a function from a slice of rows to their scores: all slices share one table."""
        rows, times, table = self.rows, self.rows.times(worth), self._logs(alpha)
        own, lengths = _product(times, self.own.logs(alpha)), rows.lengths(worth)

        def scores(some: slice) -> Floats:
            found = np.zeros((some.stop - some.start, self.total.shape[1]))
            rows.add_products(table, found, times, some)
            found[np.arange(len(found)), rows.own[some]] = rows.total_kept(own, some)
            return _shares(rows, found, self.total[some], alpha, lengths, some, smooth=self.smooth)

        return scores

    def _logs(self, alpha: Alpha) -> Floats:  # (used, C)
        """Return the logarithm of each count plus α; a token's counts of zero share one."""
        shape = len(self.rows.used), self.total.shape[1]
        few = alpha if isinstance(alpha, float) else alpha[self.rows.used]
        with np.errstate(divide="ignore"):
            logs = np.broadcast_to(np.reshape(kernels.log(few), (-1, 1)), shape).copy()
        logs.reshape(-1)[self.at] = self.counts.logs(few)
        return logs


class WholeCounts:
    """Scores by whole counts of each class (multinomial), without rows of weight 1.

    As `OwnCounts`, compiled: subtracting doubles from sums that are doubles themselves rounds once, and each class but
    the row's own is scored as ever.

    Parameters
    ----------
    bag : Sparse, shape (n, V)
        The rows.
    own : ndarray of int32, shape (n,)
        The class of each row.
    counts : Exact, shape (C, V)
        How often each token occurs in each class: whole numbers.
    """

    def __init__(self, bag: Sparse, own: ClassCodes, counts: Exact) -> None:
        self.bag, self.own, self.totals = bag, own, counts.sum(axis=1).to_float()  # totals: (C,)
        self.counts = np.ascontiguousarray(counts.limbs[..., 0])  # a copy only of zeros, which take no memory
        self._lengths = np.full(len(bag), np.nan)  # (n,) as they become known while rows are scored

    @property
    def lengths(self) -> Floats:  # (n,)
        """The number of occurrences of all tokens in each row."""
        if np.isnan(self._lengths).any():
            self._lengths = bag_lengths(self.bag)
        return self._lengths

    def add(self, options: EstimateOptions, out: Floats) -> None:
        """Add Σ times · log share to `out` (n, C)."""
        self.under(options, lambda n, work, _: work(slice(0, n)))(slice(0, len(self.bag)), out)

    def under(self, options: EstimateOptions, over: OverSlices) -> AddSlice:
        """Return a function that adds the scores of a slice of rows to `out`: all slices share one table."""
        alpha, lengths = options.alpha, self._lengths
        mass = float(alpha.sum())
        table = self._logs(alpha, over)
        table[:, np.flatnonzero(self.totals + mass <= 0)] = 0.0

        def add(rows: slice, out: Floats) -> None:
            bag, own, length = self.bag.rows(rows), self.own[rows], lengths[rows]
            mine = np.arange(len(bag)), own
            before = out[mine]
            kernels.score_sparse(*bag.parts(), table, out, length)
            out -= length[:, None] * self._log_whole(self.totals + mass)
            left, whole = np.zeros(len(bag)), self.totals[own] - length + mass
            kernels.leave_sparse(*bag.parts(), own, self.counts, alpha, left)
            out[mine] = before + np.where(whole > 0, left, 0.0) - length * self._log_whole(whole)

        return add

    def _logs(self, alpha: Floats, over: OverSlices) -> Floats:  # (V, C)
        """Return the logarithm of each count plus α: of each distinct count once, where all tokens have one α."""
        table = kernels.empty_table(*self.counts.shape[::-1])
        one = alpha[:1] if (alpha == alpha[:1]).all() else alpha[:0]
        with np.errstate(divide="ignore"):
            logs = np.log(np.arange(_LOOKED_UP if len(one) else 0) + one)

        def look_up(tokens: slice) -> None:
            part = table[tokens]
            if kernels.look_up_counts(self.counts, logs, part, tokens.start):
                token, c = np.nonzero(np.isnan(part))
                with np.errstate(divide="ignore"):
                    part[token, c] = np.log(self.counts[c, tokens.start + token] + alpha[tokens.start + token])

        over(len(table), look_up, _TOKENS)
        return table

    def _log_whole(self, whole: Floats) -> Floats:
        """Return the logarithm of totals; without counts and α all tokens have equal shares."""
        return np.asarray(np.log(np.where(whole > 0, whole, max(self.bag.width, 1.0))))


def bag_lengths(bag: Sparse) -> Floats:  # (n,)
    """Return the number of occurrences of all tokens in each row."""
    lengths = np.empty(len(bag))
    kernels.score_sparse(*bag.parts(), np.empty((bag.width, 0)), np.empty((len(bag), 0)), lengths)
    return lengths


class OutsideCounts:
    """Scores by the counts outside of each class (complement), without the row in all classes but its own.

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
        self.own = LogCounts(own.to_float(), e.token)
        self.total = self._totals(counts, whole)
        self.pair, self.pairs = self._pairs()
        # The amount taken is mostly 1: then there are hardly more pairs than tokens, and their counts are kept.
        self.counts = self._left() if len(self.pairs.token) <= 2 * len(rows.used) else None

    def scores(self, alpha: Alpha, worth: Floats | None = None) -> Floats:  # (n, C)
        """Return minus Σ times · log share among all other classes; each token times its weight, if given."""
        alpha = max(alpha, LEAST_ALPHA) if isinstance(alpha, float) else np.maximum(alpha, LEAST_ALPHA)
        rows, mine, times = self.rows, (np.arange(self.rows.n), self.rows.own), self.rows.times(worth)
        base, counts, at = self._left() if self.counts is None else self.counts
        few = alpha if isinstance(alpha, float) else alpha[rows.used]
        logs = np.repeat(base.logs(few), self.C)
        logs[at] = counts.logs(few)
        scores = np.zeros_like(self.total)
        kernels.score_sparse(rows.starts, self.pair, times, logs.reshape(-1, self.C), scores)
        scores[mine] = rows.total(rows.kept, _product(times, self.own.logs(alpha)))
        return -_shares(rows, scores, self.total, alpha, rows.lengths(worth), slice(0, rows.n), smooth=self.smooth)

    def _totals(self, counts: SparseExact, whole: Exact) -> Floats:  # (n, C)
        """Return the count of all vocabulary tokens outside of each class, without the row."""
        rows, x, C = self.rows, self.rows.changed, self.C
        totals = counts.columns(np.flatnonzero(rows.view)).sum(axis=1).others()
        other = rows.others(C)
        taken = (np.where(other, part[:, None], 0.0).reshape(-1) for part in (rows.weight, rows.before))
        total = totals.less((np.tile(np.arange(C), rows.n),), *taken).reshape(rows.n, C)
        left, cells = whole.less((x.token,), rows.weigh(x), x.times), ChangedCells(rows, counts.places)
        outside = whole.take(x.token[cells.entry]) - counts.values.take(cells.at)
        changed = outside.less(all_of(cells.at), np.where(cells.mine, 0.0, cells.weight), cells.times)
        return np.asarray(total + rows.total(x, rows.sign * left)[:, None] + cells.total(changed - left[cells.entry]))

    def _pairs(self) -> tuple[npt.NDArray[np.int32], _Taken]:
        """Return each entry's index among the distinct pairs of token and amount taken, and the pairs."""
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

    def _left(self) -> tuple[LogCounts, LogCounts, Index]:
        """Return what is left of each pair outside classes without it, outside those with it, and their cells."""
        token, weight, times = self.pairs
        places, at = self.few.places.of_columns(token)
        pair = places.columns()
        base = self.whole.less((token,), weight, times)
        outside = self.whole.take(token[pair]) - self.few.values.take(at)
        left = outside.less(all_of(at), weight[pair], times[pair])
        cells = pair.astype(np.intp) * self.C + places.rows
        # Only cells that no row uses are below 0: the row's own class, and pairs without an entry.
        return LogCounts(np.maximum(base, 0.0), token), LogCounts(np.maximum(left, 0.0), token[pair]), cells


def _shares(
    rows: BagRows, logs: Floats, total: Floats, alpha: Alpha, lengths: Floats, some: slice, *, smooth: bool
) -> Floats:  # (some, C)
    """Return Σ times · log share of some rows, given their Σ times · log(count + α) and totals.

    `smooth` adds unknown tokens.
    """
    whole, length = total + rows.mass(alpha)[some], lengths[some, None]
    size = np.maximum(rows.size[some], 1)[:, None]
    log_whole = kernels.log(np.where(whole > 0, whole, 1.0))
    scores = np.where(whole > 0, logs - length * log_whole, -length * kernels.log(size))  # no counts: equal shares
    if smooth:
        unseen = log_share(0.0, total, alpha, rows.size[some, None] + 1)
        scores += _product(np.broadcast_to(rows.strange[some, None], scores.shape), unseen)
    return scores


def _product(times: Floats, log: Floats) -> Floats:
    """Return times · log, taking 0 · −∞ as 0: an impossible token may occur zero times."""
    return np.asarray(np.multiply(times, log, out=np.zeros_like(log), where=times != 0))
