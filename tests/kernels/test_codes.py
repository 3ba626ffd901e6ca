from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import reference

FORMS = ["rows", "columns", "read-only columns", "slice", "fortran", "reversed"]
TYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64]


@st.composite
def coded(draw):
    """Codes, some of them outside their ranges; classes; sizes; the lowest code."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, columns = draw(st.sampled_from([0, 1, 63, 64, 65, 400])), draw(st.sampled_from([0, 1, 2, 3, 4, 5, 8, 33]))
    n_classes = draw(st.sampled_from([1, 2, 3, 4, 5, 10, 17, 20, 21]))
    dtype, low = draw(st.sampled_from(TYPES)), draw(st.sampled_from([0, 1, -1]))
    codes = rng.integers(0 if dtype is np.uint8 else -2, 8, (n, columns)).astype(dtype)
    if dtype is np.int64 and draw(st.booleans()):
        codes[rng.random(codes.shape) < 0.1] += 1 << 32  # whose lower halves are codes
    if n and columns and draw(st.booleans()):
        codes[rng.integers(n), rng.integers(columns)] = np.iinfo(dtype).min
        codes[rng.integers(n), rng.integers(columns)] = np.iinfo(dtype).max
    sizes = rng.integers(0, 8, columns)
    return codes, rng.integers(0, n_classes, n).astype(np.int32), n_classes, sizes, low, draw(st.sampled_from(FORMS))


@given(drawn=coded(), weighting=st.sampled_from([None, [1.0], [0.0, 0.1, 3.0], [5e-324, 1e308, 0.5]]))
@examples(80)
def test_counts(each_isa, exact, as_table, drawn, weighting):
    codes, y, n_classes, sizes, low, form = drawn
    weights = None if weighting is None else np.resize(weighting, len(y)).astype(float)
    want, want_outside = reference.count_codes(codes, y, n_classes, sizes, low=low, weights=weights)
    for _ in each_isa():
        got, outside = kernels.count_codes(as_table(codes, form), y, n_classes, sizes, low=low, weights=weights)
        assert got.limbs.shape[:-1] == (n_classes, sizes.sum())
        assert (exact(got) == exact(want)).all()
        assert outside.tolist() == want_outside.tolist()


@given(drawn=coded(), outside=st.sampled_from(["skip", "last"]))
@examples(80)
def test_scores(each_isa, as_table, drawn, outside):
    codes, y, n_classes, sizes, low, form = drawn
    rng = np.random.default_rng(len(y))
    table = rng.normal(size=(sizes.sum(), n_classes))
    table[rng.random(table.shape) < 0.05] = -np.inf
    start = rng.normal(size=(len(y), n_classes))
    want, want_own = start.copy(), start.copy()
    reference.score_codes(codes, table, sizes, want, low=low, outside=outside)
    reference.score_own_codes(codes, table, sizes, y, want_own, low=low)
    for _ in each_isa():
        got, got_own = start.copy(), start.copy()
        kernels.score_codes(as_table(codes, form), table, sizes, got, low=low, outside=outside)
        kernels.score_own_codes(as_table(codes, form), table, sizes, y, got_own, low=low)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(got_own, want_own, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 10, 20, 21])
@pytest.mark.parametrize("dtype", TYPES)
def test_adjacent_codes_give_the_same_bits_as_columns(each_isa, n_classes, dtype):
    rng = np.random.default_rng(n_classes)
    codes, sizes = rng.integers(0, 7, (300, 34)).astype(dtype), rng.integers(0, 7, 34)
    table = rng.normal(size=(sizes.sum(), n_classes))
    for _ in each_isa():
        for outside in ("skip", "last"):
            rows, columns = np.zeros((2, 300, n_classes))
            kernels.score_codes(codes, table, sizes, rows, outside=outside)
            kernels.score_codes([column.copy() for column in codes.T], table, sizes, columns, outside=outside)
            assert rows.tobytes() == columns.tobytes()


def test_columns_of_all_types_may_be_mixed(each_isa):
    columns = [np.array([0, 1, 2], dtype) for dtype in [*TYPES, np.int8]]
    y, table = np.zeros(3, np.int32), np.arange(18.0)[:, None]
    for _ in each_isa():
        counts, outside = kernels.count_codes(columns, y, 1, [3] * 6)
        assert counts.limbs.ravel().tolist() == [1] * 18
        assert not outside.any()
        out = np.zeros((3, 1))
        kernels.score_codes(columns, table, [3] * 6, out)
        assert out.ravel().tolist() == [45.0, 51.0, 57.0]


def test_booleans_are_codes():
    counts, _ = kernels.count_codes(np.array([[True], [False], [True]]), np.zeros(3, np.int32), 1, [2])
    assert counts.limbs.ravel().tolist() == [1, 2]


@pytest.mark.parametrize("n", [10, 100_000])
def test_few_and_many_rows_are_counted_alike(each_isa, n):
    rng = np.random.default_rng(n)
    codes, y = rng.integers(0, 5, (n, 3)), rng.integers(0, 4, n).astype(np.int32)
    for _ in each_isa():
        counts = kernels.count_codes(codes, y, 4, [5, 5, 5])[0].limbs[..., 0]
        for f in range(3):
            want = np.bincount(y * 5 + codes[:, f], minlength=20).reshape(4, 5)
            assert (counts[:, 5 * f : 5 * f + 5] == want).all()


@given(seed=st.integers(0, 2**32), n=st.integers(0, 40), n_classes=st.sampled_from([1, 2, 7, 300]))
@examples(60)
def test_classes_are_counted_as_numpy_does(seed, n, n_classes):
    classes = np.random.default_rng(seed).integers(0, n_classes, n).astype(np.int32)
    counts = kernels.count_classes(classes, n_classes)
    assert counts.tolist() == np.bincount(classes, minlength=n_classes).tolist()
    for at, outside in ((0, -1), (n // 2, n_classes), (n - 1, n_classes + 9)) if n else ():
        strange = classes.copy()
        strange[at] = outside
        with pytest.raises(ValueError, match=f"classes: wanted from 0 to C - 1, got {outside}"):
            kernels.count_classes(strange, n_classes)
