"""CategoricalNB: a drop-in for scikit-learn's, from exact counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_non_negative

from sklearn import naive_bayes
from tallybayes import kernels
from tallybayes.errors import wanted
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats
from tallybayes.events.statistic import Statistic
from tallybayes.kernels import Limbs
from tallybayes.sklearn.arrays import Array, count, laid_out
from tallybayes.sklearn.base import Discrete, DropIn, Scorer, lazy

Sizes = npt.NDArray[np.int64]

_FEW_COLUMNS = 256  # beyond, copying their tables one by one takes longer than copying all of them twice
_MANY_CELLS = 4096  # of a column's table: beyond, a few rows take theirs from it sooner than all of it is copied
_GUESS_ROWS = 256  # rows to guess the number of categories from; counting detects a guess that is too low


class CategoricalNB(Discrete, naive_bayes.CategoricalNB):
    """scikit-learn's CategoricalNB, only faster.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, min_categories
        As in :class:`sklearn.naive_bayes.CategoricalNB`.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, category_count_, feature_log_prob_, n_categories_, n_features_in_
        As in scikit-learn. `category_count_` and `feature_log_prob_` are computed when first read.

    Notes
    -----
    A category not seen in training raises IndexError, as in scikit-learn. `tallybayes.NaiveBayes` accepts it, and also
    text and missing values.

    Examples
    --------
    >>> from tallybayes import CategoricalNB
    >>> model = CategoricalNB().fit([[0], [1], [1]], ["no", "yes", "yes"])
    >>> np.exp(model.feature_log_prob_[0]).round(3).tolist()   # no: 2/3, 1/3; yes: 1/4, 3/4
    [[0.667, 0.333], [0.25, 0.75]]
    """

    _reading: ClassVar[dict[str, Any]] = {"dtype": "int", "accept_sparse": False, "ensure_all_finite": True}
    _sizes: Sizes

    @lazy
    def category_count_(self) -> list[Floats]:  # F × (C, V)
        """The weight of each category of each feature in each class."""
        return self._split(self._statistic.sums["counts"].to_float().copy())

    @lazy
    def feature_log_prob_(self) -> list[Floats]:  # F × (C, V)
        """The log-probability of each category of each feature in each class."""
        smoothed = self._statistic.sums["counts"].to_float() + self._alpha
        totals = np.add.reduceat(smoothed, np.cumsum(self._sizes) - self._sizes, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._split(np.log(smoothed) - np.repeat(np.log(totals), self._sizes, axis=1))

    def _split(self, table: Floats) -> list[Floats]:
        return np.split(table, np.cumsum(self._sizes)[:-1], axis=1)

    def _count(self, X: Array, codes: ClassCodes, n_classes: int, weights: Weights) -> Statistic:
        sizes = np.maximum(X[:_GUESS_ROWS].max(axis=0) + 1, 1, dtype=np.int64)
        counted = _count_sizes(X, codes, n_classes, weights, sizes)
        if counted is None:
            self._refuse_negative(X)
            sizes = np.asarray(X.max(axis=0) + 1, np.int64)
            counted = _count_sizes(X, codes, n_classes, weights, sizes)
            assert counted is not None
        largest = sizes[None, :] - 1
        self.n_categories_ = self._validate_n_categories(largest, self.min_categories)
        return _widened(counted, sizes, self.n_categories_)

    def _add(self, past: Statistic | None, new: Statistic) -> Statistic:
        if past is None:
            self._sizes = self.n_categories_
            return new
        before, self._sizes = self._sizes, np.maximum(self._sizes, self.n_categories_)
        new = _widened(new, self.n_categories_, self._sizes)
        return super()._add(_widened(past, before, self._sizes), new)

    def _threads(self, X: Array) -> int:
        return DropIn._threads(self, X)  # there is no matrix product, which would use its own threads

    def _scorer(self, X: Array) -> Scorer:
        tables = self.feature_log_prob_
        total = sum(table.shape[1] for table in tables)
        if X.size < total and total * len(self.classes_) > _MANY_CELLS * len(tables):
            tables, X = _of_rows(tables, X)
        sizes = np.array([table.shape[1] for table in tables], np.int64)
        table = _joined(tables, sizes)

        def score(rows: slice, out: Floats) -> bool:
            out[:] = self.class_log_prior_
            kernels.score_codes(laid_out(X[rows]), table, sizes + 1, out, outside="last")
            return not np.isnan(out).any()

        return score

    def _refuse(self, X: Array) -> None:
        self._refuse_negative(X)
        sizes = np.array([table.shape[1] for table in self.feature_log_prob_])
        unseen = np.argwhere(sizes <= X)
        if len(unseen):
            row, f = unseen[0]
            do = f"Set min_categories to {X[row, f] + 1} or more, or use tallybayes.NaiveBayes, which accepts it"
            want = f"categories below {sizes[f]}, as in training"
            raise IndexError(wanted(f"feature {f}", want, f"{X[row, f]} (row {row + 1})", do))

    def _refuse_negative(self, X: Array) -> None:
        check_non_negative(X, f"{type(self).__name__} (input X)")


def _of_rows(tables: list[Floats], X: Array) -> tuple[list[Floats], Array]:
    """Return each column's log-probabilities row by row, NaN for a code outside them, and the rows' new codes."""
    found = []
    for f, table in enumerate(tables):
        column = X[:, f]
        outside = (column < 0) | (column >= table.shape[1])
        own = table[:, np.where(outside, 0, column)]
        found.append(np.where(outside, np.nan, own) if outside.any() else own)
    return found, np.repeat(np.arange(len(X))[:, None], len(tables), axis=1)


def _joined(tables: list[Floats], sizes: Sizes) -> Floats:  # (sum(sizes) + F, C)
    """Return all columns' log-probabilities; a row of NaN follows each column's, for codes outside them."""
    if len(tables) > _FEW_COLUMNS:
        joined = np.insert(np.concatenate(tables, axis=1), np.cumsum(sizes), np.nan, axis=1)
        return np.ascontiguousarray(joined.T, np.float64)
    joined = np.empty((int(sizes.sum()) + len(tables), len(tables[0])))
    at = 0
    for table in tables:
        joined[at : at + table.shape[1]] = table.T
        at += table.shape[1] + 1
        joined[at - 1] = np.nan
    return joined


def _count_sizes(X: Array, codes: ClassCodes, n_classes: int, weights: Weights, sizes: Sizes) -> Statistic | None:
    """Count each column's categories below the given number; return None if there are others."""
    outside = []

    def counter(rows: slice, mine: ClassCodes, w: Weights) -> dict[str, Limbs]:
        counts, out = kernels.count_codes(laid_out(X[rows]), mine, n_classes, sizes, weights=w)
        outside.append(out.any())
        return {"counts": counts}

    sums_bytes = n_classes * int(sizes.sum()) * 8
    counted = count(counter, codes, n_classes, weights, values=X.size, sums_bytes=sums_bytes)
    return None if any(outside) else counted


def _widened(statistic: Statistic, sizes: Sizes, wider: Sizes) -> Statistic:
    """Return the same counts with room for more categories."""
    if np.array_equal(sizes, wider):
        return statistic
    shift = (np.cumsum(wider) - wider) - (np.cumsum(sizes) - sizes)
    index = np.arange(int(sizes.sum())) + np.repeat(shift, sizes)
    counts = statistic.sums["counts"].spread(index, int(wider.sum()), axis=1)
    return Statistic(statistic.rows, {"counts": counts}, statistic.declared)
