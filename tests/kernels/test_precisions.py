"""Most probable precisions: compiled against plain NumPy."""

import numpy as np
import pytest

from tallybayes import kernels

from . import precisions_reference as reference

LOGS = np.linspace(-4, 9, 129)


@pytest.mark.parametrize("seed", range(40))
def test_they_equal_the_reference(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.choice([0, 1, 3, 4, 50, 701], rng.integers(0, 5))
    n = int(sizes.sum())
    curvature = rng.exponential(100.0, n) * (rng.random(n) < 0.9)
    squares = rng.chisquare(1, n) * 10 ** rng.uniform(-4, 1)
    given = curvature, squares, sizes, rng.random(len(sizes)), rng.normal(2, 1, len(sizes)), np.exp(LOGS), LOGS
    strength = float(rng.choice([0.0, 2.0]))
    got = kernels.find_precisions(*given, strength=strength)
    np.testing.assert_allclose(got, reference.find_precisions(*given, strength=strength), rtol=1e-12)


def test_arrays_that_do_not_fit_are_refused():
    one = np.ones(1)
    with pytest.raises(ValueError, match="squares: wanted length 2, got 1"):
        kernels.find_precisions(np.ones(2), one, [2], one, one, np.ones(3), np.ones(3), strength=1.0)
    with pytest.raises(ValueError, match="alphas: wanted at least two"):
        kernels.find_precisions(one, one, [1], one, one, one, one, strength=1.0)
    with pytest.raises(ValueError, match="logs"):
        kernels.find_precisions(one, one, [1], one, one, np.ones(3), one, strength=1.0)
