from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples
from tests.kernels import reference


def _problem(seed, n, C, sizes):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(-1, size + 1, n) for size in sizes], axis=1)
    p = rng.dirichlet(np.ones(C), n)
    full, less = rng.normal(size=(2, sum(sizes), C)) * 10 ** rng.uniform(-2, 2)
    classes = rng.integers(0, C, n).astype(np.int32)
    return codes, full, less, sizes, classes, p, rng.uniform(0, 2, n), rng.uniform(0, 2, n)


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 3, 64, 257]),
    C=st.sampled_from([1, 2, 3, 7]),
    sizes=st.sampled_from([[1], [2, 3], [64, 5, 1]]),
    type_=st.sampled_from([np.int8, np.int16, np.int32, np.int64]),
)
@examples(100)
def test_slopes_and_curves_are_those_of_the_twin(each_isa, seed, n, C, sizes, type_):
    codes, *others = _problem(seed, n, C, sizes)
    want = reference.score_test(codes, *others)
    first = None
    for _ in each_isa():
        for table in (codes.astype(type_), tuple(np.ascontiguousarray(codes.T.astype(type_)))):
            got = kernels.score_test(table, *others)
            for mine, theirs in zip(got, want, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-7)
            first = got if first is None else first
            assert all(np.array_equal(a, b) for a, b in zip(got, first, strict=True))  # the same bits


@pytest.mark.parametrize("place", [1, 2, 5, 6, 7])
def test_shapes_that_do_not_fit_are_refused(place):
    given = list(_problem(1, 5, 2, [3]))
    given[place] = np.zeros((*given[place].shape[:-1], given[place].shape[-1] + 1))
    with pytest.raises(ValueError, match="wanted"):
        kernels.score_test(*given)


def test_classes_out_of_range_are_refused():
    given = list(_problem(1, 5, 2, [3]))
    given[4] = np.full(5, 2, np.int32)
    with pytest.raises(ValueError, match="classes: wanted"):
        kernels.score_test(*given)
