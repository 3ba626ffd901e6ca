"""Leave-one-out of bags equals counting all other rows, whatever smoothing, blocks and gaps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tallybayes import kernels
from tallybayes.events import parse
from tallybayes.events.event import Event
from tallybayes.events.families import bag_rows
from tallybayes.events.inputs import Dense, Sparse
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.statistic import Statistic
from tallybayes.exact.array import Exact

C, N, F = 3, 40, 25
RNG = np.random.default_rng(7)
CLASSES = np.arange(N, dtype=np.int32) % C
COUNTS = RNG.poisson(0.5, (N, F)) * np.where(RNG.random((N, F)) < 0.2, 0.3, 1.0)
WEIGHTS = {"plain": None, "weighted": RNG.choice([0.1, 0.5, 1.0, 2.5], N)}
ALPHAS = {"one": np.full(F, 0.5), "per column": RNG.choice([0.1, 1.0, 3.0], F)}
EVENTS = ("multinomial", "complement", "bernoulli(threshold=0)")


def sparse(x: np.ndarray) -> Sparse:
    rows = csr_array(x)
    return Sparse(rows.indptr, rows.indices, rows.data, F)


def statistic(event: Event, data: Sparse | Dense, classes: np.ndarray, weights: np.ndarray | None) -> Statistic:
    sums, labels = event.count(data, classes, C, weights)
    ones = kernels.power_sums(np.ones((len(classes), 1)), classes, C, order=1, weights=weights).first
    return Statistic(Exact.from_limbs(ones).reshape((C,)), sums, event.sums, labels)


def left_out(event: Event, whole: Statistic, weights: np.ndarray | None, alpha: np.ndarray) -> np.ndarray:
    out = np.zeros((N, C))
    event.without_rows(whole, sparse(COUNTS), CLASSES, weights).add(EstimateOptions("bayes", alpha), out)
    return out


every_case = pytest.mark.parametrize(
    ("name", "weighted", "smoothing"), [(e, w, a) for e in EVENTS for w in WEIGHTS for a in ALPHAS]
)


@every_case
def test_a_row_left_out_is_scored_by_all_the_others(name: str, weighted: str, smoothing: str) -> None:
    event, weights, alpha = parse(name), WEIGHTS[weighted], ALPHAS[smoothing]
    got = left_out(event, statistic(event, sparse(COUNTS), CLASSES, weights), weights, alpha)
    for i in range(N):
        others = np.arange(N) != i
        rest = statistic(event, sparse(COUNTS[others]), CLASSES[others], None if weights is None else weights[others])
        want = np.zeros((1, C))
        event.estimate(rest, EstimateOptions("bayes", alpha)).add_log_prob(sparse(COUNTS[i : i + 1]), want)
        np.testing.assert_allclose(got[i], want[0], rtol=1e-9, atol=1e-9)


@every_case
def test_the_blocks_do_not_matter(name: str, weighted: str, smoothing: str, monkeypatch) -> None:
    event, weights, alpha = parse(name), WEIGHTS[weighted], ALPHAS[smoothing]
    whole = statistic(event, sparse(COUNTS), CLASSES, weights)
    want = left_out(event, whole, weights, alpha)
    monkeypatch.setattr(bag_rows, "_MAX_CELLS", 100)
    monkeypatch.setattr(bag_rows, "_MAX_KEPT", 0)
    np.testing.assert_allclose(left_out(event, whole, weights, alpha), want, rtol=1e-12)


@pytest.mark.parametrize("smoothing", ALPHAS)
def test_sparse_rows_may_follow_dense_ones_with_gaps(smoothing: str) -> None:
    event, alpha = parse("bernoulli(threshold=0)"), ALPHAS[smoothing]
    gaps = Dense(np.where(RNG.random((N, F)) < 0.3, np.nan, COUNTS))
    before = statistic(event, gaps, CLASSES, None)
    whole = statistic(event, sparse(COUNTS), CLASSES, None)
    got = left_out(event, whole.add(before, whole.rows + before.rows), None, alpha)
    for i in range(N):
        others = np.arange(N) != i
        rest = statistic(event, sparse(COUNTS[others]), CLASSES[others], None)
        rest = rest.add(before, rest.rows + before.rows)
        want = np.zeros((1, C))
        event.estimate(rest, EstimateOptions("bayes", alpha)).add_log_prob(sparse(COUNTS[i : i + 1]), want)
        np.testing.assert_allclose(got[i], want[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", EVENTS)
def test_no_rows_and_rows_without_entries_are_scored(name: str) -> None:
    event = parse(name)
    whole = statistic(event, sparse(COUNTS * 0), CLASSES, None)
    out = np.zeros((N, C))
    options = EstimateOptions("bayes", np.ones(F))
    event.without_rows(whole, sparse(COUNTS * 0), CLASSES, None).add(options, out)
    assert np.isfinite(out).all()
    none = np.zeros((0, C))
    event.without_rows(whole, sparse(COUNTS[:0]), CLASSES[:0], None).add(options, none)
