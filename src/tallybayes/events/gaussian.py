"""Gaussian: a real column with a normal density in each class.

Counted: Σw, Σwx and Σwx², exactly. Estimated: a normal density (mle, map), or a Student t, which is the normal density
averaged over the posterior of mean and variance (bayes). The prior is α rows that look like the column over all
classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tallybayes import kernels
from tallybayes.events.cell_hashes import CellHashes
from tallybayes.events.event import ClassCodes, Counted, Event, LeftOut, Weights
from tallybayes.events.families.leave_one_out import leave_normals_out
from tallybayes.events.families.normal import Moments, NormalLikelihood, by_class, estimate_normal, over_all
from tallybayes.events.inputs import Dense
from tallybayes.events.likelihood import EstimateOptions, Likelihood
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["Gaussian", "normal_sums"]


@dataclass(frozen=True)
class Gaussian(Event[Dense]):
    """A normal density in each class, averaged over mean and variance by default.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": [1.0, 3.0, 7.0, 9.0], "y": ["a", "a", "b", "b"]}, "y", estimate="mle")
    >>> model.table("x").values      # mean, sd, n of a and b
    array([[2., 8.],
           [1., 1.],
           [2., 2.]])
    """

    name: ClassVar[str] = "gaussian"
    sums: ClassVar[dict[str, Sum]] = {
        "missing": Sum("column"),
        "first": Sum("column", signed=True),
        "second": Sum("column"),
    }

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count the exact Σx and Σx² of each class, and the weight of the values."""
        return normal_sums(kernels.power_sums(data.columns, classes, n_classes, weights=weights)), ()

    def count_and_hash(
        self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights, hashes: CellHashes
    ) -> Counted:
        """Count the same, and hash the rows while they are in a cache."""
        found = kernels.power_sums(
            data.columns, classes, n_classes, weights=weights, seeds=hashes.seeds, out=hashes.out
        )
        return normal_sums(found), ()

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether no variance is below zero."""
        return not (by_class(statistic).m2 < 0).any()

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> NormalLikelihood:
        """Return the normal density, or Student t, of each class and column."""
        normal = estimate_normal(by_class(statistic), over_all(statistic), options, options.alpha)
        return NormalLikelihood(statistic, options, normal)

    def estimate_each(self, statistic: Statistic, options: EstimateOptions, groups: int) -> list[Likelihood[Dense]]:
        """Return the densities of all groups in one call; the overhead of many would exceed their work."""
        own, whole = by_class(statistic), _over_each(statistic, groups)
        shape = (groups, -1, own.n.shape[1])
        normals = estimate_normal(Moments(*(part.reshape(shape) for part in own)), whole, options, options.alpha)
        normals.compute()
        return [NormalLikelihood(statistic, options, normals.at(k)) for k in range(groups)]

    def without_rows(self, statistic: Statistic, data: Dense, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its class and from the column as a whole."""
        add, columns = leave_normals_out(statistic, data, classes, weights)
        return LeftOut(add, lambda: self.length(data), columns if weights is None else None)


def normal_sums(sums: kernels.PowerSums) -> dict[str, Exact]:
    """Return power sums by the names of the sums."""
    assert sums.second is not None
    present = Exact.from_limbs(sums.weight)
    return {"present": present, "first": Exact.from_limbs(sums.first), "second": Exact.from_limbs(sums.second)}


def _over_each(statistic: Statistic, groups: int) -> Moments:  # of (groups, 1, F)
    """Return the moments of each column over the classes of each group."""
    shape = (groups, statistic.rows.shape[0] // groups, -1)
    parts = (statistic.present(), statistic.sums["first"], statistic.sums["second"])
    sums = (part.reshape(shape).sum(axis=1).to_limbs() for part in parts)
    return Moments(*(part[:, None] for part in kernels.exact_moments(*sums)))
