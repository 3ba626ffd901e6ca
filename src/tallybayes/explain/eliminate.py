"""Backward elimination: drop columns that weighted ones do not need.

Weights tell what columns repeat, so they are fitted anew for every set of columns, to rows left out. A weak column
costs little under weights: it is dropped only where rows that its weights were not fitted to are enough to tell.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats
from tallybayes.inference.column_terms import ColumnTerms
from tallybayes.inference.fit_weights import fit_weights
from tallybayes.inference.terms import Terms, less_last

__all__ = ["MOST_LOST", "eliminate"]

# A rise of mean log-loss that no one notices: a copy of another column may go, though it does no harm under weights.
MOST_LOST = 0.001
_ERRORS = 1.0  # standard errors to be sure of it: drops that help by chance are for nested folds to find
_FEWEST = 20  # rows of a class, on average: weights are fitted to half of them, and fewer than ten tell nothing
_ROUNDS = 64  # columns, or parts of wider tables, that are tried one by one

Places = npt.NDArray[np.intp]


def eliminate(
    terms: ColumnTerms,
    classes: ClassCodes,
    weights: Weights,
    most: int,
    held: npt.NDArray[np.bool_],
    *,
    common: bool,
) -> list[int]:
    """Return the columns to keep, at most `most`; with `common`, under one weight for all of them.

    Columns are dropped from the least needed on, several at a time where they are many, if the loss is surely not
    higher than with all of them: small rises add up, and what the end of noise gains makes room to be sure of the rest.
    Others, and those that are held, stay, unless they are too many.
    """
    kept, needed = np.arange(len(terms.columns)), held | (len(classes) < _FEWEST * len(terms.evidence.classes))
    least = max(1, len(kept) // _ROUNDS)
    step = max(least, len(kept) // 4)
    whole = now = _Weighted(terms.of_columns(kept, classes, weights), common=common)
    while len(kept) > 1:
        must = len(kept) > most
        ranked = kept[np.argsort(now.without_each(), kind="stable")]
        ranked = ranked if must else ranked[~needed[ranked]]
        drop = ranked[: min(step, len(kept) - 1)]
        if not len(drop):
            break
        others = np.setdiff1d(kept, drop)
        then = _Weighted(terms.of_columns(others, classes, weights), common=common)
        if whole.lost(then) <= MOST_LOST or (must and step == least):
            kept, now = others, then
        elif step == least:
            needed[drop] = True
        else:
            step = max(least, step // 2)
    return kept.tolist()


class _Weighted:
    """Terms of some columns under weights and corrections that were fitted to the other half of the rows."""

    def __init__(self, terms: Terms, *, common: bool) -> None:
        self.terms = terms
        self._parts = np.empty(terms.terms.shape)  # (U, C − 1, n) what each column adds to the scores, less the last's
        bias, bins = np.empty_like(terms.base), terms.coded.codes
        first = np.cumsum(terms.coded.sizes) - terms.coded.sizes
        codes = np.where(bins < 0, -1, bins + first[:, None])
        for start in (0, 1):  # rows are in the order of content hashes: halves at random
            here = slice(1 - start, None, 2)
            fitted, share = fit_weights(terms.take(slice(start, None, 2)), common=common), terms.share[here]
            bias[:, here] = share * less_last(fitted.bias)[:, None]
            nothing = np.zeros((1, fitted.table.shape[1]))
            table = less_last(np.concatenate([fitted.table, nothing]).T)  # (C − 1, K + 1): the last is of no correction
            for u, scale in enumerate(fitted.scale):
                corrections = share * table[:, codes[u, here]]
                self._parts[u][:, here] = (1 + share * (scale - 1)) * terms.terms[u][:, here] + corrections
        self._scores = terms.base - terms.terms.sum(axis=0) + bias + self._parts.sum(axis=0)

    def without_each(self) -> Floats:  # (U,)
        """Return the mean loss without each column, the weights of the others as they are."""
        return np.array([self._mean(self._losses(self._scores - part)) for part in self._parts])

    def lost(self, other: _Weighted) -> float:
        """Return how much higher the mean loss of another set of columns may be: the rise and its errors."""
        rise = self._losses(other._scores) - self._losses(self._scores)
        mean = self._mean(rise)
        return mean + _ERRORS * float(np.sqrt(self._mean((rise - mean) ** 2) / len(rise)))

    def _losses(self, scores: Floats) -> Floats:  # (n,)
        logs = np.concatenate([scores, np.zeros((1, scores.shape[1]))]).T.copy()  # the last class has 0
        kernels.log_softmax(logs)
        return np.asarray(-logs[np.arange(len(logs)), self.terms.classes])

    def _mean(self, values: Floats) -> float:
        return float(np.average(values, weights=self.terms.weights))
