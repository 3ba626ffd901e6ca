"""Distances agree with direct integration or summation, and their mean by chance with simulation."""

import numpy as np
import pytest
from scipy import integrate, stats

from tallybayes.drift import two_samples


@pytest.mark.parametrize(
    ("a", "s", "b", "t"),
    [(0, 1, 1, 1), (0, 1, 0, 2), (5, 0.1, 5.2, 0.3), (-3, 2, 4, 2.0000001), (1e6, 3, 1e6 + 1, 4), (0, 1, 50, 1)],
)
def test_the_distance_of_normals_is_half_the_integral_of_their_difference(
    a: float, s: float, b: float, t: float
) -> None:
    found = two_samples.compare_normals((1000, a, 1000 * s**2), (500, b, 500 * t**2)).distance
    grid = np.unique(np.concatenate([np.linspace(m - 12 * d, m + 12 * d, 200_001) for m, d in ((a, s), (b, t))]))
    gaps = np.abs(stats.norm.pdf(grid, a, s) - stats.norm.pdf(grid, b, t))
    assert found == pytest.approx(integrate.trapezoid(gaps, grid) / 2, abs=1e-5)


@pytest.mark.parametrize(("one", "other"), [(0.5, 3.0), (2.0, 2.5), (0.0, 1.0), (40.0, 20.0), (7.0, 7.0)])
def test_the_distance_of_rates_is_half_the_sum_of_their_difference(one: float, other: float) -> None:
    found = two_samples.compare_rates((100, 100 * one), (50, 50 * other)).distance
    at = np.arange(400)
    assert found == pytest.approx(np.abs(stats.poisson.pmf(at, one) - stats.poisson.pmf(at, other)).sum() / 2)


@pytest.mark.parametrize(("one", "other"), [(1.0, 3.0), (2.0, 2.5), (10.0, 0.1)])
def test_the_distance_of_waits_is_half_the_integral_of_their_difference(one: float, other: float) -> None:
    found = two_samples.compare_waits((100, 100 * one), (50, 50 * other)).distance
    whole = integrate.quad(
        lambda x: abs(stats.expon.pdf(x, scale=one) - stats.expon.pdf(x, scale=other)), 0, 300, limit=2000
    )[0]
    assert found == pytest.approx(whole / 2, abs=1e-6)


@pytest.mark.parametrize("values", [2, 30, 3000])
def test_the_distance_by_chance_is_its_mean_over_shuffled_rows(values: int) -> None:
    rng = np.random.default_rng(values)
    rows = rng.zipf(1.5, 1200) % values if values > 2 else rng.random(1200) < 0.2
    found = []
    for _ in range(1500):
        rng.shuffle(rows)
        counts = [np.bincount(part.astype(int), minlength=values).astype(float) for part in np.split(rows, [800])]
        found.append(two_samples.compare_counts(counts[0], counts[1]))
    assert np.mean([one.distance for one in found]) == pytest.approx(found[0].chance, rel=0.07)


def test_shares_are_tested_exactly() -> None:
    first, second = np.array([0.0, 3, 50, 99]), np.array([5.0, 0, 20, 40])
    found = two_samples.compare_shares(first, second, 100, 40)
    for p, a, b in zip(found, first, second, strict=True):
        sides = [stats.fisher_exact([[a, 100 - a], [b, 40 - b]], alternative=one).pvalue for one in ("less", "greater")]
        assert p == pytest.approx(min(1.0, 2 * min(sides)))


def test_constant_columns_are_alike_or_apart() -> None:
    assert two_samples.compare_normals((50, 3.0, 0.0), (40, 3.0, 0.0))[:2] == (1.0, 0.0)
    assert two_samples.compare_normals((50, 3.0, 0.0), (40, 4.0, 0.0))[:2] == (0.0, 1.0)
    assert two_samples.compare_rates((50, 0.0), (40, 0.0))[:2] == (1.0, 0.0)
    assert two_samples.compare_waits((50, 0.0), (40, 0.0))[:2] == (1.0, 0.0)
    assert two_samples.compare_waits((50, 0.0), (40, 9.0))[:2] == (0.0, 1.0)
