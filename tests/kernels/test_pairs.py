from __future__ import annotations

import itertools

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
    """Codes, some of them outside their ranges; classes; sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, columns = draw(st.sampled_from([0, 1, 63, 64, 65, 100])), draw(st.integers(0, 7))
    n_classes, dtype = draw(st.sampled_from([1, 2, 3, 7])), draw(st.sampled_from(TYPES))
    codes = rng.integers(0 if dtype is np.uint8 else -1, 5, (n, columns)).astype(dtype)
    if n and columns and draw(st.booleans()):
        codes[rng.integers(n), rng.integers(columns)] = np.iinfo(dtype).min
        codes[rng.integers(n), rng.integers(columns)] = np.iinfo(dtype).max
    sizes = rng.integers(0, 6, columns)
    return codes, rng.integers(0, n_classes, n).astype(np.int32), n_classes, sizes, draw(st.sampled_from(FORMS))


@given(drawn=coded(), weighting=st.sampled_from([None, [1.0], [0.0, 0.1, 3.0], [5e-324, 1e308, 0.5]]))
@examples(80)
def test_the_compiled_counts_are_those_of_the_twin(each_isa, exact, as_table, drawn, weighting):
    codes, y, n_classes, sizes, form = drawn
    weights = None if weighting is None else np.resize(weighting, len(y)).astype(float)
    want = reference.count_pairs(codes, y, n_classes, sizes, weights=weights)
    for _ in each_isa():
        got = kernels.count_pairs(as_table(codes, form), y, n_classes, sizes, weights=weights)
        assert got.limbs.shape[:-1] == want.limbs.shape[:-1]
        assert (exact(got) == exact(want)).all()


@pytest.mark.parametrize("n", [1023, 1024, 1025, 5000])
def test_many_rows_are_counted_as_numpy_counts_them(each_isa, n):
    rng = np.random.default_rng(n)
    sizes = [2, 3, 5, 4, 7, 1, 6]
    codes, y = rng.integers(0, sizes, (n, 7)), rng.integers(0, 3, n).astype(np.int32)
    codes[rng.random(codes.shape) < 0.1] = -1
    for _ in each_isa():
        counts, start = kernels.count_pairs(codes, y, 3, sizes).limbs[..., 0], 0
        for f, g in itertools.combinations(range(7), 2):
            table, both = np.zeros((3, sizes[f], sizes[g]), int), (codes[:, f] >= 0) & (codes[:, g] >= 0)
            np.add.at(table, (y[both], codes[both, f], codes[both, g]), 1)
            assert (counts[:, start : start + table[0].size] == table.reshape(3, -1)).all()
            start += table[0].size
        assert start == counts.shape[1]
