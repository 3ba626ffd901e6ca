from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import random_array

from tallybayes import kernels
from tallybayes.evidence.row_hash import mix
from tests.examples import examples

from . import reference


@given(
    seed=st.integers(0, 2**32),
    shape=st.tuples(st.integers(0, 9), st.integers(0, 18)),
    form=st.sampled_from(["rows", "columns", "slice"]),
)
@examples(60)
def test_numbers(each_isa, as_table, seed, shape, form):
    rng = np.random.default_rng(seed)
    x = rng.choice([0.0, -0.0, 1.5, np.nan, 1e300, rng.normal()], shape)
    x = x.astype(rng.choice([np.float32, np.float64])) if abs(x[np.isfinite(x)]).max(initial=0) < 1e30 else x
    seeds = rng.integers(-(2**63), 2**63 - 1, shape[1])
    want = np.zeros(shape[0], np.int64)
    reference.hash_dense(x, seeds, want)
    for _ in each_isa():
        got = np.zeros(shape[0], np.int64)
        kernels.hash_dense(as_table(x, form), seeds, got)
        assert (got == want).all()


@given(seed=st.integers(0, 2**32), n=st.integers(0, 9))
@examples(40)
def test_mixed_words(each_isa, seed, n):
    words = np.random.default_rng(seed).integers(-(2**63), 2**63 - 1, n)
    want = words.copy()
    reference.mix_words(want)
    for _ in each_isa():
        got = words.copy()
        kernels.mix_words(got)
        assert (got == want).all()


ALIKE = {
    "whole numbers": lambda: np.arange(2.0**16)[:, None],
    "numbers that differ in their last bits": lambda: 1 + np.arange(2**16)[:, None] * 2.0**-52,
    "fractions": lambda: np.arange(2**16)[:, None] / 1024,
    "ones and zeros": lambda: (np.arange(2**16)[:, None] >> np.arange(16) & 1).astype(float),
    "signs": lambda: 1 - 2 * (np.arange(2**16)[:, None] >> np.arange(16) & 1).astype(float),
    "pairs": lambda: np.stack(np.divmod(np.arange(2.0**16), 256), axis=1),
    "pairs that differ in their last bits": lambda: 1 + np.stack(np.divmod(np.arange(2.0**16), 256), axis=1) * 2**-52,
    "digits": lambda: (np.arange(2**16)[:, None] // 4 ** np.arange(8) % 4).astype(np.float32),
}


@pytest.mark.parametrize("rows", ALIKE.values(), ids=ALIKE)
def test_rows_that_differ_hardly_have_hashes_that_differ_and_spread(rows):
    x = rows()
    out = np.zeros(len(x), np.int64)
    kernels.hash_dense(x, np.arange(x.shape[1]), out)
    assert len(set(out.tolist())) == len(x)
    in_bins = np.bincount(mix(out).view(np.uint64) >> np.uint64(56), minlength=256)
    # chi-squared of 255 degrees of freedom: mean 255, standard deviation 23
    assert ((in_bins - 256) ** 2 / 256).sum() < 255 + 5 * 23


@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from([np.int8, np.uint8, np.int16, np.int32, np.int64]),
    rows=st.sampled_from([0, 1, 20, 150]),
    width=st.sampled_from([0, 1, 3, 35]),
    by_columns=st.booleans(),
)
@examples(60)
def test_codes(each_isa, seed, dtype, rows, width, by_columns):
    rng = np.random.default_rng(seed)
    codes, sizes = rng.integers(0, 9, (rows, width)).astype(dtype), rng.choice([4, 0, 9], width).tolist()
    codes = np.asfortranarray(codes) if by_columns else codes
    hashes, before = rng.integers(-(2**63), 2**63 - 1, sum(sizes)), rng.integers(-(2**63), 2**63 - 1, rows)
    want = before.copy()
    outside = reference.hash_codes(codes, hashes, sizes, want, low=1)
    for _ in each_isa():
        got = before.copy()
        assert kernels.hash_codes(codes, hashes, sizes, got, low=1) == outside
        assert (got == want).all()
        for weights in (None, np.ones(rows)):
            got, classes = before.copy(), rng.integers(0, 3, rows).astype(np.int32)
            kernels.count_codes(codes, classes, 3, sizes, low=1, weights=weights, hashes=hashes, out=got)
            assert (got == want).all()


@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from([np.float64, np.float32, np.int32, np.int64]),
    index=st.sampled_from([np.int32, np.int64]),
)
@examples(40)
def test_sparse_rows(each_isa, seed, kind, index):
    x = random_array((9, 17), density=0.4, rng=seed, format="csr")
    data = (100 * x.data - 50).astype(kind)
    data[::3] = 0
    if data.dtype.kind == "f":
        data[1::7], data[2::7] = np.nan, -0.0
    indices, want = x.indices.astype(index), np.zeros(9, np.int64)
    reference.hash_sparse(x.indptr, indices, data, 17, seed, want)
    for _ in each_isa():
        got = np.zeros(9, np.int64)
        kernels.hash_sparse(x.indptr, indices, data, 17, seed, got)
        assert (got == want).all()


def test_texts():
    texts = ["", "a", "b", "exactly8", "nine byte", "nine bytE", None, "a" * 100, "a" * 99 + "b"]
    column, out = pa.array([*texts, *texts]).slice(3, 12), np.zeros(12, np.int64)
    kernels.hash_texts(column, 1, out)
    of = dict(zip(column.to_pylist(), out.tolist(), strict=True))
    assert of[None] == 0
    assert len(set(out.tolist())) == len(set(column.to_pylist()))
    assert [of[text] for text in column.to_pylist()] == out.tolist()


def test_invalid_arguments_are_refused():
    out = np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="seeds"):
        kernels.hash_dense(np.zeros((2, 3)), np.zeros(2, np.int64), out)
    with pytest.raises(ValueError, match="hashes"):
        kernels.hash_codes(np.zeros((2, 1), np.int32), np.zeros(2, np.int64), [3], out)
    with pytest.raises(ValueError, match="indptr"):
        kernels.hash_sparse(np.array([0, 9, 9]), np.array([0]), np.array([1.0]), 1, 0, out)
    with pytest.raises(TypeError, match="column"):
        kernels.hash_texts(["a", "b"], 0, out)
