"""Leave-one-out for texts: each document scored as if it had never been read.

Taking a document away changes three things: its class has its tokens no more (for complement: all other classes have
them no more), the vocabulary lacks the tokens that only it had, and a token may fall out of the pruned view.

Notation: n documents, V tokens, C classes; an *entry* is a token of a document and how often it occurs there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import ClassCodes
from tallybayes.events.families.dirichlet import log_share
from tallybayes.events.inputs import Floats, Sparse
from tallybayes.events.text.column import Column
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact

__all__ = ["Entries", "Keep", "OwnCounts", "outside_scores", "presence_scores"]

Keep = Callable[[Floats, float], npt.NDArray[np.bool_]]


class Entries:
    """The tokens of documents that all have one weight, and what is believed in when one of them is gone."""

    def __init__(self, column: Column, texts: Sparse, own: ClassCodes, weight: float, kept: Keep) -> None:
        self.row, self.token, times = texts.entries()
        self.times = times.astype(np.float64)
        self.n, self.own, self.weight = len(texts), own, weight
        self.starts = texts.indptr - texts.indptr[0]
        documents = column.documents.sum(axis=0)
        others = float(column.present.sum().reshape((1,)).less((np.zeros(1, np.intp),), np.array([weight]))[0])
        self.view = kept(documents.to_float(), others)  # (V,) for tokens that the document does not have
        self.before = self.view[self.token]
        self.after = kept(documents.less((self.token,), self._each(weight)), others)
        lost = self.total(self.before.astype(np.float64) - self.after)
        self.size = self.view.sum() - lost  # (n,) how many tokens are left

    def total(self, values: Floats) -> Floats:  # (n,)
        """The sum over each document's entries."""
        return np.asarray(np.bincount(self.row, values, minlength=self.n), np.float64)

    def heard(self, *, once: bool, smooth: bool) -> Floats:  # (n,)
        """How many of each document's tokens have a say without it, each as often as it counts."""
        times = np.ones_like(self.times) if once else self.times
        return self.total(times if smooth else np.where(self.after, times, 0.0))

    def less(self, counts: Exact, c: int, gone: npt.NDArray[np.bool_], times: Floats) -> Floats:  # (entries,)
        """Class c's counts of the entries' tokens, less the entries of documents that are gone from it."""
        taken = np.where(gone[self.row], self.weight, 0.0)
        return counts.less((np.full(len(self.token), c), self.token), taken, times)

    def own_less(self, counts: Exact, times: Floats) -> Floats:  # (entries,)
        """The own class's counts of the entries' tokens, less the entries."""
        return counts.less((self.own[self.row], self.token), self._each(self.weight), times)

    def _each(self, value: float) -> Floats:
        return np.full(len(self.token), value)


class OwnCounts:
    """Word counts (multinomial, or each word once) with each document's entries gone from its class.

    Parameters
    ----------
    entries : Entries
        The documents.
    counts : SparseExact, shape (C, V)
        How often each token occurs in each class.
    once : bool
        Whether a token counts once per document.
    smooth : bool
        Whether a token that is not believed in is one more token with a count of zero, rather than nothing.
    """

    def __init__(self, entries: Entries, counts: SparseExact, *, once: bool, smooth: bool) -> None:
        e = entries
        times = np.ones_like(e.times) if once else e.times
        self.entries, self.smooth = e, smooth
        self.known, self.strange = np.where(e.after, times, 0.0), e.total(np.where(e.after, 0.0, times))
        self.length = e.total(self.known)
        # Only the tokens of these documents matter: of a large vocabulary they are few.
        self.used = np.flatnonzero(np.bincount(e.token, minlength=counts.shape[1]))
        place = np.zeros(counts.shape[1], np.int32)
        place[self.used] = np.arange(len(self.used))
        self.place = place[e.token]
        few = counts.columns(self.used)
        C = counts.shape[0]
        self.counts, self.at = _Alike(few.values.to_float()), few.places.columns().astype(np.intp) * C + few.places.rows
        own = e.own_less(counts, times)
        self.own = _Alike(own)
        self.total = np.tile(counts.columns(np.flatnonzero(e.view)).sum(axis=1).to_float(), (e.n, 1))
        table = np.ascontiguousarray(few.to_float().T)  # (used, C)
        if (e.after != e.before).any():  # tokens that fall out of the view, or into it
            kernels.score_sparse(e.starts, self.place, e.after * 1.0 - e.before, table, self.total)
        change = np.where(e.after, own - table[self.place, e.own[e.row]], 0.0)
        self.total[np.arange(e.n), e.own] += e.total(change)

    def scores(self, alpha: float) -> Floats:  # (n, C)
        """Σ times · log share."""
        e = self.entries
        mass, size = alpha * e.size[:, None], np.maximum(e.size, 1)[:, None]
        whole = self.total + mass
        with np.errstate(divide="ignore"):
            log_whole = np.log(whole, out=np.zeros_like(whole), where=whole > 0)
            scores = -self.length[:, None] * log_whole
            kernels.score_sparse(e.starts, self.place, self.known, self._logs(alpha), scores)
            own = np.zeros((e.n, 1))
            kernels.score_sparse(e.starts, self.own.which, self.known, np.log(self.own.numbers + alpha)[:, None], own)
        mine = np.arange(e.n), e.own
        scores[mine] = own[:, 0] - self.length * log_whole[mine]
        scores = np.where(whole > 0, scores, -self.length[:, None] * np.log(size))  # nothing counted: all are alike
        if self.smooth:
            unseen = log_share(0.0, self.total, alpha, e.size[:, None] + 1)
            scores += _product(np.broadcast_to(self.strange[:, None], scores.shape), unseen)
        return np.asarray(scores)

    def _logs(self, alpha: float) -> Floats:  # (used, C)
        """The logarithm of each count and α; of all that is zero it is the same."""
        C = self.total.shape[1]
        logs = np.full(len(self.used) * C, np.log(alpha))
        logs[self.at] = self.counts.logs(alpha)
        return logs.reshape(-1, C)


