"""Logarithms, exponentials and products: NumPy's to a few units in the last place, and the same bits everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from tallybayes import kernels
from tests.examples import examples

EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.inf,
    -np.inf,
    np.nan,
    5e-324,
    2.0**-1022,
    1e-307,
    1e308,
    709.5,
    709.79,
    -745.2,
    -708.5,
    -1e300,
]
FUNCTIONS = ["log", "log1p", "exp"]


@pytest.mark.parametrize("name", FUNCTIONS)
@given(numbers=st.lists(st.floats() | st.floats(-750, 750) | st.floats(-1, 1) | st.sampled_from(EDGES), max_size=9))
@examples(200)
def test_functions_are_those_of_numpy(each_isa, name, numbers):
    x = np.array(numbers, np.float64)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x)
    seen = []
    for _ in each_isa():
        got = getattr(kernels, name)(x)
        finite = np.isfinite(want)
        assert str(got[~finite]) == str(want[~finite])  # infinities and NaN
        assert (np.abs(got[finite] - want[finite]) <= 4 * np.spacing(np.abs(want[finite]))).all()
        seen.append(got.tobytes())
    assert len(set(seen)) == 1


@given(numbers=st.lists(st.floats(0, 1e300) | st.floats(0, 30) | st.sampled_from(EDGES), max_size=9))
@examples(200)
def test_log_gamma_is_that_of_scipy(each_isa, numbers):
    x = np.array(numbers, np.float64)
    with np.errstate(all="ignore"):  # SciPy returns log |Γ| below 0, and infinity of subnormal numbers
        want = np.where(np.abs(x) < 1e-300, -np.log(x), np.where(x < 0, np.nan, gammaln(x)))
    seen = []
    for _ in each_isa():
        got = kernels.log_gamma(x)
        finite = np.isfinite(want)
        assert str(got[~finite]) == str(want[~finite])
        assert (np.abs(got[finite] - want[finite]) <= 2e-14 * np.maximum(1, np.abs(want[finite]))).all()
        seen.append(got.tobytes())
    assert len(set(seen)) == 1


def test_shapes_are_kept_and_nothing_is_changed():
    x = np.arange(6.0).reshape(2, 3)
    assert kernels.exp(x[:, ::2]).shape == (2, 2)
    assert kernels.log(2.0).shape == kernels.log(np.float64(2.0)).shape == ()
    assert kernels.log([]).shape == (0,)
    assert (x == np.arange(6.0).reshape(2, 3)).all()


@given(
    x=st.lists(st.tuples(st.floats(-800, 800), st.floats(-800, 800)), max_size=5),
    exponent=st.floats(-3, 3),
)
@examples(100)
def test_sums_of_exponentials_and_powers(x, exponent):
    left, right = (np.array([pair[k] for pair in x]) for k in (0, 1))
    np.testing.assert_allclose(kernels.logaddexp(left, right), np.logaddexp(left, right), rtol=1e-14, atol=1e-14)
    base = np.abs(left) + 0.1
    np.testing.assert_allclose(kernels.power(base, exponent), base**exponent, rtol=1e-13)
    assert kernels.logaddexp(-np.inf, np.array([-np.inf, 1.0])).tolist() == [-np.inf, 1.0]


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 4, 5, 9]),
    width=st.sampled_from([0, 1, 7]),
    n_classes=st.sampled_from([0, 1, 2, 4, 5, 9]),
)
@examples(80)
def test_products_are_those_of_a_loop(each_isa, seed, n, width, n_classes):
    rng = np.random.default_rng(seed)
    left, right, start = (rng.normal(size=shape) for shape in ((n, width), (width, n_classes), (n, n_classes)))
    want = np.zeros((n, n_classes))
    for f in range(width):  # in this order, each operation rounded by itself
        want += left[:, f, None] * right[f]
    for _ in each_isa():
        out = start.copy()
        kernels.add_product(left, right, out)
        assert (out == start + want).all()


def test_arguments_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="right"):
        kernels.add_product(np.ones((2, 3)), np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="out"):
        kernels.add_product(np.ones((2, 3)), np.ones((3, 2)), np.ones((1, 2)))
