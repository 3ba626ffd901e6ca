"""A step of L-BFGS: compiled against plain NumPy."""

import numpy as np
import pytest

from tallybayes import kernels

from . import lbfgs_reference as reference


@pytest.mark.parametrize("pairs", [0, 1, 2, 8, 32])
@pytest.mark.parametrize("size", [0, 1, 3, 4, 701])
def test_the_recursion_equals_the_reference(pairs, size):
    rng = np.random.default_rng(size)
    curvature = rng.uniform(0.5, 2.0, size)
    moved = [rng.normal(size=size) for _ in range(pairs if size else 0)]
    turned = [curvature * one for one in moved]
    curved = [float(one @ other) for one, other in zip(moved, turned, strict=True)]
    slope = rng.normal(size=size)
    kept = slope.copy()
    got = kernels.inverse_times(moved, turned, curved, slope)
    np.testing.assert_allclose(got, reference.inverse_times(moved, turned, curved, slope), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(slope, kept)


def test_pairs_that_do_not_fit_are_refused():
    one = np.ones(2)
    with pytest.raises(ValueError, match="moved: wanted length 3, got 2"):
        kernels.inverse_times([one], [one], [2.0], np.ones(3))
    with pytest.raises(ValueError, match="an array for each pair"):
        kernels.inverse_times([one], [one, one], [2.0], one)
    with pytest.raises(ValueError, match="at most 32 pairs"):
        kernels.inverse_times([one] * 33, [one] * 33, [2.0] * 33, one)
