"""The fitted temperature equals a general optimiser's, and never changes a decision."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp

from tallybayes import kernels
from tallybayes.inference import temperature
from tallybayes.inference.posterior import Temperature
from tallybayes.inference.temperature import fit_temper, losses

LOG_A, B = 0, 1


def rows(seed: int, *, n: int = 60, sizes: str = "varying", impossible: bool = False, weighted: bool = False) -> Any:
    """Return overconfident scores, classes, sizes and weights."""
    rng = np.random.default_rng(seed)
    C = int(rng.integers(2, 5))
    classes = rng.integers(0, C, n)
    L = rng.integers(0 if sizes == "some nothing" else 1, 50, n).astype(float)
    if sizes == "constant":
        L[:] = 7.0
    scores = rng.normal(0, 1, (n, C)) * np.sqrt(L + 1)[:, None]
    scores[np.arange(n), classes] += 0.3 * np.sqrt(L)
    if impossible:
        other = (classes + 1) % C
        scores[np.arange(0, n, 3), other[::3]] = -np.inf
    return scores, classes, L, rng.choice([0.0, 0.5, 1.0, 3.0], n) if weighted else None


def objective(at: Any, scores: Any, classes: Any, sizes: Any, weights: Any) -> float:
    """Return the objective: losses, and the prior of log t at the mean size and of b."""
    w = np.ones(len(scores)) if weights is None else weights
    logs, heard = np.log(sizes + 1), sizes > 0
    centre = np.average(logs[heard], weights=w[heard])
    b = at[B] if np.ptp(logs[heard]) > 0 else 0.0
    t = np.where(sizes > 0, np.exp(at[LOG_A] + b * (logs - centre)), 1.0)
    tempered = t[:, None] * scores
    loss = logsumexp(tempered, axis=1) - tempered[np.arange(len(scores)), classes]
    least = temperature._PRIOR + temperature._PRIOR_OF_FEW / max(float(w[sizes > 0].sum()), 1.0)
    drawn = max(temperature._PRIOR_ABOVE, least) if at[LOG_A] > 0 else least
    return float((w * loss).sum() + 0.5 * (drawn * at[LOG_A] ** 2 + least * b**2))


def centred(temperature: Temperature, sizes: Any, weights: Any) -> Any:
    """Return log t at the mean size, and b."""
    heard = sizes > 0
    centre = np.average(np.log(sizes[heard] + 1), weights=None if weights is None else weights[heard])
    return np.array([np.log(temperature.a) + temperature.b * centre, temperature.b])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sizes", ["varying", "constant", "some nothing"])
@pytest.mark.parametrize("impossible", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_temperature_is_the_one_that_a_general_optimiser_finds(
    seed: int, sizes: str, impossible: bool, weighted: bool
) -> None:
    given = rows(seed, sizes=sizes, impossible=impossible, weighted=weighted)
    found = centred(fit_temper(*given).temperature, given[2], given[3])
    best = minimize(objective, np.zeros(2), given, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert objective(found, *given) <= best.fun + 1e-8
    np.testing.assert_allclose(found, best.x if sizes != "constant" else [best.x[LOG_A], 0.0], atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sizes", ["varying", "constant", "some nothing"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_search_that_begins_with_some_of_the_rows_ends_at_the_same_place(
    seed: int, sizes: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = rows(seed, n=400, sizes=sizes, weighted=weighted)
    plain = fit_temper(*given)
    monkeypatch.setattr(temperature, "_MANY", 50)
    begun = fit_temper(*given)
    np.testing.assert_allclose(
        (begun.temperature.a, begun.temperature.b), (plain.temperature.a, plain.temperature.b), rtol=1e-7
    )
    np.testing.assert_allclose(begun.losses, plain.losses, rtol=1e-6)


def test_a_search_that_cannot_see_the_loss_fall_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, classes, sizes, _ = rows(1, n=400)
    looked = []

    def counting(*given: Any) -> Any:
        looked.append(given[0])
        return kernels.temper(*given)

    monkeypatch.setattr(temperature, "kernels", SimpleNamespace(temper=counting, log1p=kernels.log1p, exp=kernels.exp))
    end = fit_temper(scores, classes, sizes, close=0.0).end  # a slope that no search reaches
    assert len(looked) < 15
    looked.clear()
    fit_temper(scores, classes, sizes, start=end, close=0.0)
    assert len(looked) <= 3


@pytest.mark.parametrize("impossible", [False, True])
def test_the_losses_given_are_those_of_tempered_scores(impossible: bool) -> None:
    scores, classes, sizes, _ = rows(3, impossible=impossible)
    temperature, found, _ = fit_temper(scores, classes, sizes)
    tempered = scores.copy()
    temperature.apply(tempered, np.zeros(scores.shape[1]), sizes)
    np.testing.assert_allclose(found, losses(tempered, classes), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 2**32), st.sampled_from(["varying", "constant", "some nothing"]), st.booleans())
def test_tempering_never_changes_which_class_is_first(seed: int, sizes: str, impossible: bool) -> None:
    scores, classes, L, _ = rows(seed, n=20, sizes=sizes, impossible=impossible)
    temperature = fit_temper(scores, classes, L).temperature
    tempered = scores.copy()
    temperature.apply(tempered, np.zeros(scores.shape[1]), L)
    np.testing.assert_array_equal(tempered.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_array_equal(np.argsort(tempered, kind="stable"), np.argsort(scores, kind="stable"))


@given(st.integers(0, 2**32))
def test_the_same_rows_give_the_same_temperature_to_the_bit(seed: int) -> None:
    given = rows(seed, weighted=True)
    assert fit_temper(*given).temperature == fit_temper(*given).temperature


@given(st.integers(0, 2**32))
def test_the_order_of_the_rows_matters_no_more_than_rounding(seed: int) -> None:
    scores, classes, sizes, weights = rows(seed, weighted=True)
    order = np.random.default_rng(seed).permutation(len(scores))
    one = fit_temper(scores, classes, sizes, weights).temperature
    other = fit_temper(scores[order], classes[order], sizes[order], weights[order]).temperature
    assert (one.a, one.b) == pytest.approx((other.a, other.b), rel=1e-6, abs=1e-6)


@given(st.integers(0, 2**32))
def test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row(seed: int) -> None:
    scores, classes, sizes, _ = rows(seed)
    times = np.random.default_rng(seed).integers(0, 4, len(scores))
    weighted = fit_temper(scores, classes, sizes, times.astype(float)).temperature
    each = np.repeat(np.arange(len(scores)), times)
    repeated = fit_temper(scores[each], classes[each], sizes[each]).temperature
    assert (weighted.a, weighted.b) == pytest.approx((repeated.a, repeated.b), rel=1e-6, abs=1e-6)


def test_scores_that_are_right_are_left_nearly_as_they_are() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 20_000)
    classes = (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1)
    temperature = fit_temper(np.log(p), classes, np.full(len(p), 4.0)).temperature
    assert temperature.a == pytest.approx(1.0, abs=0.03)


def test_a_few_rows_that_are_all_right_do_not_make_it_sure() -> None:
    scores = np.log([[0.9, 0.1]] * 5)
    temperature = fit_temper(scores, np.zeros(5, int), np.ones(5)).temperature
    assert 1 < temperature.a < 3


def test_a_row_without_values_keeps_the_prior() -> None:
    scores = np.log([[0.7, 0.3], [0.7, 0.3]])
    Temperature(0.5, 0.3).apply(scores, np.log([0.7, 0.3]), np.array([0.0, 3.0]))
    np.testing.assert_allclose(scores, np.log([[0.7, 0.3]]) * np.array([[1.0], [0.5 * 4**0.3]]))
