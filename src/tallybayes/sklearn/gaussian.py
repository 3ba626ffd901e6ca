"""GaussianNB: a drop-in for scikit-learn's, from exact sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight

from sklearn import naive_bayes
from tallybayes import engines, kernels
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats
from tallybayes.events.statistic import Statistic
from tallybayes.exact.array import Exact
from tallybayes.kernels import Limbs
from tallybayes.sklearn.arrays import Array, are_finite, copied, count, dense
from tallybayes.sklearn.base import DropIn, Scorer

_SUMS = "present", "first", "second"
_MANY_COLUMNS = 512  # beyond, exact moments of all columns take longer than finding the few that matter
_CELLS = 8192  # of a class and a column, whose moments take about a millisecond: enough to pay for a thread


class GaussianNB(DropIn, naive_bayes.GaussianNB):
    """scikit-learn's GaussianNB, only faster.

    Parameters
    ----------
    priors, var_smoothing
        As in :class:`sklearn.naive_bayes.GaussianNB`.

    Attributes
    ----------
    classes_, class_count_, class_prior_, theta_, var_, epsilon_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Σx and Σx² are kept exactly, so `theta_` is the same to the bit for any split of the rows into batches. The ε added
    to the variances depends on the last batch, as in scikit-learn; `tallybayes.NaiveBayes` does not have this problem.

    Examples
    --------
    >>> from tallybayes import GaussianNB
    >>> GaussianNB().fit([[1.0], [3.0], [7.0], [9.0]], ["a", "a", "b", "b"]).theta_.tolist()
    [[2.0], [8.0]]
    """

    theta_: Array
    class_prior_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags

    def _learn(
        self, X: Array, codes: ClassCodes, classes: Array, sample_weight: Any, past: Statistic | None
    ) -> GaussianNB:
        kind = X.dtype.newbyteorder("=") if X.dtype.kind == "f" else np.dtype(np.float64)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=kind)
        prior = None if self.priors is None else _checked(self.priors, len(classes), kind)
        new = self._counted(X, codes, len(classes), weights)
        # scikit-learn computes ε from the variance of the unweighted rows.
        plain = new if weights is None else self._counted(X, np.zeros_like(codes), 1, None)
        moments = _moments(plain)
        epsilon = float(self.var_smoothing * _largest_variance(plain, *moments))
        # Nothing was set before this line, so bad rows leave the estimator unchanged.
        self.classes_, self.epsilon_ = classes, kind.type(epsilon)
        if past is None:
            self._statistic, self._added = new, np.full(len(classes), epsilon)
        else:
            kind, prior = self.theta_.dtype, None if prior is None else self.class_prior_
            self._statistic = past.add(new, past.rows + new.rows)
            self._added = _added_again(self._added, epsilon, past.rows, self._statistic.rows)
        mean, variance = moments if self._statistic is plain else _moments(self._statistic)
        self.theta_, self.var_ = mean.astype(kind), (variance + self._added[:, None]).astype(kind)
        self.class_count_ = self._statistic.rows.to_float().astype(kind)
        self.class_prior_ = self.class_count_ / self.class_count_.sum() if prior is None else prior
        return self

    def _counted(self, X: Array, codes: ClassCodes, n_classes: int, weights: Weights) -> Statistic:
        """Return the exact sums of w, wx and wx² in each class."""
        weights = None if weights is None else np.ascontiguousarray(weights, np.float64)

        def counter(rows: slice, mine: ClassCodes, w: Weights) -> Any:
            return dict(zip(_SUMS, kernels.power_sums(dense(X[rows]).columns, mine, n_classes, weights=w), strict=True))

        try:
            counted = count(
                counter,
                codes,
                n_classes,
                weights,
                values=X.size,
                copied=copied(X),
                sums_bytes=n_classes * X.shape[1] * 64,
            )
        except kernels.NotFinite:
            self._refuse(X)
            raise
        if weights is None and (counted.sums["present"].to_float() != counted.rows.to_float()[:, None]).any():
            self._refuse(X)  # counting skipped a NaN
        return counted

    def _scorer(self, X: Array) -> Scorer:
        variance, mean = np.asarray(self.var_, np.float64), np.ascontiguousarray(self.theta_, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_prior = np.log(np.asarray(self.class_prior_, np.float64))
            scale, constant = np.sqrt(0.5 / variance), -0.5 * np.log(2 * np.pi * variance)

        def score(rows: slice, out: Floats) -> bool:
            out[:] = log_prior
            some_missing = kernels.score_gaussian(dense(X[rows]).columns, mean, scale, constant, out)
            # An infinite value leaves no score of its row finite. A pass over all values took a fifth of the time.
            return (not some_missing and bool(np.isfinite(out[:, 0]).all())) or are_finite(X[rows])

        return score

    def _scored(self, X: Array, normalise: Any) -> Array:
        kind = np.result_type(X.dtype if X.dtype.kind == "f" else np.float64, self.theta_.dtype)
        return super()._scored(X, normalise).astype(kind, copy=False)


def _checked(priors: Any, n_classes: int, kind: npt.DTypeLike) -> Array:
    prior = np.asarray(priors, kind)
    if len(prior) != n_classes:
        raise ValueError(f"Number of priors must match number of classes. Got {len(prior)} for {n_classes} classes.")
    if not np.isclose(prior.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1. It is {prior.sum():g}.")
    if (prior < 0).any():
        raise ValueError(f"Priors must be non-negative. Got {prior.tolist()}.")
    return prior


def _moments(statistic: Statistic) -> tuple[Floats, Floats]:  # (C, F) each
    """Return mean and variance of each class and column; 0 where there is no weight."""
    limbs = [statistic.sums[name].to_limbs() for name in _SUMS]
    shape = limbs[0].limbs.shape[:2]
    if shape[0] * shape[1] <= _CELLS:
        return _of_limbs(limbs)
    mean, variance = np.empty(shape), np.empty(shape)

    def work(columns: slice) -> None:
        parts = [Limbs(np.ascontiguousarray(part[:, columns]), base) for part, base in limbs]
        mean[:, columns], variance[:, columns] = _of_limbs(parts)

    size = max(1, _CELLS // shape[0])
    engines.map_rows(shape[1], work, threads=engines.default_threads(None), rows=size)
    return mean, variance


def _of_limbs(parts: Sequence[Limbs]) -> tuple[Floats, Floats]:
    n, mean, m2, _ = kernels.exact_moments(*parts)
    return mean, np.divide(m2, n, out=np.zeros_like(m2), where=n != 0)


def _largest_variance(statistic: Statistic, mean: Floats, variance: Floats) -> float:
    """Return the largest variance of a column over all classes.

    Of many columns, doubles tell which may have it, and only these are computed exactly.
    """
    sums = [statistic.sums[name] for name in _SUMS]
    if mean.shape[1] > _MANY_COLUMNS:
        candidates = _may_be_largest(sums[0].to_float(), mean, variance)
        sums = [part.take(candidates, axis=1) for part in sums]
    limbs = (part.to_limbs() for part in sums)
    return float(_of_limbs([Limbs(part.sum(axis=0), base) for part, base in limbs])[1].max())


def _may_be_largest(n: Floats, mean: Floats, variance: Floats) -> npt.NDArray[np.intp]:
    """Return the columns whose variance over all classes may be the largest, for all that doubles tell."""
    with np.errstate(all="ignore"):
        share, far = n / n.sum(axis=0), np.abs(mean).max(axis=0)
        about = (share * (variance + (mean - (share * mean).sum(axis=0)) ** 2)).sum(axis=0)
        # what rounding of means and sums may have changed, with much to spare
        error = 1e-12 * (about + far * np.sqrt(about)) + (1e-12 * far) ** 2
        return np.flatnonzero(~(about + error < (about - error).max()))


def _added_again(added: Floats, epsilon: float, before: Exact, after: Exact) -> Floats:  # (C,)
    """Return the total ε in each class's variances after another batch, as scikit-learn computes it.

    scikit-learn subtracts the new batch's ε from the old variances, though another ε was added to them, pools, and adds
    the new one again. The difference remains, in proportion to the old rows.
    """
    old, new = before.to_float(), after.to_float()
    share = np.divide(old, new, out=np.zeros_like(new), where=new != 0)
    return np.where((after - before).nonzero(), share * (added - epsilon) + epsilon, added)
