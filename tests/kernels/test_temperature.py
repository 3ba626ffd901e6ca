from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import reference


@given(
    seed=st.integers(0, 2**32),
    shape=st.tuples(st.sampled_from([0, 1, 5, 40]), st.sampled_from([1, 2, 3, 4, 5, 9])),
    at=st.tuples(st.floats(-3, 2), st.floats(-2, 2)),
    weighted=st.booleans(),
)
@examples(100)
def test_losses_and_their_derivatives(each_isa, seed, shape, at, weighted):
    rng = np.random.default_rng(seed)
    scores = -np.abs(rng.normal(size=shape)) * 10 ** rng.uniform(-3, 3, (shape[0], 1))
    scores[rng.random(shape) < 0.1] = -1e8
    scores[np.arange(shape[0]), rng.integers(0, shape[1], shape[0])] = 0.0
    own = scores[np.arange(shape[0]), rng.integers(0, shape[1], shape[0])]
    logs = np.where(rng.random(shape[0]) < 0.2, np.nan, rng.uniform(-2, 2, shape[0]))
    weights = rng.uniform(0, 2, shape[0]) if weighted else None
    want = np.empty(shape[0])
    sums = reference.temper(scores, own, logs, weights, *at, want)
    parts = [slice(k, min(k + 7, shape[0])) for k in range(0, shape[0], 7)]
    for _ in each_isa():
        got = np.empty(shape[0])
        np.testing.assert_allclose(kernels.temper(scores, own, logs, weights, *at, got), sums, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
        slices, whole = np.empty(shape[0]), kernels.temper(scores, own, logs, weights, *at, got)
        apart = kernels.temper(
            scores, own, logs, weights, *at, slices, lambda _, work: [work(part) for part in parts[::-1]]
        )
        assert apart == whole
        assert (slices == got).all()


def test_invalid_arguments_are_refused():
    two = np.zeros(2)
    with pytest.raises(ValueError, match="own"):
        kernels.temper(np.zeros((2, 2)), np.zeros(3), two, None, 0.0, 0.0, two.copy())
    with pytest.raises(ValueError, match="weights"):
        kernels.temper(np.zeros((2, 2)), two, two, np.zeros(1), 0.0, 0.0, two.copy())
    with pytest.raises(TypeError, match="logs"):
        kernels.temper(np.zeros((2, 2)), two, np.zeros(2, np.int64), None, 0.0, 0.0, two.copy())
