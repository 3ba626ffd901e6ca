"""Cells of buckets, their trees and their counts: compiled against plain Python."""

import numpy as np
import pytest

from tallybayes import kernels

from . import cells_reference as reference


def columns(rng, *, weighted):
    """Return buckets of a few columns of all kinds, some without any, and the weight of each."""
    keys, shifts = [], []
    for _ in range(rng.integers(1, 6)):
        kind = rng.integers(0, 5)
        n = int(rng.choice([0, 1, 2, 7, 60, 400]))
        values = (
            rng.normal(size=n),
            rng.integers(-5, 6, n).astype(float),
            np.exp(8 * rng.normal(size=n)),
            np.where(rng.random(n) < 0.5, 0.0, 1e300 * rng.normal(size=n)),
            np.concatenate([rng.normal(size=n // 2), 1e3 + rng.normal(size=n - n // 2)]),
        )[kind]
        shift = int(rng.choice([0, 0, 40, 52]))
        found = np.unique(kernels.ordered(values) >> shift << shift)
        keys.append(found)
        shifts.append(shift if len(found) else 0)
    sizes = np.array([len(one) for one in keys])
    weights = rng.integers(1, 100, sizes.sum()).astype(float)
    return np.concatenate(keys), sizes, np.array(shifts), weights * (rng.random(len(weights)) if weighted else 1)


@pytest.mark.parametrize("seed", range(60))
def test_cells_trees_and_counts_equal_the_reference(seed):
    rng = np.random.default_rng(seed)
    keys, sizes, shifts, weights = columns(rng, weighted=bool(seed % 3 == 0))
    for most, between in ((190, 64), (5, 3), (20, 1)):
        cells = kernels.choose_cells(keys, sizes, shifts, weights, most=most, between=between)
        wanted = reference.choose_cells(keys, sizes, shifts, weights, most=most, between=between)
        for got, want in zip(cells, wanted, strict=True):
            np.testing.assert_array_equal(got, want)
        for leaves, depth, least in ((16, 6, 4), (3, 2, 0.5), (1, 1, 0)):
            options = {"leaves": leaves, "depth": depth, "least": least}
            for got, want in zip(
                kernels.cut_cells(*cells, **options), reference.cut_cells(*cells, **options), strict=True
            ):
                np.testing.assert_array_equal(got, want)
        column = np.repeat(np.arange(len(sizes)), cells.sizes)
        edges = cells.low[1:][np.diff(column) == 0]
        by_class = np.stack([weights, 2 * weights])
        np.testing.assert_allclose(
            kernels.count_cells(keys, sizes, shifts, by_class, edges, cells.sizes),
            reference.count_cells(keys, sizes, shifts, by_class, edges, cells.sizes),
            rtol=1e-14,
        )


def test_every_bucket_is_in_the_cell_that_holds_its_weight():
    rng = np.random.default_rng(1)
    keys, sizes, shifts, weights = columns(rng, weighted=False)
    cells = kernels.choose_cells(keys, sizes, shifts, weights, most=190, between=64)
    column = np.repeat(np.arange(len(sizes)), cells.sizes)
    edges = cells.low[1:][np.diff(column) == 0]
    counted = kernels.count_cells(keys, sizes, shifts, weights[None], edges, cells.sizes)
    np.testing.assert_array_equal(counted[:, 0], cells.weights)


def test_keys_that_do_not_rise_are_refused():
    with pytest.raises(ValueError, match="keys: wanted rising numbers"):
        kernels.choose_cells(np.array([2, 1]), [2], np.array([0]), np.ones(2), most=10, between=4)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="weights: wanted length 2"):
        kernels.choose_cells(np.array([1, 2]), [2], np.array([0]), np.ones(3), most=10, between=4)
    with pytest.raises(ValueError, match="at least one of each column"):
        kernels.count_cells(np.array([1]), [1], np.array([0]), np.ones((1, 1)), np.zeros(0), [0])


@pytest.mark.parametrize("seed", range(30))
def test_runs_of_cells_equal_the_reference(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, rng.integers(1, 5))
    value = np.concatenate([np.sort(rng.integers(0, 30, size).astype(float)) for size in sizes])
    weights = rng.integers(0, 9, sizes.sum()) * float(seed % 5 > 0)
    for bins in (1, 3, 16):
        found = kernels.cut_runs(value, weights, sizes, bins)
        for got, want in zip(found, reference.cut_runs(value, weights, sizes, bins), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("n", [0, 1, 7, 1025])
def test_pairs_terms_and_bins_of_codes_equal_the_reference(dtype, n):
    rng = np.random.default_rng(n)
    C, sizes = 3, np.array([4, 1, 30])
    low = 0 if dtype is np.uint8 else -2
    codes = np.stack([rng.integers(low, low + size + 3, n) for size in sizes], axis=1).astype(dtype)
    classes, values = rng.integers(0, C, n).astype(np.int32), rng.normal(size=(sizes.sum(), C))
    places, missing = rng.integers(0, 99, sizes.sum()).astype(np.int32), np.array([100, 101, 102], np.int32)
    for given in (codes, tuple(np.ascontiguousarray(codes.T))):
        for last in (False, True):
            np.testing.assert_array_equal(
                kernels.pair_codes(given, sizes, classes, C, low=low, last=last),
                reference.pair_codes(codes.T, sizes, classes, C, low=low, last=last),
            )
        terms = reference.code_terms(codes.T, values, sizes)
        np.testing.assert_array_equal(kernels.code_terms(given, values, sizes), terms)
        wanted = reference.bin_codes(codes.T, places, sizes, missing).reshape(3, n)
        np.testing.assert_array_equal(kernels.bin_codes(given, places, sizes, missing), wanted)


@pytest.mark.parametrize(("n", "D"), [(0, 1), (1, 1), (7, 2), (1025, 1), (140, 9)])
def test_terms_and_bins_of_pairs_equal_the_reference(n, D):
    rng = np.random.default_rng(n)
    sizes = np.array([4, 1, 30])
    pairs = np.stack([rng.integers(-1, size + 1, n) for size in sizes]).astype(np.int32)
    values, places = rng.normal(size=(sizes.sum(), D)), rng.integers(0, 99, sizes.sum()).astype(np.int32)
    terms, bins = reference.pair_terms(pairs, values, sizes, places)
    for given in (places, None):
        out = np.full(terms.shape, np.nan, np.float32)
        got = kernels.pair_terms(pairs, values, sizes, given, out)
        np.testing.assert_array_equal(out, terms.astype(np.float32))
        if given is None:
            assert got is None
        else:
            np.testing.assert_array_equal(got, bins)


@pytest.mark.parametrize("C", [1, 2, 7])
@pytest.mark.parametrize("strange", [None, np.nan, np.inf, -np.inf])
def test_pairs_as_rows_equal_the_reference(C, strange):
    sizes = np.array([3, 1, 5])
    by_pair = np.random.default_rng(C).normal(size=(C, 9)) * 9
    if strange is not None:
        by_pair[0, 4], by_pair[:, 7] = strange, strange
    with np.errstate(invalid="ignore"):
        wanted, known = reference.pair_rows(by_pair, sizes, least=-4.0)
    got = kernels.pair_rows(by_pair, sizes, least=-4.0)
    np.testing.assert_array_equal(got[0], wanted)
    assert got[1] == known


@pytest.mark.parametrize("strange", [None, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("n", "C"), [(0, 2), (1, 1), (9, 3), (70, 11)])
def test_rows_are_shifted_as_the_reference_does(n, C, order, strange):
    rows = np.asarray(np.random.default_rng(n).normal(0, 3, (n, C)), order=order)
    if strange is not None and n > 1:
        rows[0, 1], rows[4] = strange, strange
    with np.errstate(invalid="ignore"):
        wanted, known = reference.shift_rows(rows, least=-4.0)
    out = np.empty((C, n))
    assert kernels.shift_rows(rows, out, least=-4.0) == known
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("F", [1, 3])
def test_rows_of_several_columns_are_shifted_one_by_one(F):
    rows = np.random.default_rng(0).normal(0, 3, (F, 9, 2))
    out = np.empty((F, 2, 9))
    assert kernels.shift_rows(rows, out, least=-4.0)
    np.testing.assert_array_equal(out, [reference.shift_rows(one, least=-4.0)[0] for one in rows])
    rows[F - 1, 3, 1] = np.nan
    assert not kernels.shift_rows(rows, out, least=-4.0)


def test_pairs_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match="by_pair: wanted shape"):
        kernels.pair_rows(np.zeros((2, 3)), [4], least=-1.0)
    with pytest.raises(ValueError, match="out: wanted shape"):
        kernels.shift_rows(np.zeros((2, 3)), np.zeros((2, 3)), least=-1.0)
    with pytest.raises(ValueError, match="out: wanted shape"):
        kernels.shift_rows(np.zeros((2, 2, 3)), np.zeros((3, 3, 2)), least=-1.0)
    with pytest.raises(ValueError, match="rows: wanted a number for each class"):
        kernels.shift_rows(np.zeros((2, 0)), np.zeros((0, 2)), least=-1.0)


def test_nothing_is_looked_up_out_of_bounds():
    pairs, values, out = np.zeros((1, 2), np.int32), np.zeros((3, 1)), np.zeros((1, 1, 2), np.float32)
    with pytest.raises(ValueError, match="sizes: wanted at least 1"):
        kernels.pair_terms(pairs, values, [0], None, out)
    with pytest.raises(ValueError, match="places: wanted length 3, got 2"):
        kernels.pair_terms(pairs, values, [3], np.zeros(2, np.int32), out)
    with pytest.raises(ValueError, match="wanted shape"):
        kernels.pair_terms(pairs, values, [3], None, out[:, :, :1])
    with pytest.raises(TypeError, match="out: wanted float32"):
        kernels.pair_terms(pairs, values, [3], None, np.zeros((1, 1, 2)))
    codes = np.zeros((2, 1), np.int8)
    with pytest.raises(ValueError, match="classes: wanted from 0 to C - 1, got 2"):
        kernels.pair_codes(codes, [2], np.array([0, 2], np.int32), 2)
    with pytest.raises(ValueError, match=r"sizes: wanted fewer than 2\^31 pairs"):
        kernels.pair_codes(codes, [2**30], np.zeros(2, np.int32), 2)
    with pytest.raises(ValueError, match="values"):
        kernels.code_terms(codes, np.zeros((3, 1)), [2])
    with pytest.raises(ValueError, match="missing: wanted length 1"):
        kernels.bin_codes(codes, np.zeros(2, np.int32), [2], np.zeros(2, np.int32))
