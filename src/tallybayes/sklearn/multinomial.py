"""MultinomialNB and ComplementNB: drop-ins for scikit-learn's, from exact counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_non_negative

from sklearn import naive_bayes
from tallybayes import kernels
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats, Sparse
from tallybayes.events.statistic import Statistic
from tallybayes.kernels import Limbs
from tallybayes.sklearn.arrays import column_sums, reader
from tallybayes.sklearn.base import Discrete, Scorer, contiguous, count_columns, lazy, scorer, table_of, writeable


class _Bags(Discrete):
    """Base of the classes whose rows are counts of features."""

    feature_log_prob_: Any

    @lazy
    def feature_count_(self) -> Floats:  # (C, F)
        """The count of each feature in each class."""
        return writeable(self._statistic.sums["counts"].to_float())

    def _count(self, X: Any, codes: ClassCodes, n_classes: int, weights: Weights) -> Statistic:
        read = reader(X)

        def counter(rows: slice, mine: ClassCodes, w: Weights) -> dict[str, Limbs]:
            data = read(rows)
            if not isinstance(data, Sparse) and not data.min() >= 0:  # NaN is not
                raise kernels.BadEntry(rows.start, 0, float(data.min()))
            return {"counts": column_sums(data, mine, n_classes, w)}

        try:
            return count_columns(counter, X, codes, n_classes, weights)
        except kernels.BadEntry:
            self._refuse(X)
            check_non_negative(X, f"{type(self).__name__} (input X)")
            raise

    def _scorer(self, X: Any) -> Scorer:
        return scorer(reader(X), contiguous(self.feature_log_prob_), self._constant())

    def _constant(self) -> Floats:
        """Return what is added to the scores of all rows."""
        return self.class_log_prior_


class MultinomialNB(_Bags, naive_bayes.MultinomialNB):
    """scikit-learn's MultinomialNB, only faster.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in :class:`sklearn.naive_bayes.MultinomialNB`.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_, n_features_in_, feature_names_in_
        As in scikit-learn. `feature_count_` and `feature_log_prob_` are computed when first read, since each is as
        large as the evidence itself.

    Examples
    --------
    >>> from tallybayes import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
    >>> np.exp(model.feature_log_prob_).round(3).tolist()      # ham: 1/5, 4/5; spam: 3/5, 2/5
    [[0.2, 0.8], [0.6, 0.4]]
    """

    @lazy
    def feature_log_prob_(self) -> Floats:  # (C, F)
        """The log-probability of each feature in each class."""
        counts, alpha = self._statistic.sums["counts"], np.asarray(self._alpha, np.float64)
        width = counts.shape[1]
        pseudo = np.broadcast_to(alpha, width)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_total = np.log(counts.sum(axis=1).to_float() + pseudo.sum())

        def log(block: Floats, at: slice) -> None:
            with np.errstate(divide="ignore", invalid="ignore"):
                block += pseudo[at, None]
                np.log(block, out=block)
                block -= log_total

        return table_of(counts, log).T


class ComplementNB(_Bags, naive_bayes.ComplementNB):
    """scikit-learn's ComplementNB, only faster.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, norm
        As in :class:`sklearn.naive_bayes.ComplementNB`. Without a prior, unless there is a single class;
        `tallybayes.NaiveBayes(events="complement")` uses its own.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_all_, feature_count_, feature_log_prob_, n_features_in_
        As in scikit-learn. `feature_count_`, `feature_all_` and `feature_log_prob_` are computed when first read.

    Examples
    --------
    >>> from tallybayes import ComplementNB
    >>> model = ComplementNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
    >>> np.exp(-model.feature_log_prob_).round(3).tolist()     # what is not ham: 3/5, 2/5; not spam: 1/5, 4/5
    [[0.6, 0.4], [0.2, 0.8]]
    """

    @lazy
    def feature_all_(self) -> Floats:  # (F,)
        """The count of each feature in all classes."""
        return writeable(self._statistic.sums["counts"].sum(axis=0).to_float())

    @lazy
    def feature_log_prob_(self) -> Floats:  # (C, F)
        """The weight of each feature for each class: minus its log-probability outside the class."""
        counts = self._statistic.sums["counts"]
        pseudo = self.feature_all_ + np.asarray(self._alpha, np.float64)
        totals = pseudo.sum() - counts.sum(axis=1).to_float()
        sign = 1.0 if self.norm else -1.0

        def log(block: Floats, at: slice) -> None:
            with np.errstate(divide="ignore", invalid="ignore"):
                np.subtract(pseudo[at, None], block, out=block)
                block /= totals
                np.log(block, out=block)
                block *= sign

        table = table_of(counts, log)
        if self.norm:
            with np.errstate(divide="ignore", invalid="ignore"):
                table /= table.sum(axis=0)
        return table.T

    def _constant(self) -> Floats:
        return self.class_log_prior_ if len(self.classes_) == 1 else np.zeros(1)