class _Alike:
    """Numbers, most of them small and whole: those that differ, and which of them each is."""

    def __init__(self, values: Floats) -> None:
        whole = values.astype(np.int32) if len(values) and values.min() >= 0 and values.max() < len(values) else None
        if whole is not None and (whole == values).all():
            self.numbers, self.which = np.arange(float(whole.max()) + 1), whole
        else:
            self.numbers, self.which = values, np.arange(len(values), dtype=np.int32)

    def logs(self, alpha: float) -> Floats:
        """The logarithm of each number and α."""
        return np.asarray(np.log(self.numbers + alpha)[self.which])


def outside_scores(entries: Entries, outside: Exact, alpha: float, *, smooth: bool) -> Floats:
    """Σ times · log share among all other classes, each document's entries gone from the outside of all but its own.

    Parameters
    ----------
    entries : Entries
        The documents.
    outside : Exact, shape (C, V)
        How often each token occurs outside of each class.
    alpha : float
        The pseudo-count of each token.
    smooth : bool
        Whether a token that is not believed in is one more token with a count of zero, rather than nothing.
    """
    e = entries
    known, strange = np.where(e.after, e.times, 0.0), e.total(np.where(e.after, 0.0, e.times))
    scores = np.zeros((e.n, outside.shape[0]))
    for c in range(outside.shape[0]):
        count, full = e.less(outside, c, e.own != c, e.times), outside.to_float()[c]
        total = full[e.view].sum() + e.total(np.where(e.after, count, 0.0) - np.where(e.before, full[e.token], 0.0))
        terms = log_share(count, total[e.row], alpha, np.maximum(e.size, 1)[e.row])
        scores[:, c] = e.total(_product(known, terms))
        if smooth:
            scores[:, c] += _product(strange, log_share(0.0, total, alpha, e.size + 1))
    return scores


def _product(times: Floats, log: Floats) -> Floats:
    """times · log, taking 0 · −∞ as 0: an impossible token that does not occur says nothing."""
    return np.asarray(np.multiply(times, log, out=np.zeros_like(log), where=times > 0))


def presence_scores(entries: Entries, column: Column, alpha: float) -> Floats:
    """Every believed token's log-probability of being there or not, with the document gone from its class."""
    e, ones = entries, column.documents
    scores, every = np.zeros((e.n, ones.shape[0])), np.arange(ones.shape[1])
    lacking = column.lacking()
    for c in range(ones.shape[0]):
        for gone in (False, True):
            mine = (e.own == c) == gone
            taken = e.weight if gone else 0.0
            n = column.present.less((np.array([c]),), np.array([taken]))[0]
            zeros = lacking.less((np.full(len(every), c), every), np.full(len(every), taken))
            absent = log_share(np.maximum(zeros, 0.0), n, alpha, 2.0)
            never = np.isneginf(absent)  # without smoothing: a document that lacks the token is impossible
            absent[never] = 0.0
            impossible = never[e.view].sum() - e.total((e.before & never[e.token]).astype(np.float64))
            having = e.less(ones, c, np.full(e.n, gone), np.ones_like(e.times))
            there = log_share(np.maximum(having, 0.0), n, alpha, 2.0)  # below 0 only for documents of other classes
            score = absent[e.view].sum() - e.total(np.where(e.before, absent[e.token], 0.0))
            score += e.total(np.where(e.after, there, 0.0))
            scores[mine, c] = np.where(impossible > 0, -np.inf, score)[mine]
    return scores
