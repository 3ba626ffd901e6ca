"""What the five drop-ins share: rows scored in slices on all cores, and probabilities made of the scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from tallybayes import engines, kernels
from tallybayes.events.inputs import Floats
from tallybayes.inference.score import SCORED_ROWS
from tallybayes.sklearn.arrays import Array

__all__ = ["DropIn", "Scorer"]

# Writes the scores of some rows to an array (n, C), and says whether there is nothing odd about them.
Scorer: TypeAlias = Callable[[slice, Floats], bool]


class DropIn(ABC):
    """Stands before one of scikit-learn's classes, whose parameters, tags and checks of them stay as they are."""

    # How `validate_data` is to read X. That all values are finite is seen while counting and scoring, which saves
    # a pass over the data.
    _reading: ClassVar[dict[str, Any]] = {"ensure_all_finite": False}
    classes_: Array

    @abstractmethod
    def _scorer(self, X: Any) -> Scorer:
        """What scores slices of X."""

    def _threads(self, X: Any) -> int:
        """How many threads score."""
        return engines.default_threads(None)

    def _refuse(self, X: Any) -> None:
        """Raise what scikit-learn raises, if X is not what it should be; looked into where something seems odd."""
        validate_data(self, X, reset=False, **{**self._reading, "ensure_all_finite": True})

    def _check_X(self, X: Any) -> Any:  # noqa: N802
        return validate_data(self, X, reset=False, **self._reading)

    def _joint_log_likelihood(self, X: Any) -> Array:  # (n, C)
        return self._scored(X, None)

    def predict(self, X: Any) -> Array:
        """The most probable class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        scores = self._joint_log_likelihood(self._check_X(X))
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class for each row, in the order of `classes_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._scored(self._check_X(X), kernels.softmax)

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`, which does not underflow.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._scored(self._check_X(X), kernels.log_softmax)

    def _scored(self, X: Any, normalise: Callable[[Floats], Floats] | None) -> Array:
        out = np.empty((X.shape[0], len(self.classes_)))
        score = self._scorer(X)

        def work(rows: slice) -> bool:
            mine = out[rows]
            fine = score(rows, mine)
            if normalise is not None:
                possible = np.isfinite(normalise(mine))
                if not possible.all():
                    mine[~possible] = np.nan  # what scikit-learn answers where no class is possible
            return fine

        if not all(engines.map_rows(len(out), work, threads=self._threads(X), rows=SCORED_ROWS)):
            self._refuse(X)
        return out
