from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tallybayes.kernels import Coefficients
from tests.examples import examples

from . import reference


@st.composite
def counted(draw):
    """Draw a table, its classes, the moments of both, and coefficients."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, F, C = draw(st.sampled_from([1, 2, 5, 16, 17, 40, 100])), draw(st.sampled_from([1, 3, 4, 33])), 3
    spread, centre = draw(st.sampled_from([1.0, 1e-40, 1e40, 1e100])), draw(st.sampled_from([0.0, 10.0, 1e9]))
    x = rng.normal(size=(n, F)) * spread + centre
    if draw(st.booleans()):
        x[rng.random(x.shape) < 0.2] = np.nan
    if draw(st.booleans()):
        x[:, 0] = 3.0
    far = draw(st.sampled_from([None, 1e6, centre + 10 * spread, centre + 1000 * spread]))
    if far is not None:
        x[0] = far
    classes = rng.integers(0, C, n).astype(np.int32)
    moments, whole = np.zeros((4, C, F)), np.zeros((4, F))
    for f in range(F):
        for c in range(C):
            moments[:, c, f] = _moments(x[classes == c, f])
        whole[:, f] = _moments(x[:, f])
    sizes = draw(st.sampled_from([[3.0], [3.0, 3.0, 5.0], [1e6]]))
    full, less = (
        Coefficients(*rng.uniform(0.01, 1, (4, C, F)), np.resize(sizes, (C, F)).astype(float), rng.normal(size=(C, F)))
        for _ in range(2)
    )
    step = draw(st.sampled_from([None, 1, 2]))
    if step is not None:  # no prior, in all or in every second column
        for part in (full.pull, full.between, full.whole, less.pull, less.between, less.whole):
            part[:, ::step] = 0.0
    return x, classes, moments, whole, full, less


def _moments(values):
    values = values[~np.isnan(values)]
    if not len(values) or (values == values[0]).all():
        return len(values), values[0] if len(values) else 0.0, 0.0, 0.0
    mean = values.mean()
    rest = float(sum(map(Fraction, values)) / len(values) - Fraction(mean))
    return len(values), mean, ((values - mean - rest) ** 2).sum(), rest


@pytest.mark.parametrize("student", [False, True])
@given(drawn=counted(), form=st.sampled_from(["rows", "columns", "slice", "fortran"]))
@examples(60)
def test_rows_are_taken_out(each_isa, as_table, student, drawn, form):
    x, *parameters = drawn
    want = np.ones((len(x), 3))
    lost = reference.leave_dense(x, *parameters, want, floor=1e-9, student=student)
    for _ in each_isa():
        got = np.ones((len(x), 3))
        cells = kernels.leave_dense(as_table(x, form), *parameters, got, floor=1e-9, student=student)
        assert {tuple(cell) for cell in cells} == {tuple(cell) for cell in lost}
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("student", [False, True])
@given(drawn=counted(), form=st.sampled_from(["rows", "columns", "slice", "fortran"]))
@examples(30)
def test_columns_are_kept_apart(each_isa, as_table, student, drawn, form):
    x, classes, moments, whole, full, less = drawn
    n, F = x.shape
    for _ in each_isa():
        got, wanted = np.ones((F, n, 3)), np.ones((F, n, 3))
        cells = kernels.leave_dense(as_table(x, form), *drawn[1:], got, floor=1e-9, student=student)
        lost = []
        for f in range(F):
            at = slice(f, f + 1)
            parts = (Coefficients(*(part[:, at].copy() for part in each)) for each in (full, less))
            given = x[:, at], classes, moments[:, :, at].copy(), whole[:, at].copy(), *parts
            lost += [(i, f) for i, _ in kernels.leave_dense(*given, wanted[f], floor=1e-9, student=student)]
        np.testing.assert_array_equal(got, wanted)
        assert sorted(map(tuple, cells)) == sorted(lost)


@pytest.mark.parametrize(("student", "prior"), [(False, 0.5), (False, 0.0), (True, 0.5)])
def test_a_rows_scores_depend_on_that_row_alone(each_isa, student, prior):
    rng = np.random.default_rng(0)
    x, classes = rng.normal(size=(300, 40)), rng.integers(0, 3, 300).astype(np.int32)
    moments = np.stack([np.full((3, 40), 100.0), rng.normal(size=(3, 40)), np.full((3, 40), 90.0), np.zeros((3, 40))])
    whole = np.stack([np.full(40, 300.0), np.zeros(40), np.full(40, 300.0), np.full(40, 1e-20)])
    x[5, 3], x[7, 2], x[7, 35], x[100, 1] = np.nan, 8.0, -12.0, 1e9  # neighbours of others
    half = Coefficients(*np.full((6, 3, 40), 0.5))
    half = half._replace(pull=prior * half.pull, between=prior * half.between, whole=prior * half.whole)
    for _ in each_isa():
        together, alone = np.zeros((300, 3)), np.zeros((300, 3))
        kernels.leave_dense(x, classes, moments, whole, half, half, together, floor=1e-9, student=student)
        for i in range(300):
            one = slice(i, i + 1)
            kernels.leave_dense(
                x[one], classes[one], moments, whole, half, half, alone[one], floor=1e-9, student=student
            )
        assert (together == alone).all()


def test_invalid_arguments_are_refused():
    one = np.ones((1, 1))
    good = [np.ones((1, 1)), np.zeros(1, np.int32), np.ones((4, 1, 1)), np.ones((4, 1))]
    six = Coefficients(*[one] * 6)
    with pytest.raises(ValueError, match="full"):
        kernels.leave_dense(
            *good, Coefficients(*[np.ones((1, 2))] * 6), six, np.zeros((1, 1)), floor=1e-9, student=True
        )
    with pytest.raises(ValueError, match="class"):
        kernels.leave_dense(
            good[0], np.ones(1, np.int32), *good[2:], six, six, np.zeros((1, 1)), floor=1e-9, student=True
        )
    for shape in ((2, 1, 1), (1, 2, 1), (1,)):
        with pytest.raises(ValueError, match="wanted"):
            kernels.leave_dense(*good, six, six, np.zeros(shape), floor=1e-9, student=True)
