from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import reference


def _problem(seed, n, C, U, V, weighted):
    """Return U terms, of which every other is in the first of V tables, and corrections in all of them."""
    rng = np.random.default_rng(seed)
    K, sizes = 3 * V, rng.integers(1, 6, V)
    codes = np.array([rng.integers(-1, size, n) for size in sizes], np.int32).reshape(V, n)
    held = np.arange(U)[1::2][:V].astype(np.int32)  # the terms in tables
    numbers = np.setdiff1d(np.arange(U), held).astype(np.int32)
    coded = kernels.CodedTerms(
        codes,
        sizes,
        rng.normal(size=(sizes.sum(), C - 1)),
        np.concatenate([held, np.full(V - len(held), -1)]).astype(np.int32),
        rng.integers(-1, K, sizes.sum()).astype(np.int32),
    )
    return (
        rng.normal(size=(C - 1, n)) * 5,
        (rng.normal(size=(len(numbers), C - 1, n)) * 10 ** rng.uniform(-2, 2, (len(numbers), 1, 1))).astype(np.float32),
        numbers,
        coded,
        rng.integers(0, C, n).astype(np.int32),
        rng.uniform(0, 2, n) if weighted else None,
        np.where(rng.random(n) < 0.5, 1.0, rng.random(n)),
        rng.normal(size=U),
        rng.normal(size=C),
        rng.normal(size=(K, C)),
    )


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 3, 4, 255, 256, 257, 600]),
    C=st.sampled_from([1, 2, 3, 5, 9, 13, 17, 21, 25]),
    U=st.sampled_from([0, 1, 4]),
    V=st.sampled_from([0, 1, 3, 5]),
    weighted=st.booleans(),
    curved=st.booleans(),
)
@examples(100)
def test_loss_and_derivatives_are_those_of_the_twin(each_isa, seed, n, C, U, V, weighted, curved):
    given = _problem(seed, n, C, U, V, weighted)
    want = reference.weigh_terms(*given, curved=curved)
    first = None
    for _ in each_isa():
        got = kernels.weigh_terms(*given, curved=curved)
        for mine, theirs in zip(got, want, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-7)
        first = got if first is None else first
        assert all(np.array_equal(a, b) for a, b in zip(got, first, strict=True))  # the same bits


def test_the_slopes_are_those_of_the_loss():
    *given, scale, bias, table = _problem(1, 40, 3, 4, 2, True)
    found = kernels.weigh_terms(*given, scale, bias, table, curved=True)
    point, step = np.concatenate([scale, bias, table.ravel()]), 1e-6

    def loss(at):
        return kernels.weigh_terms(*given, at[:4], at[4:7], at[7:].reshape(-1, 3)).loss

    for k in range(len(point)):
        nudge = np.zeros(len(point))
        nudge[k] = step
        assert (loss(point + nudge) - loss(point - nudge)) / (2 * step) == pytest.approx(found.slopes[k], abs=1e-4)


def test_probabilities_are_those_of_the_scores():
    base, terms, numbers, coded, classes, weights, share, scale, bias, table = _problem(4, 300, 3, 1, 0, True)
    p = np.full((300, 3), np.nan)
    kernels.weigh_terms(
        base, terms, numbers, coded, classes, weights, share, scale, bias, table, rows=slice(10, 300), p=p
    )
    inside = bias[:-1, None] - bias[-1] + scale[0] * terms[0]
    scores = np.vstack([base + share * inside, np.zeros(300)])
    wanted = np.exp(scores) / np.exp(scores).sum(axis=0)
    np.testing.assert_allclose(p[10:], wanted.T[10:], rtol=1e-12)
    assert np.isnan(p[:10]).all()


def test_classes_out_of_range_are_refused():
    given = list(_problem(2, 5, 2, 1, 1, False))
    given[4] = np.full_like(given[4], 7)
    with pytest.raises(ValueError, match="classes: wanted"):
        kernels.weigh_terms(*given)


