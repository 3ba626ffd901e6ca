"""BernoulliNB: a drop-in for scikit-learn's, from exact counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sklearn import naive_bayes
from tallybayes import kernels
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats, Sparse
from tallybayes.events.statistic import Statistic
from tallybayes.exact.array import Exact
from tallybayes.kernels import Limbs
from tallybayes.sklearn.arrays import Array, are_finite, column_sums, laid_out, reader
from tallybayes.sklearn.base import (
    Discrete,
    Scorer,
    contiguous,
    count_columns,
    lazy,
    over_table,
    scorer,
    table_of,
    writeable,
)


class BernoulliNB(Discrete, naive_bayes.BernoulliNB):
    """scikit-learn's BernoulliNB, only faster.

    Parameters
    ----------
    alpha, force_alpha, binarize, fit_prior, class_prior
        As in :class:`sklearn.naive_bayes.BernoulliNB`.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_, n_features_in_, feature_names_in_
        As in scikit-learn. `feature_count_` and `feature_log_prob_` are computed when first read.

    Examples
    --------
    >>> from tallybayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1], [1], [0]], [5, 5, 6])
    >>> np.exp(model.feature_log_prob_).round(3).tolist()      # (2+1)/(2+2), (0+1)/(1+2)
    [[0.75], [0.333]]
    """

    @lazy
    def feature_count_(self) -> Floats:  # (C, F)
        """The weight of ones of each feature in each class."""
        return writeable(self._statistic.sums["ones"].to_float())

    @lazy
    def feature_log_prob_(self) -> Floats:  # (C, F)
        """The log-probability of a one of each feature in each class."""
        return self._log_of_one().T

    @lazy
    def _terms(self) -> tuple[Floats, Floats]:  # (F, C), (C,)
        """What rows are scored by, kept while nobody has `feature_log_prob_`, who might change it."""
        return _apart(self._log_of_one())

    def _log_of_one(self) -> Floats:  # (F, C)
        ones = self._statistic.sums["ones"]
        pseudo = np.broadcast_to(np.asarray(self._alpha, np.float64), ones.shape[1])

        def log(block: Floats, at: slice) -> None:
            with np.errstate(divide="ignore", invalid="ignore"):
                block += pseudo[at, None]
                np.log(block, out=block)
                block -= np.log(self.class_count_ + 2 * pseudo[at, None])

        return table_of(ones, log)

    def _count(self, X: Any, codes: ClassCodes, n_classes: int, weights: Weights) -> Statistic:
        read, as_is = self._reader(X), reader(X)

        def counter(rows: slice, mine: ClassCodes, w: Weights) -> dict[str, Limbs]:
            return {"ones": _ones(read(rows), mine, n_classes, w)}

        def present(rows: slice, mine: ClassCodes, w: Weights) -> dict[str, Limbs]:
            data = as_is(rows)
            assert isinstance(data, Sparse)
            return {"ones": kernels.count_sparse(*data.parts(), data.width, mine, n_classes, weights=w, binary=True)}

        if self.binarize == 0 and issparse(X):
            with suppress(kernels.BadEntry):  # a negative entry, which counts as zero here, or a non-finite one
                return count_columns(present, X, codes, n_classes, weights)
        return count_columns(counter, X, codes, n_classes, weights)

    def _reader(self, X: Any) -> Callable[[slice], Array | Sparse]:
        """Return a function that gives slices of rows as ones and zeros; unchanged if `binarize` is None."""
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
        known = "feature_log_prob_" in vars(self) or "feature_log_prob_" in self._lazy
        change, absent = _apart(contiguous(self.feature_log_prob_)) if known else self._terms
        return scorer(self._reader(X), change, self.class_log_prior_ + absent)


def _apart(log_one: Floats) -> tuple[Floats, Floats]:  # (F, C), (C,)
    """Return what each feature that is present changes, and the sum of all that are absent.

    A row is scored by every feature absent, then by the difference for those present: O(entries), not O(features).
    """
    change = np.empty_like(log_one)

    def work(at: slice) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            log_zero = np.log(1 - np.exp(log_one[at]))
            np.subtract(log_one[at], log_zero, out=change[at])
            return np.asarray(log_zero.sum(axis=0))

    return change, np.sum(over_table(log_one, work), axis=0)


def _ones(data: Array | Sparse, codes: ClassCodes, n_classes: int, weights: Weights) -> Limbs:  # (C, F)
    """Return the exact sum of each column in each class."""
    if isinstance(data, Sparse) and data.data.min(initial=0) < 0:
        more, less = (replace(data, data=np.maximum(sign * data.data, 0)) for sign in (1, -1))
        gain, loss = (Exact.from_limbs(column_sums(part, codes, n_classes, weights)) for part in (more, less))
        return (gain - loss).to_limbs()
    if isinstance(data, Sparse) or data.dtype != bool:
        return column_sums(data, codes, n_classes, weights)
    sizes = np.ones(data.shape[1], np.int64)  # of the codes 0 and 1 only 1 is counted
    return kernels.count_codes(laid_out(data.view(np.int8)), codes, n_classes, sizes, low=1, weights=weights)[0]
