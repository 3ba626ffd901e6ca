from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import reference

FORMS = ["rows", "columns", "read-only columns", "slice", "fortran", "reversed"]


@st.composite
def dense(draw):
    """Draw a table in some form, parameters, and scores to add to."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([0, 1, 3, 4, 31, 32, 33, 100]))
    columns, n_classes = draw(st.sampled_from([0, 1, 3, 4, 5, 9, 64, 70])), draw(st.sampled_from([1, 2, 3, 10]))
    x = rng.normal(size=(n, columns)) * draw(st.sampled_from([1.0, 1e-8, 1e8]))
    if draw(st.booleans()):
        x[rng.random(x.shape) < 0.1] = np.nan
    x = x.astype(draw(st.sampled_from([np.float64, np.float32])))
    mean, scale, constant = rng.normal(size=(3, n_classes, columns))
    if draw(st.booleans()):
        x, mean = (x.astype(np.float64) + 2.0**40).astype(x.dtype), mean + 2.0**40
    return x, draw(st.sampled_from(FORMS)), mean, np.abs(scale), constant, rng.normal(size=(n, n_classes))


def rest_of(mean: np.ndarray, *, far: bool) -> np.ndarray | None:
    """Return what means have beyond a double, or nothing."""
    return mean * 1e-17 if far else None


@given(drawn=dense(), far=st.booleans())
@examples(80)
def test_gaussian(each_isa, as_table, drawn, far):
    x, form, mean, scale, constant, start = drawn
    rest = rest_of(mean, far=far)
    want = start.copy()
    missing = reference.score_gaussian(x, mean, scale, constant, want, rest=rest)
    for _ in each_isa():
        got = start.copy()
        assert kernels.score_gaussian(as_table(x, form), mean, scale, constant, got, rest=rest) == missing
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@given(
    drawn=dense(),
    powers=st.sampled_from([[0.5], [3.0], [1.0, 1.0, 2.0], [0.5, 2.5, 5e5], [1e6]]),
    spread=st.sampled_from([1.0, 1e-6, 1e10, 1e60, 1e150, 1e200]),
    far=st.booleans(),
)
@examples(150)
def test_student(each_isa, as_table, drawn, powers, spread, far):
    x, form, mean, scale, constant, start = drawn
    scale, power = scale * spread, np.resize(powers, mean.shape).astype(float)
    want, rest = start.copy(), rest_of(mean, far=far)
    reference.score_student(x, mean, scale, constant, power, want, rest=rest)
    size = np.abs(start)  # what the terms add up to without cancelling
    reference.score_student(x, mean, scale, np.abs(constant), -power, size, rest=rest)
    for _ in each_isa():
        got = start.copy()
        kernels.score_student(as_table(x, form), mean, scale, constant, power, got, rest=rest)
        assert (np.abs(got - want) <= 1e-13 * (1 + np.abs(size))).all()


@pytest.mark.parametrize("power", [(1.0, 1.0), (1.0, 2.0)])
def test_student_of_infinite_distance(each_isa, power):
    one, x = np.ones((1, 2)), np.array([[np.inf, 0.0], [1e300, -1e300], [1.0, np.nan]])
    for _ in each_isa():
        out = np.zeros((3, 1))
        kernels.score_student(x, -one, 1e5 * one, one, np.array([power]), out)
        assert out[0, 0] == -np.inf
        assert out[1, 0] == pytest.approx(2 - 2 * sum(power) * np.log(1e305), rel=1e-13)
        assert out[2, 0] == pytest.approx(1 - np.log1p(4e10), rel=1e-13)


@pytest.mark.parametrize(("score", "powers"), [("gaussian", None), ("student", [1.0]), ("student", [1.0, 2.0, 3.0])])
@pytest.mark.parametrize("spread", [1.0, 1e30, "any"])
def test_a_rows_scores_depend_on_that_row_alone(each_isa, score, powers, spread):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 70)) * (10.0 ** rng.choice([-4, 0, 100], (100, 70)) if spread == "any" else spread)
    x[rng.random(x.shape) < 0.02] = np.nan
    parameters = [*rng.normal(size=(3, 3, 70))] + ([] if powers is None else [np.resize(powers, (3, 70))])
    kernel = getattr(kernels, f"score_{score}")
    for _ in each_isa():
        together, alone = np.zeros((100, 3)), np.zeros((100, 3))
        kernel(x, *parameters, together)
        for i in range(100):
            kernel([x[i : i + 1, f] for f in range(70)], *parameters, alone[i : i + 1])
        assert (together == alone).all()


def rows_of_scores():
    score = st.one_of(st.floats(-800, 800), st.floats(-1e308, 1e308), st.just(-np.inf))
    return st.integers(1, 9).flatmap(
        lambda width: st.lists(st.lists(score, min_size=width, max_size=width), min_size=1, max_size=70)
    )


@given(rows=rows_of_scores(), odd=st.sampled_from([None, np.nan, np.inf, -np.inf]), at=st.integers(0, 1000))
@examples(150)
def test_best_class(each_isa, rows, odd, at):
    check_best_class(each_isa, np.array(rows), odd, at)


@given(
    seed=st.integers(0, 1 << 30),
    classes=st.integers(14, 70),
    odd=st.sampled_from([None, np.nan, np.inf, -np.inf]),
    at=st.integers(0, 1000),
)
@examples(150)
def test_best_of_many_classes(each_isa, seed, classes, odd, at):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 3, (5, classes)) / 2.0  # with many ties
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    check_best_class(
        each_isa, np.concatenate([scores, np.full((1, classes), -np.inf), np.zeros((1, classes))]), odd, at
    )


def check_best_class(each_isa, scores, odd, at):
    scores.flat[at % scores.size] = scores.max() if odd is None else odd  # a tie, or a score that is no answer
    want = np.empty(len(scores), np.int64)
    finite = reference.best_class(scores, want)
    for _ in each_isa():
        got = np.full(len(scores), -1)
        assert kernels.best_class(scores, got) == finite
        possible = np.isfinite(scores.max(axis=1))
        assert (got[possible] == want[possible]).all()
        assert ((got >= 0) & (got < scores.shape[1])).all()


def test_best_class_of_no_classes_is_refused():
    with pytest.raises(ValueError, match="at least one class"):
        kernels.best_class(np.zeros((2, 0)), np.zeros(2, np.int64))


@given(rows=rows_of_scores())
@examples(150)
def test_softmax(each_isa, rows):
    scores = np.array(rows)
    want, want_log = scores.copy(), scores.copy()
    want_norm = reference.softmax(want)
    reference.log_softmax(want_log)
    for _ in each_isa():
        got, out = scores.copy(), np.empty_like(scores)
        norm = kernels.softmax(got)
        np.testing.assert_allclose(norm, want_norm, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-322)
        assert (kernels.softmax(scores, out) == norm).all()
        assert (out == got).all()
        got = scores.copy()
        assert (kernels.log_softmax(got) == norm).all()
        np.testing.assert_allclose(got, want_log, rtol=1e-13, atol=1e-14)
        assert (kernels.log_norm(scores) == norm).all()
        np.testing.assert_allclose(norm, reference.log_norm(scores), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 5000)])
def test_softmax_of_odd_shapes(each_isa, shape):
    for _ in each_isa():
        scores = np.zeros(shape)
        norm = kernels.softmax(scores)
        assert norm.shape == shape[:1]
        if shape[1] == 0:
            assert (norm == -np.inf).all()
        else:
            np.testing.assert_allclose(scores, 1 / shape[1])


@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 10, 32, 33])
def test_softmax_of_a_row_does_not_depend_on_its_neighbours(each_isa, classes):
    rng = np.random.default_rng(classes)
    scores = rng.normal(size=(11, classes)) * np.array([1e-3, 1, 30, 300, 800, 1e4, 1, 1, 1, 1, 1])[:, None]
    scores[6], scores[7, 0], scores[8, -1], scores[9, 0] = -np.inf, -np.inf, np.nan, np.inf
    scores = np.concatenate([scores, scores[::-1], scores])  # 33 rows: sixteen at a time, four at a time, and one
    for _ in each_isa():
        for normalise in (kernels.softmax, kernels.log_softmax):
            together, alone = scores.copy(), scores.copy()
            norm = normalise(together)
            one_by_one = [normalise(row) for row in alone[:, None]]
            np.testing.assert_array_equal(norm, np.concatenate(one_by_one))
            np.testing.assert_array_equal(together, alone)


def test_softmax_of_not_a_number_is_not_a_number(each_isa):
    for _ in each_isa():
        for bad in (np.nan, np.inf):
            scores = np.array([[0.0, bad, 1.0], [0.0, 0.0, 0.0]])
            norm = kernels.softmax(scores)
            assert np.isnan(norm[0])
            assert np.isnan(scores[0]).all()
            assert norm[1] == pytest.approx(np.log(3))


def test_exponential_and_logarithm_are_good_to_two_units_in_the_last_place(each_isa):
    x = np.linspace(0, 700, 200_001)
    for _ in each_isa():
        scores = np.stack([np.zeros_like(x), -x], 1)
        kernels.softmax(scores)
        ratio = scores[:, 1] / scores[:, 0]
        assert (np.abs(ratio / np.exp(-x) - 1) < 8e-16).all()
        u = np.exp(np.linspace(-40, 200, 100_001))
        out = np.zeros((len(u), 1))
        one = np.ones((1, 1))
        kernels.score_student(np.sqrt(u)[:, None], 0 * one, one, 0 * one, one, out)
        assert (np.abs(-out[:, 0] / np.log1p(np.sqrt(u) ** 2) - 1) < 8e-16).all()
