"""Base classes of the drop-ins: `DropIn` scores rows in slices, `Discrete` also counts and merges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import _fit_context
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from tallybayes import engines, kernels
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats, Sparse
from tallybayes.events.statistic import Statistic
from tallybayes.exact.array import Exact
from tallybayes.inference.score import SCORED_ROWS, rows_at_a_time
from tallybayes.kernels import Limbs
from tallybayes.sklearn.arrays import Array, Counter, are_finite, class_codes, copied, count, places

T = TypeVar("T")

_TABLE_CELLS = 1 << 16  # cells computed at a time: few enough to stay in cache
# Numbers turned into doubles at a time: of fewer, rows of many columns are too few for BLAS; memory for more is new.
_COPIED_CELLS = 1 << 20

# Writes the scores of a slice of rows to an array (n, C); returns whether the rows are valid.
Scorer: TypeAlias = Callable[[slice, Floats], bool]


class DropIn(ABC):
    """Base of a class that replaces one of scikit-learn's and inherits its parameters, tags and checks."""

    # Arguments of `validate_data`. Counting and scoring check that values are finite, which saves a pass.
    _reading: ClassVar[dict[str, Any]] = {"ensure_all_finite": False}
    classes_: Array
    n_features_in_: int
    _statistic: Statistic

    @abstractmethod
    def _scorer(self, X: Any) -> Scorer:
        """Return a function that scores slices of X."""

    @abstractmethod
    def _learn(self, X: Any, codes: ClassCodes, classes: Array, sample_weight: Any, past: Statistic | None) -> Any:
        """Learn validated rows, added to those of `past` if there are any; return the estimator."""

    def _threads(self, X: Any) -> int:
        """Return the number of threads that score."""
        values = X.nnz if issparse(X) else X.size
        return engines.threads_to_score(values, len(self.classes_), engines.default_threads(None))

    def _refuse(self, X: Any) -> None:
        """Raise scikit-learn's own error if X is invalid; called when counting or scoring found a problem."""
        validate_data(self, X, reset=False, **{**self._reading, "ensure_all_finite": True})

    def _check_fitted(self) -> None:
        if "classes_" not in vars(self):  # scikit-learn's check takes as long as scoring a hundred rows
            check_is_fitted(self)

    def _check_X(self, X: Any) -> Any:  # noqa: N802
        if self._is_plain(X):  # scikit-learn's check would return it as it is, after longer than scoring it
            return X
        return validate_data(self, X, reset=False, **self._reading)

    def _is_plain(self, X: Any) -> bool:
        """Return whether X is a matrix of numbers, of the wanted type and as wide as in training, without names."""
        sparse = self._reading.get("accept_sparse") == "csr" and issparse(X) and X.format == "csr"
        if not (sparse or type(X) is np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiu":
            return False
        return (
            X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and X.dtype == self._reading.get("dtype", X.dtype)
            and "feature_names_in_" not in vars(self)
        )

    def _joint_log_likelihood(self, X: Any) -> Array:  # (n, C)
        return self._scored(X, None)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from these rows only: an array or a sparse matrix."""
        X, y = validate_data(self, X, y, **self._reading)
        codes, classes = class_codes(y)
        return self._learn(X, codes, classes, sample_weight, None)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn from further rows; the first call must name all classes."""
        first = _check_partial_fit_first_call(self, classes) or not hasattr(self, "_statistic")
        X, y = validate_data(self, X, y, reset=first, **self._reading)
        codes = places(y, self.classes_)
        return self._learn(X, codes, self.classes_, sample_weight, None if first else self._statistic)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row."""
        self._check_fitted()
        return np.asarray(self.classes_[self._best(self._check_X(X))])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class (n_samples, n_classes), in the order of `classes_`."""
        self._check_fitted()
        return self._scored(self._check_X(X), kernels.softmax)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of `predict_proba`, which does not underflow."""
        self._check_fitted()
        return self._scored(self._check_X(X), kernels.log_softmax)

    def _best(self, X: Any) -> npt.NDArray[np.int64]:  # (n,)
        """Return the position of the most probable class of each row, found while its scores are in cache."""
        best, score = np.empty(X.shape[0], np.int64), self._scorer(X)

        def work(rows: slice) -> bool:
            scores = np.empty((len(best[rows]), len(self.classes_)))
            valid = score(rows, scores)
            if not kernels.best_class(scores, best[rows]):
                best[rows] = scores.argmax(axis=1)  # scikit-learn's answer where no class is possible
            return valid

        if not self._each_slice(X, work):
            self._refuse(X)
        return best

    def _each_slice(self, X: Any, work: Callable[[slice], bool]) -> bool:
        """Do the work of each slice of rows; return whether all rows are valid."""
        n = X.shape[0]
        if n <= SCORED_ROWS:
            return work(slice(0, n))
        threads = self._threads(X)
        rows = rows_at_a_time(n, len(self.classes_), threads)
        return all(engines.map_rows(n, work, threads=threads, rows=rows))

    def _scored(self, X: Any, normalise: Callable[[Floats], Floats] | None) -> Array:
        out = np.empty((X.shape[0], len(self.classes_)))
        score = self._scorer(X)

        def work(rows: slice) -> bool:
            mine = out[rows]
            valid = score(rows, mine)
            if normalise is not None:
                possible = np.isfinite(normalise(mine))
                if not possible.all():
                    mine[~possible] = np.nan  # scikit-learn's answer where no class is possible
            return valid

        if not self._each_slice(X, work):
            self._refuse(X)
        return out


class lazy:  # noqa: N801
    """A fitted attribute, computed when first read; it can also be set."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        if "_lazy" not in vars(estimator):
            raise AttributeError(f"{type(estimator).__name__} has no {self._name!r} before it is fitted")
        kept = estimator._lazy
        if self._name not in kept:
            kept[self._name] = self._compute(estimator)
        return kept[self._name]


class Discrete(DropIn):
    """Base of a class that replaces one of scikit-learn's classes for counts.

    A subclass counts (`_count`) and scores (`_scorer`). `_statistic` holds the exact sums of all rows learned; each
    batch is added to it.
    """

    _reading: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "ensure_all_finite": False}
    class_log_prior_: Floats

    @abstractmethod
    def _count(self, X: Any, codes: ClassCodes, n_classes: int, weights: Weights) -> Statistic:
        """Return the sums of the rows of each class."""

    def _learn(self, X: Any, codes: ClassCodes, classes: Array, sample_weight: Any, past: Statistic | None) -> Any:
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        if weights is not None and weights.dtype.kind in "Ob":  # of one Decimal, or of True
            weights = weights.astype(np.float64)
        try:
            new = self._count(X, codes, len(classes), weights)
        except (kernels.NotFinite, kernels.BadEntry):
            self._refuse(X)
            raise
        # Nothing was set before this line, so bad rows leave the estimator unchanged.
        alpha = self._check_alpha()  # type: ignore[attr-defined]
        self._drop_lazy()
        self.classes_, self._statistic, self._alpha = classes, self._add(past, new), alpha
        self.class_count_ = writeable(self._statistic.rows.to_float())
        self._update_class_log_prior(class_prior=self.class_prior)  # type: ignore[attr-defined]
        return self

    def _drop_lazy(self) -> None:
        """Drop lazy attributes computed, or set by hand, for other rows."""
        self._lazy: dict[str, Any] = {}
        for name in [name for name in vars(self) if isinstance(getattr(type(self), name, None), lazy)]:
            delattr(self, name)

    def _add(self, past: Statistic | None, new: Statistic) -> Statistic:
        return new if past is None else past.add(new, past.rows + new.rows)

    def _threads(self, X: Any) -> int:
        return super()._threads(X) if issparse(X) else 1  # the dense matrix product uses its own threads

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {**state, "_lazy": {}} if "_lazy" in state else state


