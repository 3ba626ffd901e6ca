from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tallybayes.kernels import Limbs
from tests.examples import examples

from . import reference

INT64 = st.integers(-(2**63), 2**63 - 1)


def limbs(max_length=6):
    digits = st.one_of(INT64, st.integers(-1, 1), st.just(2**32 - 1))
    cells = st.integers(1, max_length).flatmap(
        lambda length: st.lists(st.lists(digits, min_size=length, max_size=length), min_size=4, max_size=4)
    )
    return st.builds(lambda rows, base: Limbs(np.array(rows), base), cells, st.integers(-40, 34))


def same(a, b):
    """Return whether two doubles are equal, ignoring the sign of zero."""
    return ((a == b) | (np.isnan(a) & np.isnan(b))).all()


@given(exact=limbs())
@examples(300)
def test_to_float_rounds_to_the_nearest(each_isa, exact):
    want = reference.to_float(exact)
    for _ in each_isa():
        assert same(kernels.to_float(exact), want)


@given(numerator=st.integers(-(2**70), 2**70), base=st.integers(-36, 33))
@examples(300)
def test_to_float_at_the_ends_of_the_range(each_isa, numerator, base):
    exact = reference.limbs(np.array([numerator], dtype=object))
    exact = Limbs(exact.limbs, exact.base + base)
    for _ in each_isa():
        assert same(kernels.to_float(exact), reference.to_float(exact))


def test_ties_go_to_even(each_isa):
    exact = Limbs(np.array([[2**53 + 1], [2**53 + 3], [-(2**53) - 1]]), 0)
    subnormal = Limbs(np.array([[1 << 13], [3 << 13], [(1 << 13) + 1], [1 << 12]]), -34)  # 2**-1074 is 1 << 14
    for _ in each_isa():
        assert kernels.to_float(exact).tolist() == [2.0**53, 2.0**53 + 4, -(2.0**53)]
        assert kernels.to_float(subnormal).tolist() == [0.0, 1e-323, 5e-324, 0.0]


def test_shapes_are_kept(each_isa):
    for _ in each_isa():
        assert kernels.to_float(Limbs(np.ones((2, 3, 4, 1), np.int64), 0)).shape == (2, 3, 4)
        assert kernels.to_float(Limbs(np.ones((0, 3, 2), np.int64), 0)).shape == (0, 3)
        assert kernels.to_float(Limbs(np.array([5]), 0)).shape == ()
        assert kernels.to_float(Limbs(np.ones((3, 0), np.int64), 0)).tolist() == [0.0, 0.0, 0.0]
        assert kernels.to_float(Limbs(np.arange(6)[::-1].reshape(3, 2)[::2], 0)).tolist() == [5 + 2.0**34, 1.0]


def close(got, want):
    """Check that doubles are within two units in the last place; infinity is one beyond the largest."""
    finite = np.isfinite(want)
    assert same(got[~finite], want[~finite])
    largest = np.finfo(np.float64).max
    got, want = np.clip(got[finite], -largest, largest), want[finite]
    with np.errstate(over="ignore"):  # the largest has no next
        unit = np.fmin(np.spacing(np.abs(want)), largest - np.nextafter(largest, 0))
    assert (np.abs(got - want) <= 2 * unit).all()


@given(n=limbs(2), s1=limbs(), s2=limbs())
@examples(200)
def test_moments_of_any_integers(each_isa, n, s1, s2):
    want = reference.exact_moments(n, s1, s2)
    for _ in each_isa():
        *moments, rest = kernels.exact_moments(n, s1, s2)
        for got, right in zip(moments, want, strict=True):
            close(got, right)
        some = rest != 0
        close(rest[some], reference.rest_of_mean(n, s1, moments[1])[some])


@given(
    seed=st.integers(0, 2**32),
    centre=st.sampled_from([0.0, 1.0, 1e8, -1e15, 1e300, -1e-300]),
    spread=st.sampled_from([0.0, 1.0, 1e-3]),
    weighted=st.booleans(),
)
@examples(60)
def test_moments_of_data_are_those_of_rational_arithmetic(each_isa, seed, centre, spread, weighted):
    rng = np.random.default_rng(seed)
    x = centre + spread * rng.normal(size=(40, 2))
    w = rng.choice([0.1, 1.0, 2.5], 40) if weighted else np.ones(40)
    for _ in each_isa():
        sums = kernels.power_sums(x, np.zeros(40, np.int32), 2, weights=w if weighted else None)
        n, mean, m2, rest = kernels.exact_moments(*sums)
        total = sum(map(Fraction, w))
        for f in range(2):
            exact = [Fraction(v) for v in x[:, f]]
            centre_of_mass = sum(Fraction(a) * b for a, b in zip(w, exact, strict=True)) / total
            squares = sum(Fraction(a) * (b - centre_of_mass) ** 2 for a, b in zip(w, exact, strict=True))
            assert n[0, f] == float(total)
            close(mean[:1, f], np.array([float(centre_of_mass)]))
            close(m2[:1, f], np.array([float(squares)]))
            if abs(mean[0, f]) > 1025 * np.sqrt(m2[0, f] / n[0, f]):
                close(rest[:1, f], np.array([float(centre_of_mass - Fraction(mean[0, f]))]))
            elif abs(mean[0, f]) < 1023 * np.sqrt(m2[0, f] / n[0, f]):
                assert rest[0, f] == 0
        assert not n[1].any()
        assert not mean[1].any()
        assert not m2[1].any()
        assert not rest[1].any()


def test_unequal_shapes_are_refused():
    two, three = Limbs(np.ones((2, 1), np.int64), 0), Limbs(np.ones((3, 1), np.int64), 0)
    with pytest.raises(ValueError, match="shape"):
        kernels.exact_moments(two, two, three)


@given(st.lists(st.tuples(INT64 | st.integers(-3, 3), INT64 | st.integers(-3, 3)), max_size=9))
@examples(100)
def test_limbs_are_added_and_measured(pairs):
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    got, want = np.zeros((2, len(pairs)), np.int64)
    assert kernels.add_limbs(left, right, got) == reference.add_limbs(left, right, want)
    assert (got == want).all()


@pytest.mark.parametrize("below_zero", [0, 1, 1023, 1024, 4999])
def test_limbs_below_zero_are_measured_among_many_counts(below_zero):
    left, right = np.arange(5000), np.arange(5000)[::-1].copy()
    left[below_zero] = -(2**40)
    got, want = np.zeros((2, 5000), np.int64)
    assert kernels.add_limbs(left, right, got) == reference.add_limbs(left, right, want)
    assert (got == want).all()


@pytest.mark.parametrize(
    ("left", "right", "out", "message"),
    [
        (np.ones((2, 2), int), np.ones((2, 1), int), np.ones((2, 2), int), "right: wanted as many limbs"),
        (np.ones((2, 2), int), np.ones((2, 2), int), np.ones(3, int), "out: wanted as many limbs"),
        (np.ones((2, 2), int), np.ones((2, 2)), np.ones((2, 2), int), "right: wanted int64"),
        (np.ones((2, 4), int)[:, ::2], np.ones((2, 2), int), np.ones((2, 2), int), "left: wanted a C-contiguous"),
        (np.ones((2, 2), int), np.ones((2, 2), int), np.ones((2, 2)), "out: wanted int64"),
    ],
)
def test_limbs_that_cannot_be_added_are_refused(left, right, out, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kernels.add_limbs(left, right, out)
