"""BernoulliNB: scikit-learn's, from exact counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import naive_bayes

from tallybayes import engines, kernels
from tallybayes.encoded import Floats, Sparse
from tallybayes.estimators.arrays import Array, are_finite, dense, laid_out, reader
from tallybayes.estimators.discrete import (
    TABLE_ROWS,
    Discrete,
    contiguous,
    count_columns,
    made,
    scorer,
    table_of,
    writeable,
)
from tallybayes.estimators.dropin import Scorer
from tallybayes.events.base import ClassCodes, Weights
from tallybayes.events.multinomial import count_bag
from tallybayes.exact import Exact
from tallybayes.statistic import Statistic

__all__ = ["BernoulliNB"]


class BernoulliNB(Discrete, naive_bayes.BernoulliNB):
    """scikit-learn's BernoulliNB, only faster.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,)
        Pseudo-counts of each value.
    force_alpha : bool
        Whether an alpha below 1e-10 is taken as it is.
    binarize : float or None
        Values above it are 1, others 0. With None they are taken as they are.
    fit_prior : bool
        Whether class probabilities are learned; if not, they are all the same.
    class_prior : array-like of shape (n_classes,), optional
        The probabilities of the classes.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_, n_features_in_, feature_names_in_
        As scikit-learn's. `feature_count_` and `feature_log_prob_` are computed when they are first read.

    Examples
    --------
    >>> from tallybayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1], [1], [0]], [5, 5, 6])
    >>> np.exp(model.feature_log_prob_).round(3).tolist()      # (2+1)/(2+2), (0+1)/(1+2)
    [[0.75], [0.333]]
    """

    @made
    def feature_count_(self) -> Floats:  # (C, F)
        """The weight of ones of each feature in each class."""
        return writeable(self._statistic.sums["ones"].to_float())

    @made
    def feature_log_prob_(self) -> Floats:  # (C, F)
        """The log-probability of a one of each feature in each class."""
        ones = self._statistic.sums["ones"]
        pseudo = np.broadcast_to(np.asarray(self._alpha, np.float64), ones.shape[1])

        def log(block: Floats, at: slice) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                total = np.log(self.class_count_ + 2 * pseudo[at, None])
                np.log(np.add(block, pseudo[at, None], out=block), out=block)
                block -= total
                return block

        return table_of(ones, log).T

    def _count(self, X: Any, codes: ClassCodes, n_classes: int, weights: Weights) -> Statistic:
        read = self._reader(X)

        def counter(rows: slice, mine: ClassCodes, w: Weights) -> dict[str, Exact]:
            return {"ones": _ones(read(rows), mine, n_classes, w)}

        return count_columns(counter, X, codes, n_classes, weights)

    def _reader(self, X: Any) -> Callable[[slice], Array | Sparse]:
        """Gives slices of rows as ones and zeros, or as they are if that is wanted."""
        read = reader(X)

        def ones_and_zeros(rows: slice) -> Array | Sparse:
            data = read(rows)
            start = int(data.indptr[0]) if isinstance(data, Sparse) else 0
            values: Array = data.data[start : int(data.indptr[-1])] if isinstance(data, Sparse) else data
            if not are_finite(values):
                self._refuse(X)
            if self.binarize is None:
                return data
            ones: Array = values > self.binarize
            if not isinstance(data, Sparse):
                return ones
            indices = data.indices[start : start + len(ones)]
            return Sparse(data.indptr - data.indptr[0], indices, ones.astype(np.int32), data.width)

        return ones_and_zeros

    def _scorer(self, X: Any) -> Scorer:
        log_one = contiguous(self.feature_log_prob_)
        change = np.empty_like(log_one)

        def work(at: slice) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                log_zero = np.log(1 - np.exp(log_one[at]))
                np.subtract(log_one[at], log_zero, out=change[at])
                return np.asarray(log_zero.sum(axis=0))

        # Every feature absent, then the difference for those present: O(entries), not O(features).
        absent = engines.map_rows(len(log_one), work, threads=engines.default_threads(None), rows=TABLE_ROWS)
        return scorer(self._reader(X), change, self.class_log_prior_ + np.sum(absent, axis=0))


def _ones(data: Array | Sparse, codes: ClassCodes, n_classes: int, weights: Weights) -> Exact:  # (C, F)
    """The exact sum of each column in each class."""
    if isinstance(data, Sparse):
        if data.data.min(initial=0) >= 0:
            return count_bag(data, codes, n_classes, weights)
        more, less = (replace(data, data=np.maximum(sign * data.data, 0)) for sign in (1, -1))
        return count_bag(more, codes, n_classes, weights) - count_bag(less, codes, n_classes, weights)
    if data.dtype != bool:
        return count_bag(dense(data), codes, n_classes, weights)
    sizes = np.ones(data.shape[1], np.int64)  # of the codes 0 and 1 only the latter is counted
    counts, _ = kernels.count_codes(laid_out(data.view(np.int8)), codes, n_classes, sizes, low=1, weights=weights)
    return Exact.from_limbs(counts)
