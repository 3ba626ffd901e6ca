"""Bernoulli: a column is 0 or 1, with probability p of 1 in each class.

A pixel is black, a word is present.

Counted: the weight of ones, and of missing entries. Estimated: p = (ones + α) / (n + 2α).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.errors import BadOption, wanted
from tallybayes.events.event import AddScores, ClassCodes, Counted, Event, InputKind, LeftOut, Weights, chunks
from tallybayes.events.families.bag_presence import Presence
from tallybayes.events.families.bag_rows import leave_bag_out
from tallybayes.events.families.dirichlet import contrast, leave_codes_out, log_share
from tallybayes.events.families.empirical_bayes import empirical_bayes_alpha
from tallybayes.events.families.variance import minus_variance
from tallybayes.events.inputs import Dense, Floats, Numbers, Sparse, Value, as_number
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Pixels, Profile, Table, weigh, weigh_table
from tallybayes.events.plain_terms import Domain, IntervalTable
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact

__all__ = ["Bernoulli"]


@dataclass(frozen=True)
class Bernoulli(Event[Dense | Sparse]):
    """0 or 1, with its own probability of 1 in each class.

    Parameters
    ----------
    threshold : float, optional
        Values above it count as 1, others as 0. Without it only 0 and 1 (or booleans) are accepted.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"black": [1, 1, 0], "digit": [5, 5, 6]}, "digit", events={"black": "bernoulli"})
    >>> model.table("black").values      # zeros: (0+1)/(2+2), (1+1)/(1+2); ones: (2+1)/(2+2), (0+1)/(1+2)
    array([[0.25      , 0.66666667],
           [0.75      , 0.33333333]])
    """

    threshold: float | None = None

    name: ClassVar[str] = "bernoulli"
    discrete: ClassVar[bool] = True
    input: ClassVar[InputKind] = "bag"
    domain: ClassVar[str] = "0 and 1 (or a threshold)"
    sums: ClassVar[dict[str, Sum]] = {"ones": Sum("column"), "missing": Sum("column")}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold is not None and not isinstance(self.threshold, int | float):
            raise BadOption(wanted("bernoulli threshold", "a number", repr(self.threshold)))

    def invalid(self, values: Numbers) -> npt.NDArray[np.bool_] | None:
        """Return a mask of values other than 0 and 1; None with a threshold."""
        if self.threshold is not None:
            return None
        return np.asarray((values != 0) & (values != 1) & ~np.isnan(values))

    def count(self, data: Dense | Sparse, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count the weight of ones in each class, and of missing entries."""
        if isinstance(data, Sparse):
            ones = kernels.count_sparse(
                *self._present(data), data.width, classes, n_classes, weights=weights, binary=True
            )
            return {"ones": Exact.from_limbs(ones), "missing": Exact.zeros((n_classes, data.width))}, ()
        codes = self._codes(data)
        sizes = np.full(data.width, 3, np.int64)
        counts, _ = kernels.count_codes(codes, classes, n_classes, sizes, low=-1, weights=weights)
        by_value = Exact.from_limbs(counts).reshape((n_classes, data.width, 3))
        missing, present = (by_value.take(np.array([k]), axis=2).reshape((n_classes, data.width)) for k in (0, 2))
        return {"ones": present, "missing": missing}, ()

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> BernoulliTable:
        """Return the log-shares of 0 and of 1, smoothed."""
        return BernoulliTable(statistic, options, self, *_of_both(*_ones(statistic), options))

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether there are no more ones than values."""
        return not (statistic.present() - statistic.sums["ones"]).negative().any()

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats:
        """Return the smoothing under which each column's zeros and ones are most probable."""
        ones, n = _ones(statistic)
        return np.array([empirical_bayes_alpha(np.stack([n[f] - ones[f], ones[f]], axis=1)) for f in range(len(ones))])

    def without_rows(
        self, statistic: Statistic, data: Dense | Sparse, classes: ClassCodes, weights: Weights
    ) -> LeftOut:
        """Return the rows, each to be taken from its class."""
        if isinstance(data, Sparse):
            add = self._leave_sparse_out(statistic, data, classes, weights)
        elif weights is None:
            add = self._leave_one_out(statistic, data, classes)
        else:
            add = self._leave_weight_out(statistic, data, classes, weights)
        return LeftOut(add, lambda: self.length(data))

    def _leave_one_out(self, statistic: Statistic, data: Dense, classes: ClassCodes) -> AddScores:
        codes, sizes, (ones, n) = self._codes(data), np.full(data.width, 2, np.int64), _ones(statistic)
        left = np.maximum(n - 1, 0.0)

        def add(options: EstimateOptions, out: Floats) -> None:
            alpha = options.alpha[:, None]
            zero = log_share(np.maximum(left - ones, 0.0), left, alpha, 2.0)
            one = log_share(np.maximum(ones - 1, 0.0), left, alpha, 2.0)
            full = _interleave(*_of_both(ones, n, options))
            leave_codes_out(codes, sizes, full, _interleave(zero, one), classes, out)

        return add

    def _leave_weight_out(self, statistic: Statistic, data: Dense, classes: ClassCodes, weights: Floats) -> AddScores:
        ones, n = statistic.sums["ones"], statistic.present()
        zeros = n - ones

        def add(options: EstimateOptions, out: Floats) -> None:
            full = self.estimate(statistic, options)
            for f, value in enumerate(data.map(self._binary).each()):
                present = np.flatnonzero(~np.isnan(value))
                x, own, w = value[present], classes[present], weights[present]
                terms = np.where(x[:, None] > 0, full.log_one[f], full.log_zero[f])
                at = own, np.full(len(own), f)
                same = np.where(x > 0, ones.less(at, w), zeros.less(at, w))
                terms[np.arange(len(present)), own] = log_share(same, n.less(at, w), options.alpha[f], 2.0)
                out[present] += terms

        return add

    def _leave_sparse_out(self, statistic: Statistic, data: Sparse, classes: ClassCodes, weights: Weights) -> AddScores:
        indptr, column, _ = self._present(data)
        bag = Sparse(indptr, column, np.ones(len(column)), data.width)
        ones = SparseExact.from_whole(statistic.sums["ones"])
        present = statistic.rows if statistic.sums["missing"].is_zero else statistic.present()
        return leave_bag_out(bag, ones.shape[0], classes, weights, lambda rows: Presence(rows, ones, present))

    @property
    def cut(self) -> float:
        """The threshold: values above it are ones."""
        return 0.5 if self.threshold is None else self.threshold

    def _binary(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.threshold is None:
            return values
        return np.where(np.isnan(values), np.nan, values > self.threshold)

    def _codes(self, data: Dense) -> npt.NDArray[np.int8] | tuple[npt.NDArray[np.int8], ...]:
        """Return 1, 0, and −1 for missing."""
        threshold = self.cut

        def code(values: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
            codes = (values > threshold).astype(np.int8)
            codes[np.isnan(values)] = -1
            return codes

        return data.map(code).columns

    def _present(self, data: Sparse) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the sparse rows with only the entries that are ones."""
        threshold = self.cut
        row, column, value = data.entries()
        keep = value > threshold
        if keep.all():
            start = int(data.indptr[0])
            return data.indptr - start, column, value
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row[keep], minlength=len(data)))])
        return indptr, column[keep], value[keep]


@dataclass(frozen=True, eq=False)
class BernoulliTable(Likelihood[Dense | Sparse]):
    """Log-probabilities of 0 and of 1."""

    event: Bernoulli
    log_zero: Floats  # (F, C)
    log_one: Floats  # (F, C)

    def add_variance(self, data: Dense | Sparse, out: Floats) -> None:
        """Look up minus the variances of the log-shares of 0 and 1, as if they were log-probabilities."""
        minus = np.zeros_like(out)
        self._minus_variances.add_log_prob(data, minus)
        out -= minus

    @cached_property
    def _minus_variances(self) -> BernoulliTable:
        zero, one = _of_both(*_ones(self.statistic), self.options, minus_variance)
        return replace(self, log_zero=zero, log_one=one)

    def add_log_prob(self, data: Dense | Sparse, out: Floats) -> None:
        """Add log p for a 1, log(1 − p) for a 0."""
        if isinstance(data, Dense):
            sizes = np.full(data.width, 2, np.int64)
            kernels.score_codes(self.event._codes(data), _interleave(self.log_zero, self.log_one), sizes, out)
            return
        # Every column absent, then the difference for those present: O(entries), not O(columns).
        change, absent = self._change
        if absent is not None:
            out += absent
            indptr, indices, _ = self.event._present(data)
            kernels.score_sparse(indptr, indices, np.ones(len(indices)), change, out)
            return
        for rows in chunks(len(data), 256):
            part = Sparse(data.indptr[rows.start : rows.stop + 1], data.indices, data.data, data.width)
            self.add_log_prob(part.dense(), out[rows])

    @cached_property
    def _change(self) -> tuple[Floats, Floats | None]:
        """What presence adds (F, C), and absence of all (C,), None if infinite."""
        with np.errstate(invalid="ignore"):
            change = self.log_one - self.log_zero
        return change, self.log_zero.sum(axis=0) if np.isfinite(change).all() else None

    def add_terms(self, data: Dense | Sparse, weights: Floats, out: Floats) -> None:
        """Add log p for a 1, log(1 − p) for a 0, weighted, column by column."""
        if isinstance(data, Dense):
            sizes = np.full(data.width, 2, np.int64)
            kernels.terms_codes(self.event._codes(data), _interleave(self.log_zero, self.log_one), sizes, weights, out)
            return
        terms = weigh_table(self.log_zero, weights)
        indptr, column, _ = self.event._present(data)
        row = np.repeat(np.arange(len(data)), np.diff(indptr))
        terms[row, column] = weigh(self.log_one[column], weights[row])
        out += terms

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the log-probabilities of 0 and of 1."""
        values = (0, 1) if at is None else tuple(at)
        ones = np.array([as_number(value) for value in values]) > (
            0.5 if self.event.threshold is None else self.event.threshold
        )
        return Profile("values", values, np.where(ones[:, None], self.log_one[f], self.log_zero[f]))

    def support(self, data: Dense | Sparse) -> Floats:  # (F, C)
        """Return the weight of the rows of each class with the same 0 or 1."""
        first = data.first() if isinstance(data, Dense) else data.first().dense().first()
        ones, n = _ones(self.statistic)
        lit = first > self.event.cut
        return np.where(lit[:, None], ones, n - ones)

    def place(self, f: int, value: Value) -> int:
        """Return 1 for a value above the threshold, otherwise 0."""
        return int(as_number(value) > self.event.cut)

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw 0 or 1 for each column; with a threshold, the whole numbers on either side of it."""
        zero, one = np.int64(0), np.int64(1)
        if self.event.threshold is not None:
            zero, one = (
                np.int64(x) for x in (min(0, floor(self.event.threshold)), max(1, floor(self.event.threshold) + 1))
            )
        return [np.where(rng.random(n) < p, one, zero) for p in np.exp(self.log_one[:, c])]

    def pixels(self) -> Pixels:
        """Return the probability of 1; dark is 0 and lit is 1."""
        return Pixels("probability of 1", np.exp(self.log_one).T, self.log_zero.T, self.log_one.T)

    def table(self, f: int) -> Table:
        """Return a row for 0 and one for 1: counts beside probabilities."""
        ones, n = _ones(self.statistic)
        counts = np.stack([n[f] - ones[f], ones[f]])
        return (0, 1), counts, np.exp(np.stack([self.log_zero[f], self.log_one[f]]))

    def to_plain(self) -> tuple[IntervalTable, ...]:
        """Return a table of the numbers up to the threshold and those above it."""
        above = np.array([np.nextafter(self.event.cut, np.inf)])
        domain: Domain = "binary" if self.event.threshold is None else "any"
        both = zip(self.log_zero, self.log_one, strict=True)
        return tuple(IntervalTable(above, np.stack(logs), domain) for logs in both)

    def contrasted(self) -> BernoulliTable:
        """Return the log-probabilities of 0, and of 1, less the largest of each."""
        return replace(self, log_zero=contrast(self.log_zero), log_one=contrast(self.log_one))

    @property
    def n_values(self) -> tuple[int, ...]:
        """2 for each column: 0 and 1."""
        return (2,) * self.statistic.sums["ones"].shape[1]


def _of_both(
    ones: Floats, n: Floats, options: EstimateOptions, share: Callable[..., Floats] = log_share
) -> tuple[Floats, Floats]:
    """Return `share` of the zeros and of the ones."""
    alpha = options.alpha[:, None]
    return share(n - ones, n, alpha, 2.0), share(ones, n, alpha, 2.0)


def _interleave(zero: Floats, one: Floats) -> Floats:
    """Return a table with column f's zeros in row 2f and its ones in row 2f + 1."""
    return np.stack([zero, one], axis=1).reshape(-1, zero.shape[1])


def _ones(statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the weight of ones and of all entries that are not missing, each (F, C).

    Zeros are n − ones, so rounding must not put n below ones: both come from exact sums.
    """
    ones, n = statistic.sums["ones"].to_float().T, statistic.present().to_float().T
    return np.ascontiguousarray(ones), np.ascontiguousarray(n)
