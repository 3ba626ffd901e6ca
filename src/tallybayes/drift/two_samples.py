"""Tests that two sets of rows have one distribution, from their sums alone, and how far apart they are.

The distance is always the total variation: the least share of rows that would need another value for both sets to
agree, from 0 (alike) to 1 (nothing in common).

Notation: n, m are the weights of the rows of the first and the second set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # which imports scipy.stats when it is first used: it is slow, and a server may never need it

from tallybayes.events.inputs import Floats
from tallybayes.structure.dependence_test import chi_squared

__all__ = [
    "TwoSampleTest",
    "compare_counts",
    "compare_normals",
    "compare_rates",
    "compare_shares",
    "compare_waits",
    "join",
]

# The mean distance of two normal distributions estimated from 1/n + 1/m = 1; for one parameter it is 1/π.
_NORMAL_CHANCE = 0.4543
_ALIKE = 1e-12  # parameters closer than this, relative to their size, differ by rounding only


class TwoSampleTest(NamedTuple):
    """The p-value of "no change", the distance, and the distance that chance alone gives on average."""

    p: float
    distance: float
    chance: float


def compare_counts(first: Floats, second: Floats) -> TwoSampleTest:
    """Compare the counts of values, (V,) each, by Pearson's χ².

    The p-value is that of rows shuffled between both sets, so it holds for rare values and many of them.

    Examples
    --------
    >>> found = compare_counts(np.array([60.0, 40.0]), np.array([30.0, 70.0]))
    >>> round(found.distance, 2), round(found.chance, 3), f"{found.p:.0e}"
    (0.3, 0.056, '2e-05')
    """
    tables = np.stack([first, second])[None, None]
    n, m = first.sum(), second.sum()
    distance = float(np.abs(first / n - second / m).sum() / 2)
    return TwoSampleTest(float(chi_squared(tables).p[0]), distance, _mean_distance(first + second, n, m))


def _mean_distance(both: Floats, n: float, m: float) -> float:
    """Return the mean distance of counts whose sums are given, over all ways to shuffle rows between the sets.

    Notes
    -----
    A count k of both sets splits about binomially, with q = m / (n + m) going to the second. De Moivre's mean absolute
    deviation of a binomial is 2 ν (1 − q) P(ν), ν the least whole number above k q; drawing without replacement narrows
    it by √(1 − k / (n + m)).
    """
    q, k = m / (n + m), np.rint(both)
    above = np.floor(k * q) + 1
    deviation = 2 * above * (1 - q) * scipy.stats.binom.pmf(above, k, q) * np.sqrt(np.maximum(0.0, 1 - both / (n + m)))
    return float(deviation.sum() * (1 / n + 1 / m) / 2)


def compare_shares(first: Floats, second: Floats, n: float, m: float) -> Floats:  # (V,)
    """Return the p-value of each share alone, where `first` of n rows and `second` of m rows have something.

    Fisher's exact test, both sides; weights are rounded to whole rows.

    Examples
    --------
    >>> compare_shares(np.array([3.0, 30.0]), np.array([3.0, 60.0]), 100, 100).round(6).tolist()
    [1.0, 3.3e-05]
    """
    drawn, whole = np.rint(second), round(n) + round(m)
    law = scipy.stats.hypergeom(whole, np.rint(first) + drawn, round(m))
    return np.asarray(np.minimum(1.0, 2 * np.minimum(law.cdf(drawn), law.sf(drawn - 1))))


def compare_normals(first: tuple[float, float, float], second: tuple[float, float, float]) -> TwoSampleTest:
    """Compare two normal distributions, given as weight, mean and sum of squared deviations.

    Notes
    -----
    The likelihood ratio of equal mean and variance (Pearson and Neyman 1930), as χ² with two degrees of freedom.

    Examples
    --------
    >>> same, moved = compare_normals((99, 0, 99), (99, 0, 99)), compare_normals((99, 0, 99), (99, 1, 99))
    >>> same.p, round(same.distance, 3), f"{moved.p:.0e}", round(moved.distance, 3)
    (1.0, 0.0, '3e-10', 0.383)
    """
    (n, mean, m2), (m, other, l2) = first, second
    both = m2 + l2 + (mean - other) ** 2 * n * m / (n + m)
    with np.errstate(divide="ignore"):
        logs = (n + m) * np.log(both / (n + m)), n * np.log(m2 / n), m * np.log(l2 / m)
    ratio = 0.0 if both == 0 else max(0.0, float(logs[0] - logs[1] - logs[2]))
    chance = 0.0 if both == 0 else float(_NORMAL_CHANCE * np.sqrt(1 / n + 1 / m))
    distance = _normal_distance(mean, np.sqrt(m2 / n), other, np.sqrt(l2 / m))
    return TwoSampleTest(float(scipy.stats.chi2.sf(ratio, 2)), distance, chance)


def _normal_distance(a: float, s: float, b: float, t: float) -> float:
    """Return the total variation between normal distributions of means a, b and standard deviations s, t."""
    if abs(a - b) <= _ALIKE * (s + t) and abs(s - t) <= _ALIKE * (s + t):
        return 0.0
    if min(s, t) == 0:
        return 1.0
    # The densities cross where a quadratic is 0; nearly equal deviations leave one crossing, half way.
    square, middle = 1 / s**2 - 1 / t**2, b / t**2 - a / s**2
    constant = (a / s) ** 2 - (b / t) ** 2 + 2 * np.log(s / t)
    if abs(s - t) <= 1e-6 * (s + t):
        crossings = np.array([(a + b) / 2])
    else:
        root = np.sqrt(max(0.0, middle**2 - square * constant))
        crossings = np.array([-middle - root, -middle + root]) / square
    inside = np.diff(np.concatenate([[0.0], _gap(crossings, a, s, b, t), [0.0]]))
    return float(np.abs(inside).sum() / 2)


def _gap(x: Floats, a: float, s: float, b: float, t: float) -> Floats:
    """Return the difference of both cumulative distributions, at rising x."""
    x = np.sort(x)
    return np.asarray(scipy.stats.norm.cdf(x, a, s) - scipy.stats.norm.cdf(x, b, t))


def compare_rates(first: tuple[float, float], second: tuple[float, float]) -> TwoSampleTest:
    """Compare two Poisson rates, given as weight of rows and sum of their counts.

    Given the sum of all counts, that of the second set is binomial: the p-value is exact.

    Examples
    --------
    >>> found = compare_rates((100, 200), (100, 300))
    >>> f"{found.p:.0e}", round(found.distance, 3)
    ('9e-06', 0.253)
    """
    (n, events), (m, others) = first, second
    law = scipy.stats.binom(round(events) + round(others), m / (n + m))
    p = min(1.0, 2 * float(min(law.cdf(round(others)), law.sf(round(others) - 1))))
    rates, total = (events / n, others / m), (events + others) / (n + m)
    chance = 0.0 if total == 0 else float(np.sqrt(1 / n + 1 / m) / np.pi)
    if _are_alike(*rates):
        return TwoSampleTest(p, 0.0, chance)
    crossing = np.floor((rates[1] - rates[0]) / np.log(rates[1] / rates[0])) if min(rates) > 0 else 0.0
    return TwoSampleTest(p, float(abs(np.subtract(*scipy.stats.poisson.cdf(crossing, rates)))), chance)


def compare_waits(first: tuple[float, float], second: tuple[float, float]) -> TwoSampleTest:
    """Compare two exponential distributions, given as weight of rows and sum of their values.

    The ratio of both means has an F distribution: the p-value is exact.

    Examples
    --------
    >>> found = compare_waits((100, 200), (100, 300))
    >>> round(found.p, 4), round(found.distance, 3)
    (0.0043, 0.148)
    """
    (n, total), (m, other) = first, second
    means = total / n, other / m
    chance = float(np.sqrt((1 / n + 1 / m) * 2 / np.pi) / np.e)
    if _are_alike(*means):
        return TwoSampleTest(1.0, 0.0, chance)
    if min(means) == 0:
        return TwoSampleTest(0.0, 1.0, chance)
    law = scipy.stats.f(2 * m, 2 * n)
    p = min(1.0, 2 * float(min(law.cdf(means[1] / means[0]), law.sf(means[1] / means[0]))))
    crossing = np.log(means[1] / means[0]) / (1 / means[0] - 1 / means[1])
    return TwoSampleTest(p, float(abs(np.exp(-crossing / means[0]) - np.exp(-crossing / means[1]))), chance)


def _are_alike(one: float, other: float) -> bool:
    return abs(one - other) <= _ALIKE * (abs(one) + abs(other))


def join(p: Floats) -> float:
    """Return one p-value of several tests: the least of Benjamini and Hochberg's (Simes 1986).

    Examples
    --------
    >>> join(np.array([0.01, 0.5])), join(np.array([0.03]))
    (0.02, 0.03)
    """
    return float(scipy.stats.false_discovery_control(p).min())
