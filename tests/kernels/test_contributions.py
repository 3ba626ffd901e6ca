from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import reference
from .test_scores import FORMS, dense, rest_of


def asked_of(rng, n, n_classes):
    asked = rng.normal(size=(n, n_classes))
    asked[rng.random(asked.shape) < 0.3] = 0.0
    return asked


@given(
    drawn=dense(),
    power=st.sampled_from([None, 0.5, 3.0, 1e6]),
    spread=st.sampled_from([1.0, 1e-6, 1e60, 1e150]),
    far=st.booleans(),
)
@examples(150)
def test_terms_of_dense_columns(each_isa, as_table, drawn, power, spread, far):
    x, form, mean, scale, constant, start = drawn
    if power is None:
        spread = min(spread, 1e60)
    powers = None if power is None else np.full(mean.shape, power)
    rng = np.random.default_rng(len(x))
    asked, before = asked_of(rng, *start.shape), rng.normal(size=x.shape)
    want, size, rest = before.copy(), np.abs(before), rest_of(mean, far=far)
    reference.terms_dense(x, mean, scale * spread, constant, powers, asked, want, rest=rest)
    negated = None if powers is None else -powers
    reference.terms_dense(x, mean, scale * spread, np.abs(constant), negated, np.abs(asked), size, rest=rest)
    for _ in each_isa():
        got = before.copy()
        kernels.terms_dense(as_table(x, form), mean, scale * spread, constant, powers, asked, got, rest=rest)
        assert (np.abs(got - want) <= 1e-13 * (1 + np.abs(size))).all()


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 63, 64, 65]),
    sizes=st.lists(st.integers(0, 5), max_size=40),
    n_classes=st.sampled_from([1, 2, 5]),
    low=st.sampled_from([0, -1, 3]),
    outside=st.sampled_from(["skip", "last"]),
    form=st.sampled_from(FORMS),
    kind=st.sampled_from([np.int8, np.int16, np.int32, np.int64]),
)
@examples(150)
def test_terms_of_codes(each_isa, as_table, seed, n, sizes, n_classes, low, outside, form, kind):
    rng = np.random.default_rng(seed)
    codes = rng.integers(low - 1, low + 7, (n, len(sizes))).astype(kind)
    table = rng.normal(size=(sum(sizes), n_classes))
    table[rng.random(table.shape) < 0.1] = -np.inf
    asked, before = asked_of(rng, n, n_classes), rng.normal(size=codes.shape)
    want = before.copy()
    with np.errstate(invalid="ignore"):
        reference.terms_codes(codes, table, sizes, asked, want, low=low, outside=outside)
    for _ in each_isa():
        got = before.copy()
        kernels.terms_codes(as_table(codes, form), table, sizes, asked, got, low=low, outside=outside)
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


def test_a_class_of_weight_zero_contributes_nothing(each_isa):
    one = np.ones((2, 1))
    for _ in each_isa():
        out = np.zeros((1, 1))
        kernels.terms_dense(
            np.array([[1e300]]), 0 * one, np.array([[1e300], [0.0]]), one, None, np.array([[0.0, 2.0]]), out
        )
        assert out.item() == 2.0


@pytest.mark.parametrize(("asked", "out", "named"), [((3, 2), (3, 3), "out"), ((2, 2), (3, 2), "asked")])
def test_shapes_that_do_not_fit_are_refused(asked, out, named):
    x, one = np.ones((3, 2)), np.ones((2, 2))
    with pytest.raises(ValueError, match=named):
        kernels.terms_dense(x, one, one, one, None, np.ones(asked), np.zeros(out))
    with pytest.raises(ValueError, match=named):
        kernels.terms_codes(x.astype(int), one, [1, 1], np.ones(asked), np.zeros(out))
