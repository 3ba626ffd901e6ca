"""A row left out is a row never learned, however far a column's values are from zero: also against 60 digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb

from .test_belief import refitted_without_each

N = 12
# Of log-densities of a few nats. docs/trust.md says so.
CLOSE = 1e-9


def far(event: str, ratio: float, *, apart: float = 1.0) -> pa.Table:
    """Return rows of two classes, whose mean (of the logarithm, for a lognormal) is `ratio` standard deviations."""
    rng = np.random.default_rng(int(math.log10(ratio)))
    y = np.arange(N) % 2
    x = ratio + apart * y + rng.normal(size=N)
    if event == "lognormal":
        x = np.exp(x * min(1.0, 500 / (ratio + apart)))  # of 500 at most, so that exp does not overflow
    weights = np.tile([1.5, 0.5, 1.0], N // 3)
    return pa.table({"c0": x, "w": weights, "label": np.array(["a", "b"])[y]})


def fit(table: pa.Table, event: str, estimate: str, *, weighted: bool) -> tb.Model:
    weights = "w" if weighted else None
    return tb.fit(table, "label", events=event, weights=weights, estimate=estimate, alpha=1.0, calibrate=None)


def contrast(scores: Any) -> Any:
    """Return log-odds against the most probable class: what the classes share may have any size."""
    return scores - scores.max(axis=-1, keepdims=True)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("estimate", ["bayes", "map", "mle"])
@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("event", ["gaussian", "lognormal", "histogram"])
def test_leaving_out_is_refitting(event: str, ratio: float, estimate: str, weighted: bool) -> None:
    table = far(event, ratio)
    if not weighted:
        table = table.drop_columns(["w"])
    model = fit(table, event, estimate, weighted=weighted)
    wanted = refitted_without_each(table, model, tb.events.parse(event), estimate=estimate)
    np.testing.assert_allclose(contrast(model.leave_one_out(table)), contrast(wanted), rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("apart", [1.0, 1e3])
@pytest.mark.parametrize("estimate", ["bayes", "mle"])
@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("event", ["gaussian", "lognormal"])
def test_both_are_right_to_nine_digits(event: str, ratio: float, estimate: str, apart: float) -> None:
    table = far(event, ratio, apart=apart).drop_columns(["w"])
    values, labels = table["c0"].to_numpy(), table["label"].to_numpy()
    x = np.log(values) if event == "lognormal" else values
    model = fit(table, event, estimate, weighted=False)
    left_out, learner = model.leave_one_out(table), tb.Learner.of(model)
    for i in range(N):
        one, others = table.slice(i, 1), np.arange(N) != i
        row, label = {"c0": float(values[i])}, labels[i]
        want = exact_log_odds(x[others], labels[others], float(x[i]), estimate)
        refitted = fit(table.filter(others), event, estimate, weighted=False)
        for got in (refitted.log_joint(one)[0], left_out[i]):
            assert contrast(got) == pytest.approx(want, rel=CLOSE, abs=CLOSE)
        learner.forget(row, label)
        assert learner.predict_proba(row) == pytest.approx(np.exp(want) / np.exp(want).sum(), rel=CLOSE, abs=CLOSE)
        learner.learn(row, label)
        terms = refitted.contributions(one, of="a", against="b")
        assert (terms.prior + terms.terms.sum(axis=-1)).item() == pytest.approx(want[0] - want[1], rel=CLOSE, abs=CLOSE)


def exact_log_odds(x: Any, y: Any, at: float, estimate: str) -> Any:
    """Return the log-odds of a value against the most probable class, computed with 60 digits."""
    values = [Fraction(float(one)) for one in x]
    M, M2 = moments(values)
    found = []
    for name in ("a", "b"):
        own = [one for one, of in zip(values, y, strict=True) if of == name]
        mean, m2 = moments(own)
        n, alpha = len(own), 0 if estimate == "mle" else 1
        weight = Fraction(n + alpha)
        location = mean - (mean - M) * alpha / weight
        spread = m2 + n * Fraction(alpha) / weight * (mean - M) ** 2 + alpha * M2 / len(values)
        with localcontext() as context:
            context.prec = 60
            scale2 = decimal(spread / weight * (1 + 1 / weight if alpha else 1))
            square = decimal((Fraction(at) - location) ** 2) / scale2
            prior = (Decimal(n) / len(values)).ln()
            if alpha:
                freedom = n + alpha
                constant = Decimal(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
                constant -= (Decimal(math.pi) * freedom).ln() / 2
                density = constant - Decimal(freedom + 1) / 2 * (1 + square / freedom).ln()
            else:
                density = -square / 2 - Decimal(2 * math.pi).ln() / 2
            found.append(prior + density - scale2.ln() / 2)
    return np.array([float(one - max(found)) for one in found])


def moments(values: list[Fraction]) -> tuple[Fraction, Fraction]:
    mean = sum(values) / len(values)
    return mean, sum((one - mean) ** 2 for one in values)


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