def count_columns(counter: Counter, X: Any, codes: ClassCodes, n_classes: int, weights: Weights) -> Statistic:
    """Return the sums of all rows, one for each class and column."""
    values, sums_bytes = X.nnz if issparse(X) else X.size, n_classes * X.shape[1] * 8
    return count(counter, codes, n_classes, weights, values=values, copied=copied(X), sums_bytes=sums_bytes)


def writeable(values: Floats) -> Floats:
    """Return a writeable array, for attributes that users may change."""
    return values if values.flags.writeable else values.copy()


def table_of(counts: Exact, log: Callable[[Floats, slice], None]) -> Floats:  # (F, C)
    """Compute a table (F, C) from counts (C, F) block by block, never holding all counts as floats.

    `log` overwrites a block of counts (columns, C) with its part of the table; it also takes the slice of columns.
    """
    C, F = counts.shape
    table = kernels.empty_table(F, C)
    plain = counts.base == 0 and counts.limbs.shape[-1] == 1

    def work(columns: slice) -> None:
        limbs = counts.limbs[:, columns]
        table[columns] = limbs[..., 0].T if plain else kernels.to_float(Limbs(limbs, counts.base)).T
        log(table[columns], columns)

    over_table(table, work)
    return table


def over_table(table: Floats, work: Callable[[slice], T]) -> list[T]:
    """Return the results of work on slices of a table (F, C), each small enough for the cache."""
    rows = max(1, _TABLE_CELLS // max(1, table.shape[1]))
    return engines.map_rows(len(table), work, threads=engines.default_threads(None), rows=rows)


def scorer(read: Callable[[slice], Array | Sparse], table: Floats, constant: Floats) -> Scorer:
    """Return a function that scores rows by Σ value · table + constant, and rejects values that are not finite."""

    def score(rows: slice, out: Floats) -> bool:
        data = read(rows)
        if isinstance(data, Sparse):
            out[:], sums = constant, np.empty(len(data))
            kernels.score_sparse(*data.parts(), table, out, sums)
            # A pass over all values would take a tenth of the time; a sum may overflow although they are finite.
            return bool(np.isfinite(sums).all()) or are_finite(data.data[int(data.indptr[0]) : int(data.indptr[-1])])
        step = max(1, len(data) if data.dtype == np.float64 else _COPIED_CELLS // max(1, len(table)))
        # Without smoothing 0 · −∞ is NaN, as in scikit-learn; whether NumPy warns about it depends on the CPU.
        with np.errstate(invalid="ignore", over="ignore"):
            for start in range(0, len(data), step):
                some = data[start : start + step].astype(np.float64, copy=False)
                np.matmul(some, table, out=out[start : start + step])
            out += constant
        # A value that is not finite leaves no score of its row finite. A pass over all took as long as the product.
        return bool(np.isfinite(out[:, 0]).all()) or are_finite(data)

    return score


def contiguous(table: Array) -> Floats:
    """Return a fitted table (C, F) as (F, C) for the kernels.

    Our own are stored that way and not copied.
    """
    return np.ascontiguousarray(table.T, np.float64)