@pytest.mark.parametrize(("part", "bad"), [("terms", 9), ("terms", -2), ("bins", 99), ("bins", -2)])
def test_numbers_of_terms_and_corrections_out_of_range_are_refused(part, bad):
    given = list(_problem(2, 5, 2, 1, 1, False))
    given[3] = given[3]._replace(**{part: np.full_like(getattr(given[3], part), bad)})
    with pytest.raises(ValueError, match=f"{part}: wanted"):
        kernels.weigh_terms(*given)


def test_shapes_that_do_not_fit_are_refused():
    given = list(_problem(3, 5, 2, 1, 1, False))
    for k in (1, 2, 6, 8, 9):
        wrong = list(given)
        wrong[k] = np.zeros((*given[k].shape[:-1], given[k].shape[-1] + 1), given[k].dtype)
        with pytest.raises(ValueError, match="wanted"):
            kernels.weigh_terms(*wrong)
    for name in ("codes", "values", "terms", "bins"):
        array = getattr(given[3], name)
        longer = np.zeros((*array.shape[:-1], array.shape[-1] + 1), array.dtype)
        with pytest.raises(ValueError, match=f"{name}: wanted"):
            kernels.weigh_terms(*given[:3], given[3]._replace(**{name: longer}), *given[4:])
    with pytest.raises(TypeError, match="coded: wanted a tuple of five"):
        kernels.weigh_terms(*given[:3], (), *given[4:])


@given(seed=st.integers(0, 2**32), cut=st.integers(0, 600), C=st.sampled_from([1, 2, 3, 6]))
@examples(30)
def test_ranges_of_rows_add_up_to_all_rows(seed, cut, C):
    given = _problem(seed, 600, C, 5, 3, True)
    whole = kernels.weigh_terms(*given, curved=True)
    parts = [kernels.weigh_terms(*given, rows=rows, curved=True) for rows in (slice(0, cut), slice(cut, None))]
    for all_rows, first, second in zip(whole, *parts, strict=True):
        np.testing.assert_allclose(first + second, all_rows, rtol=1e-9, atol=1e-7)


def test_the_loss_alone_is_the_same():
    given = _problem(3, 300, 4, 2, 3, True)
    alone = kernels.weigh_terms(*given, sloped=False)
    assert alone.loss == kernels.weigh_terms(*given).loss
    assert not alone.slopes.any()


@pytest.mark.parametrize("code", [-2, 5, 2**31 - 1])
def test_a_code_outside_the_table_is_refused(code):
    given = list(_problem(3, 300, 3, 2, 2, False))
    given[3].codes[1, 257] = code
    with pytest.raises(ValueError, match=f"codes: wanted rows of the table, or -1, got {code}, row 257"):
        kernels.weigh_terms(*given)
    assert kernels.weigh_terms(*given, rows=slice(0, 257)).loss > 0  # the others are not read


@given(
    seed=st.integers(0, 2**32),
    U=st.sampled_from([0, 1, 7]),
    D=st.sampled_from([1, 3]),
    n=st.sampled_from([0, 1, 5, 1023, 1025, 3000]),
    kind=st.sampled_from([np.float64, np.float32]),
    part=st.booleans(),
)
@examples(50)
def test_weighted_sums_are_those_of_the_twin(seed, U, D, n, kind, part):
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(U) < 0.3, 0.0, rng.normal(size=U))
    terms = rng.normal(size=(U, D, n + 2)).astype(kind)[:, :, 2 if part else 0 :]
    np.testing.assert_array_equal(kernels.weighted_sum(weights, terms), reference.weighted_sum(weights, terms))


def test_terms_of_other_shapes_are_not_summed():
    with pytest.raises(ValueError, match="terms: wanted length 2"):
        kernels.weighted_sum(np.ones(2), np.ones((3, 1, 1)))
    with pytest.raises(ValueError, match="terms: wanted 3 axes"):
        kernels.weighted_sum(np.ones(2), np.ones((2, 1)))
    with pytest.raises(ValueError, match="terms: wanted rows whose numbers follow each other"):
        kernels.weighted_sum(np.ones(2), np.ones((2, 2, 4))[:, :, ::2])
    with pytest.raises(TypeError, match="terms"):
        kernels.weighted_sum(np.ones(2), np.ones((2, 1, 1), int))
