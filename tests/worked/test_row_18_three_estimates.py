"""Row 18: the most likely, the most probable and the average, for every event model; exponential λ = N / Σx."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tallybayes as tb
from tallybayes.events import registered
from tallybayes.events.inputs import Dense

WAITS = {"x": [1.0, 3.0, 2.0, 10.0, 20.0], "y": list("aaabb")}


def log_prob(model: tb.Model, values: list[float]) -> np.ndarray:
    return model.belief.likelihoods[0].log_prob(Dense(np.array(values)[:, None]))


def test_the_exponential_rate_is_n_over_the_sum() -> None:
    model = tb.fit(WAITS, "y", events="exponential", estimate="mle")
    assert model.table("x").values[0].tolist() == [3 / 6, 2 / 30]
    expected = stats.expon.logpdf(4.0, scale=[2.0, 15.0])
    np.testing.assert_allclose(log_prob(model, [4.0])[0], expected, rtol=1e-14)


def test_the_exponential_prior_is_alpha_waits_of_the_overall_mean() -> None:
    mean = 36 / 5
    model = tb.fit(WAITS, "y", events="exponential", estimate="map", alpha=2.0)
    np.testing.assert_allclose(model.table("x").values[0], [5 / (6 + 2 * mean), 4 / (30 + 2 * mean)], rtol=1e-14)


def test_averaging_the_exponential_rate_gives_lomax() -> None:
    mean = 36 / 5
    model = tb.fit(WAITS, "y", events="exponential", alpha=2.0)
    expected = stats.lomax.logpdf(4.0, [5, 4], scale=[6 + 2 * mean, 30 + 2 * mean])
    np.testing.assert_allclose(log_prob(model, [4.0])[0], expected, rtol=1e-13)


def test_averaging_the_poisson_rate_gives_the_negative_binomial() -> None:
    rows = {"x": [0, 2, 1, 5, 7], "y": list("aaabb")}
    rate = 15.5 / 6
    model = tb.fit(rows, "y", events="poisson", alpha=1.0)
    a, b = np.array([3 + rate, 12 + rate]), np.array([4.0, 3.0])
    np.testing.assert_allclose(log_prob(model, [3.0])[0], stats.nbinom.logpmf(3, a, b / (b + 1)), rtol=1e-12)
    likely = tb.fit(rows, "y", events="poisson", estimate="mle")
    np.testing.assert_allclose(log_prob(likely, [3.0])[0], stats.poisson.logpmf(3, [1.0, 6.0]), rtol=1e-14)


def test_averaging_mean_and_variance_gives_students_t() -> None:
    model = tb.fit(WAITS, "y", events="gaussian", estimate="bayes", alpha=1.0)
    x = np.array(WAITS["x"])
    M, V = x.mean(), x.var()
    expected = []
    for part in (x[:3], x[3:]):
        n, mean = len(part), part.mean()
        location = (n * mean + M) / (n + 1)
        spread = ((part - mean) ** 2).sum() + n / (n + 1) * (mean - M) ** 2 + V
        scale = np.sqrt(spread / (n + 1) * (1 + 1 / (n + 1)))
        expected.append(stats.t.logpdf(4.0, n + 1, location, scale))
    np.testing.assert_allclose(log_prob(model, [4.0])[0], expected, rtol=1e-13)


def test_a_beta_prior_is_add_alpha() -> None:
    rows = {"x": [1, 1, 0, 0, 1], "y": list("aaabb")}
    for estimate in ("map", "bayes"):
        model = tb.fit(rows, "y", events="bernoulli", estimate=estimate, alpha=1.5)
        np.testing.assert_allclose(model.table("x").values[1], [3.5 / 6, 2.5 / 5], rtol=1e-15)


@pytest.mark.parametrize("name", sorted(registered()))
def test_every_event_model_has_all_three(name: str) -> None:
    words = ["pea", "quince", "pea", "pea", "quince"]
    values = words if registered()[name].input in ("codes", "text") else [1, 1, 1, 1, 1]
    for estimate in ("mle", "map", "bayes"):
        model = tb.fit({"x": values, "y": list("aaabb")}, "y", events=name, estimate=estimate)
        assert np.isfinite(model.log_joint({"x": values})).all()
