"""What columns say together: cells of several columns, broken lines, and distances from a mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import structure_reference as reference

FORMS = ["rows", "columns", "read-only columns", "slice", "fortran", "reversed"]
TYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64]


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 63, 64, 65, 200]),
    n_classes=st.sampled_from([0, 1, 2, 3, 4, 5, 17, 20, 21]),
    combinations=st.sampled_from([0, 1, 2, 33, 70]),
    dtype=st.sampled_from(TYPES),
    form=st.sampled_from(FORMS),
)
@examples(80)
def test_cells_are_looked_up(each_isa, as_table, seed, n, n_classes, combinations, dtype, form):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0 if dtype is np.uint8 else -2, 8, (n, 5)).astype(dtype)
    if n:
        codes[rng.integers(n), rng.integers(5)] = np.iinfo(dtype).min
        codes[rng.integers(n), rng.integers(5)] = np.iinfo(dtype).max
    sizes, lengths = rng.integers(0, 9, 5), rng.integers(1, 4, combinations)
    lows = rng.choice([0, 0, 1, -1, 2**62, -(2**63)], 5)
    members = rng.integers(0, 5, lengths.sum()).astype(np.int32)
    ends = np.cumsum(lengths)
    cells = sum(int(np.prod(sizes[members[end - k : end]])) for end, k in zip(ends, lengths, strict=True))
    table, start = rng.normal(size=(cells, n_classes)), rng.normal(size=(n, n_classes))
    table[rng.random(table.shape) < 0.05] = -np.inf
    want, seen = start.copy(), []
    reference.score_cells(codes, lows, sizes, members, lengths, table, want)
    for _ in each_isa():
        got = start.copy()
        kernels.score_cells(as_table(codes, form), lows, sizes, members, lengths, table, got)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
        seen.append(got.tobytes())
    assert len(set(seen)) == 1


def test_cells_that_no_table_has_are_refused():
    codes, out, pair = np.zeros((2, 2), np.int32), np.zeros((2, 1)), np.array([0, 1], np.int32)
    low = np.zeros(2, np.int64)
    kernels.score_cells(codes, low, [2, 3], pair, [2], np.zeros((6, 1)), out)
    with pytest.raises(ValueError, match="table: wanted"):
        kernels.score_cells(codes, low, [2, 3], pair, [2], np.zeros((5, 1)), out)
    with pytest.raises(ValueError, match="members: wanted 0 to 1, got 2"):
        kernels.score_cells(codes, low, [2, 3], np.array([0, 2], np.int32), [2], np.zeros((6, 1)), out)
    with pytest.raises(ValueError, match="members: wanted length"):
        kernels.score_cells(codes, low, [2, 3], pair, [3], np.zeros((6, 1)), out)
    with pytest.raises(ValueError, match="lengths: wanted"):
        kernels.score_cells(codes, low, [2, 3], pair, [2, 0], np.zeros((6, 1)), out)
    with pytest.raises(ValueError, match="lows: wanted length"):
        kernels.score_cells(codes, low[:1], [2, 3], pair, [2], np.zeros((6, 1)), out)
    with pytest.raises(ValueError, match="sizes: wanted a table"):
        kernels.score_cells(codes, low, [2**30, 2**30], pair, [2], np.zeros((6, 1)), out)


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 5, 255, 256, 300]),
    width=st.sampled_from([0, 1, 3, 9, 70]),
    spread=st.sampled_from(["even", "normal", "uneven", "huge"]),
    dtype=st.sampled_from([np.float64, np.float32]),
    form=st.sampled_from(FORMS),
)
@examples(80)
def test_broken_lines(each_isa, as_table, seed, n, width, spread, dtype, form):
    rng = np.random.default_rng(seed)
    sizes = rng.choice([2, 3, 33, 256], width)
    make = {
        "even": lambda k: np.linspace(-4, 4, k),
        "normal": rng.standard_normal,
        "uneven": lambda k: np.exp(20 * rng.standard_normal(k)),
        "huge": lambda k: 1.7e308 * rng.uniform(-1, 1, k),
    }[spread]
    knots = np.concatenate([*(np.sort(make(size)) for size in sizes), np.zeros(0)])
    heights = np.concatenate([*(np.sort(rng.integers(-8192, 8193, size)) for size in sizes), np.zeros(0)]) + 0.0
    x = (3 * rng.standard_normal((n, width)) * (1e307 if spread == "huge" and dtype is np.float64 else 1)).astype(dtype)
    odd = rng.random(x.shape) < 0.05
    x[odd] = rng.choice([np.nan, np.inf, -np.inf, 0.0, 5e-324], odd.sum())
    on = rng.random(x.shape) < 0.2
    if len(knots):
        with np.errstate(over="ignore"):
            x[on] = rng.choice(knots, on.sum()).astype(dtype)
    want, missing = reference.interpolate(x, knots, heights, sizes)
    for _ in each_isa():
        got = kernels.interpolate(as_table(x, form), knots, heights, sizes)
        assert got.missing == missing
        assert len(got.heights) == width
        for one, other in zip(got.heights, want, strict=True):
            assert ((one == other) | (np.isnan(one) & np.isnan(other))).all()


def test_lines_without_two_rising_knots_are_refused():
    x, one = np.zeros((2, 1)), np.zeros(1)
    with pytest.raises(ValueError, match="sizes: wanted 2 to 256"):
        kernels.interpolate(x, one, one, [1])
    with pytest.raises(ValueError, match="sizes: wanted 2 to 256"):
        kernels.interpolate(x, np.arange(257.0), np.arange(257.0), [257])
    with pytest.raises(ValueError, match="knots: wanted rising"):
        kernels.interpolate(x, np.array([1.0, 0.0]), np.zeros(2), [2])
    with pytest.raises(ValueError, match="heights: wanted length"):
        kernels.interpolate(x, np.array([0.0, 1.0]), one, [2])


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 15, 16, 17, 40]),
    width=st.sampled_from([0, 1, 2, 3, 4, 7, 50, 64]),
    n_classes=st.sampled_from([0, 1, 2, 3]),
    dtype=st.sampled_from([np.float64, np.float32]),
    form=st.sampled_from(FORMS),
)
@examples(80)
def test_distances(each_isa, as_table, seed, n, width, n_classes, dtype, form):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width)).astype(dtype)
    odd = rng.random(x.shape) < 0.02
    x[odd] = rng.choice([np.nan, np.inf, -np.inf, 1e30, 0.0], odd.sum())
    mean, root = rng.normal(size=(n_classes, width)), rng.normal(size=(n_classes, width, width))
    want = np.empty((n, n_classes))
    with np.errstate(all="ignore"):
        reference.distances(x, mean, root, want)
    for _ in each_isa():
        got = np.full((n, n_classes), 7.0)
        kernels.distances(as_table(x, form), mean, root, got)
        assert ((got == want) | (np.isnan(got) & np.isnan(want))).all()


def test_arrays_that_do_not_fit_are_refused():
    x, out = np.zeros((2, 3)), np.zeros((2, 1))
    with pytest.raises(ValueError, match="root: wanted shape"):
        kernels.distances(x, np.zeros((1, 3)), np.zeros((1, 3, 2)), out)
    with pytest.raises(ValueError, match="mean: wanted shape"):
        kernels.distances(x, np.zeros((1, 2)), np.zeros((1, 3, 3)), out)
    with pytest.raises(ValueError, match="columns: wanted at most 64"):
        kernels.distances(np.zeros((2, 65)), np.zeros((1, 65)), np.zeros((1, 65, 65)), out)
