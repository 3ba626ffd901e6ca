"""Leave-one-out for texts: each document scored as if it had never been read.

Taking a document away changes three things: its class has its tokens no more (for complement: all other classes have
them no more), the vocabulary lacks the tokens that only it had, and a token may fall out of the pruned view.

Notation: n documents, V tokens, C classes; an *entry* is a token of a document and how often it occurs there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes.encoded import Floats, Sparse
from tallybayes.events.base import ClassCodes
from tallybayes.events.dirichlet import log_share
from tallybayes.exact import Exact
from tallybayes.labels import Labels

__all__ = ["Column", "Entries", "Kept", "count_scores", "presence_scores"]

Kept = Callable[[Floats, float], npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Column:
    """The sums of one column of texts."""

    tokens: Exact  # (C, V)
    documents: Exact  # (C, V)
    present: Exact  # (C,)
    labels: Labels

    def lacking(self) -> Exact:  # (C, V)
        """The documents that do not have each token."""
        limbs = self.present.limbs[:, None, :]
        shape = (*self.documents.shape, limbs.shape[-1])
        return Exact(np.broadcast_to(limbs, shape), self.present.base) - self.documents


class Entries:
    """The tokens of documents that all have one weight, and what is believed in when one of them is gone."""

    def __init__(self, column: Column, texts: Sparse, own: ClassCodes, weight: float, kept: Kept) -> None:
        self.row, self.token, times = texts.entries()
        self.times = times.astype(np.float64)
        self.n, self.own, self.weight = len(texts), own, weight
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

    def less(self, counts: Exact, c: int, gone: npt.NDArray[np.bool_], times: Floats) -> Floats:  # (entries,)
        """Class c's counts of the entries' tokens, less the entries of documents that are gone from it."""
        taken = np.where(gone[self.row], self.weight, 0.0)
        return counts.less((np.full(len(self.token), c), self.token), taken, times)

    def _each(self, value: float) -> Floats:
        return np.full(len(self.token), value)


def count_scores(entries: Entries, counts: Exact, alpha: float, *, outside: bool, once: bool, smooth: bool) -> Floats:
    """Σ times · log share, with the document's entries gone from its class, or from all others (outside).

    Parameters
    ----------
    entries : Entries
        The documents.
    counts : Exact, shape (C, V)
        How often each token occurs in each class, or outside of it.
    alpha : float
        The pseudo-count of each token.
    outside : bool
        Whether the counts are of what is outside of each class.
    once : bool
        Whether a token counts once per document.
    smooth : bool
        Whether a token that is not believed in is one more token with a count of zero, rather than nothing.
    """
    e = entries
    times = np.ones_like(e.times) if once else e.times
    known, strange = np.where(e.after, times, 0.0), e.total(np.where(e.after, 0.0, times))
    scores = np.zeros((e.n, counts.shape[0]))
    for c in range(counts.shape[0]):
        gone = (e.own == c) != outside
        count, full = e.less(counts, c, gone, times), counts.to_float()[c]
        total = full[e.view].sum() + e.total(np.where(e.after, count, 0.0) - np.where(e.before, full[e.token], 0.0))
        terms = log_share(count, total[e.row], alpha, np.maximum(e.size, 1)[e.row])
        scores[:, c] = e.total(_product(known, terms))
        if smooth:
            scores[:, c] += _product(strange, log_share(0.0, total, alpha, e.size + 1))
    return scores


def _product(times: Floats, log: Floats) -> Floats:
    """times · log, taking 0 · −∞ as 0: an impossible token that does not occur says nothing."""
    return np.asarray(np.multiply(times, log, out=np.zeros_like(times), where=times > 0))


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
