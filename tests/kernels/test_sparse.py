from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import reference


@st.composite
def matrices(draw):
    """A CSR matrix that may be a slice of a longer one, its classes, and their number."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, columns = draw(st.sampled_from([0, 1, 5, 50])), draw(st.sampled_from([1, 7, 40]))
    n_classes = draw(st.sampled_from([1, 2, 4, 5, 12, 16, 20, 21]))
    before = draw(st.sampled_from([0, 3]))
    lengths = rng.integers(0, 6, n)
    indptr = before + np.concatenate([[0], np.cumsum(lengths)])
    entries = int(indptr[-1]) + draw(st.sampled_from([0, 2]))
    indices = rng.integers(0, columns, entries)
    index = st.sampled_from([np.int32, np.int64])
    kind = draw(st.sampled_from(["small", "large", "fractions", "single", "int32", "int64", "extreme"]))
    data = {
        "small": lambda: rng.integers(0, 5, entries).astype(float),
        "large": lambda: rng.integers(0, 2**53, entries).astype(float),
        "fractions": lambda: rng.random(entries),
        "single": lambda: rng.random(entries).astype(np.float32),
        "int32": lambda: rng.integers(0, 2**31, entries).astype(np.int32),
        "int64": lambda: rng.integers(0, 2**63, entries).astype(np.int64),
        "extreme": lambda: rng.choice([0.0, 5e-324, 1e308, 1.0, 2.0**31], entries),
    }[kind]()
    matrix = indptr.astype(draw(index)), indices.astype(draw(index)), data
    return matrix, columns, rng.integers(0, n_classes, n).astype(np.int32), n_classes


@given(
    drawn=matrices(), weighting=st.sampled_from([None, [1.0], [0.0, 0.1, 3.0], [5e-324, 1e300]]), binary=st.booleans()
)
@examples(100)
def test_counts(each_isa, exact, drawn, weighting, binary):
    matrix, columns, y, n_classes = drawn
    weights = None if weighting is None else np.resize(weighting, len(y)).astype(float)
    want = reference.count_sparse(*matrix, columns, y, n_classes, weights=weights, binary=binary)
    for _ in each_isa():
        got = kernels.count_sparse(*matrix, columns, y, n_classes, weights=weights, binary=binary)
        assert got.limbs.shape[:-1] == (n_classes, columns)
        assert (exact(got) == exact(want)).all()


@given(drawn=matrices(), weighted=st.booleans(), binary=st.booleans(), seed=st.integers(-(2**63), 2**63 - 1))
@examples(100)
def test_hashes_that_are_added_while_entries_are_counted(each_isa, exact, drawn, weighted, binary, seed):
    (indptr, indices, data), columns, y, n_classes = drawn
    data[::5] = 0
    weights, start = np.ones(len(y)) if weighted else None, np.arange(len(y))
    want = start.copy()
    reference.hash_sparse(indptr, indices, data, columns, seed, want)
    for _ in each_isa():
        got, given = start.copy(), {"weights": weights, "binary": binary}
        hashed = kernels.count_sparse(
            indptr, indices, data, columns, y, n_classes, **given, seeds=np.array([seed]), out=got
        )
        plain = kernels.count_sparse(indptr, indices, data, columns, y, n_classes, **given)
        assert (got == want).all()
        assert (exact(hashed) == exact(plain)).all()


@given(drawn=matrices())
@examples(80)
def test_scores(each_isa, drawn):
    (indptr, indices, data), columns, y, n_classes = drawn
    data = np.minimum(data, 1e9).astype(data.dtype)
    rng = np.random.default_rng(len(y))
    table, start = rng.normal(size=(columns, n_classes)), rng.normal(size=(len(y), n_classes))
    table[rng.random(table.shape) < 0.05] = -np.inf
    want, sums = start.copy(), np.empty(len(y))
    reference.score_sparse(indptr, indices, data, table, want, sums)
    size = start.copy()
    reference.score_sparse(indptr, indices, data, np.nan_to_num(np.abs(table), posinf=0.0), size)
    for _ in each_isa():
        got = start.copy()
        lengths = np.empty(len(y))
        kernels.score_sparse(indptr, indices, data, table, got, lengths)
        assert np.array_equal(lengths, sums)
        without = start.copy()
        kernels.score_sparse(indptr, indices, data, table, without)
        assert np.array_equal(without, got)
        finite = np.isfinite(want)
        assert (got[~finite] == want[~finite]).all()
        assert (np.abs(got[finite] - want[finite]) <= 1e-13 * (1 + np.abs(size[finite]))).all()


@given(drawn=matrices(), alpha=st.sampled_from([0.0, 5e-324, 1e-310, 1e-3, 1.0, 1e308]))
@examples(80)
def test_rows_left_out_of_their_own_counts(each_isa, drawn, alpha):
    (indptr, indices, data), columns, y, n_classes = drawn
    data = np.minimum(data, 1e9).astype(data.dtype)
    rng = np.random.default_rng(len(y))
    counts, lengths = np.zeros((n_classes, columns), np.int64), np.zeros(len(y))
    for i, c in enumerate(y):
        entries = slice(indptr[i], indptr[i + 1])
        np.add.at(counts, (c, indices[entries]), data[entries].astype(np.int64))
        lengths[i] = data[entries].sum()
    counts -= rng.random(counts.shape) < 0.05  # more is taken away than there is: no number
    task = indptr, indices, data, y, counts, np.where(rng.random(columns) < 0.02, np.inf, alpha)
    start = rng.normal(size=len(y))
    want = start.copy()
    reference.leave_sparse(*task, want)
    for _ in each_isa():
        got = start.copy()
        kernels.leave_sparse(*task, got)
        finite = np.isfinite(want)
        assert np.array_equal(got[~finite], want[~finite], equal_nan=True)
        assert (np.abs(got[finite] - want[finite]) <= 1e-15 * (1 + 750 * lengths[finite])).all()


@given(seed=st.integers(0, 2**32), classes=st.integers(0, 5), columns=st.integers(0, 20), known=st.integers(0, 6))
@examples(60)
def test_counts_are_looked_up(seed, classes, columns, known):
    rng = np.random.default_rng(seed)
    counts = rng.choice([-(2**63), -1, 0, 1, 2, 3, 5, 2**63 - 1], (classes, columns))
    values = rng.normal(size=known)
    got, want = np.zeros((2, columns, classes))
    assert kernels.look_up_counts(counts, values, got) == reference.look_up_counts(counts, values, want)
    assert np.array_equal(got, want, equal_nan=True)
    first = int(rng.integers(0, columns + 1))
    stop = int(rng.integers(first, columns + 1))
    got[first:stop] = 0
    others = kernels.look_up_counts(counts, values, got[first:stop], first)
    assert others == reference.look_up_counts(counts, values, want[first:stop], first)
    assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.parametrize(
    ("counts", "values", "out", "message"),
    [
        (np.ones((2, 3), int), np.ones(2), np.ones((2, 3)), r"out: wanted shape \(any, 2\)"),
        (np.ones((2, 3), int), np.ones(2), np.ones((4, 2)), "out: wanted at most the columns of counts"),
        (np.ones(2, int), np.ones(2), np.ones((2, 1)), "counts: wanted 2 axes"),
        (np.ones((2, 3)), np.ones(2), np.ones((3, 2)), "counts: wanted int64"),
        (np.ones((2, 3), int), np.ones(2, int), np.ones((3, 2)), "values: wanted float64"),
        (np.ones((2, 6), int)[:, ::2], np.ones(2), np.ones((3, 2)), "counts: wanted a C-contiguous array"),
    ],
)
def test_counts_that_cannot_be_looked_up_are_refused(counts, values, out, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kernels.look_up_counts(counts, values, out)


def test_whole_numbers_need_one_limb():
    matrix = np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([3.0, 1.0, 2.0])
    counts = kernels.count_sparse(*matrix, 2, np.array([0, 1], np.int32), 2)
    assert counts.base == 0
    assert counts.limbs.tolist() == [[[3], [1]], [[0], [2]]]


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("weights", [None, np.ones(4)])
def test_the_first_bad_entry_is_named(each_isa, value, binary, weights):
    # row 2 comes first in row order, row 3 first in order of class
    matrix = np.arange(5), np.array([0, 1, 2, 0]), np.array([1.0, 2.0, value, value])
    for _ in each_isa():
        with pytest.raises(kernels.BadEntry) as raised:
            kernels.count_sparse(*matrix, 3, np.array([0, 0, 1, 0], np.int32), 2, weights=weights, binary=binary)
        assert (raised.value.row, raised.value.column) == (2, 2)
        assert raised.value.value == value or np.isnan(value)


def test_negative_integers_are_bad_entries(each_isa):
    for dtype in (np.int32, np.int64):
        for _ in each_isa():
            with pytest.raises(kernels.BadEntry):
                kernels.count_sparse(
                    np.array([0, 1]), np.array([0]), np.array([-3], dtype), 1, np.zeros(1, np.int32), 1
                )


@pytest.mark.parametrize("indptr", [[0, 5], [-1, 2], [2, 1], [0, 2**40]])
def test_row_bounds_outside_the_entries_are_refused(each_isa, indptr):
    indptr, indices, data = np.array(indptr), np.array([0, 1]), np.array([1.0, 1.0])
    for _ in each_isa():
        with pytest.raises(ValueError, match="indptr"):
            kernels.count_sparse(indptr, indices, data, 2, np.zeros(1, np.int32), 1)
        with pytest.raises(ValueError, match="indptr"):
            kernels.count_sparse(indptr, indices, data, 2, np.zeros(1, np.int32), 1, weights=np.ones(1))
        with pytest.raises(ValueError, match="indptr"):
            kernels.score_sparse(indptr, indices, data, np.zeros((2, 1)), np.zeros((1, 1)))
        with pytest.raises(ValueError, match="indptr"):
            kernels.leave_sparse(
                indptr, indices, data, np.zeros(1, np.int32), np.ones((1, 2), int), np.ones(2), np.zeros(1)
            )


@pytest.mark.parametrize("index", [-1, 2, 2**40, -(2**63), 2**63 - 1])
def test_indices_outside_the_columns_are_refused(each_isa, index):
    indptr, indices, data = np.array([0, 2]), np.array([0, index]), np.array([1.0, 1.0])
    for _ in each_isa():
        for weights in (None, np.ones(1)):
            with pytest.raises(ValueError, match="indices"):
                kernels.count_sparse(indptr, indices, data, 2, np.zeros(1, np.int32), 1, weights=weights)
        with pytest.raises(ValueError, match="indices"):
            kernels.leave_sparse(
                indptr, indices, data, np.zeros(1, np.int32), np.ones((1, 2), int), np.ones(2), np.zeros(1)
            )
        for n_classes in (1, 5, 21):
            with pytest.raises(ValueError, match="indices"):
                kernels.score_sparse(indptr, indices, data, np.zeros((2, n_classes)), np.zeros((1, n_classes)))


@pytest.mark.parametrize("long_row", [0, 1_100_000])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("index", "entry"), [(np.int32, np.float64), (np.int64, np.float32), (np.int32, np.int64), (np.int64, np.int32)]
)
def test_counts_that_16_bits_do_not_hold(each_isa, long_row, binary, index, entry):
    rng = np.random.default_rng(1)
    columns, n_classes = 30_000, 3
    lengths = rng.poisson(60, 20_000)
    lengths[7_000] += long_row
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    indices = rng.integers(0, columns, indptr[-1]).astype(index)
    indices[::4] = 5  # one column is counted further than 16 bits go
    data = rng.choice(np.array([0, 1, 2, 2**31 - 128], entry), len(indices))
    y = rng.integers(0, n_classes, len(lengths)).astype(np.int32)
    want = np.zeros((n_classes, columns), np.int64)
    np.add.at(want, (np.repeat(y, lengths), indices), (data > 0) if binary else data.astype(np.int64))
    assert want[:, 5].min() > 2**16
    hashes = np.zeros(len(lengths), np.int64)
    kernels.hash_sparse(indptr, indices, data, columns, 7, hashes)
    for _ in each_isa():
        got = kernels.count_sparse(indptr, indices, data, columns, y, n_classes, binary=binary)
        assert got.limbs.shape[-1] == 1
        assert (got.limbs[..., 0] == want).all()
        hashed = {"seeds": np.array([7]), "out": np.zeros(len(lengths), np.int64)}
        got = kernels.count_sparse(indptr, indices, data, columns, y, n_classes, binary=binary, **hashed)
        assert (got.limbs[..., 0] == want).all()
        assert (hashed["out"] == hashes).all()
        spoiled = np.append(data[:-1], entry(-1))
        with pytest.raises(kernels.BadEntry):
            kernels.count_sparse(indptr, indices, spoiled, columns, y, n_classes, binary=binary)


@pytest.mark.parametrize("value", [2.0**31 - 1, 2.0**31, 2.0**52 + 1, 0.5, 1 - 2.0**-53, 2.0**-60, 5e-324, 1e300, -0.0])
def test_one_entry_that_is_not_a_small_whole_number_among_many(each_isa, exact, value):
    rng = np.random.default_rng(2)
    columns, n = 70_000, 1000
    indptr, indices = np.arange(0, 80 * n + 1, 80), rng.integers(0, columns, 80 * n)
    data, y = rng.integers(0, 9, 80 * n).astype(float), np.zeros(n, np.int32)
    data[-1] = value
    want, hashes = reference.count_sparse(indptr, indices, data, columns, y, 1), np.zeros(n, np.int64)
    kernels.hash_sparse(indptr, indices, data, columns, 7, hashes)
    for _ in each_isa():
        assert (exact(kernels.count_sparse(indptr, indices, data, columns, y, 1)) == exact(want)).all()
        out = np.zeros(n, np.int64)
        got = kernels.count_sparse(indptr, indices, data, columns, y, 1, seeds=np.array([7]), out=out)
        assert (exact(got) == exact(want)).all()
        assert (out == hashes).all()
