"""Most probable precisions: compiled against plain NumPy."""

import numpy as np
import pytest

from tallybayes import kernels

from . import precisions_reference as reference

LOGS = np.linspace(-4, 9, 129)


def some_groups(of, rng, strength=2.0):
    """Return groups of numbers of which little else is known."""
    told, distinct, expected = rng.uniform(1, 2, 6), rng.uniform(0.3, 1, 6), rng.normal(2, 1, 6)
    least = np.where(rng.random(6) < 0.3, 5.0, 0.0)
    return kernels.Groups(of, told, distinct, expected, least, np.exp(LOGS), LOGS, strength, rng.uniform(1, 2))


@pytest.mark.parametrize("seed", range(40))
def test_they_equal_the_reference(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.choice([0, 1, 2, 4, 5], int(rng.choice([0, 1, 3, 50, 701])))
    tables = np.repeat(6 + np.arange(4), rng.choice([1, 3, 4, 50], 4))[: int(rng.choice([0, 2, 100]))]
    of = np.concatenate([kinds, tables]).astype(np.int32)
    n, groups = len(of), some_groups(of, rng, float(rng.choice([0.0, 2.0])))
    curvature = rng.exponential(100.0, n) * (rng.random(n) < 0.9)
    numbers = rng.normal(size=n) * 10 ** rng.uniform(-2, 0.5)
    precision = rng.exponential(4.0, 6 + len(np.unique(tables)))
    asked = rng.permutation(6)[: rng.integers(0, 7)].tolist()
    given = groups, curvature, numbers, precision, asked
    got, (wanted, decided) = kernels.find_precisions(*given), reference.find_precisions(*given)
    np.testing.assert_allclose(got.precision, wanted, rtol=1e-12)
    np.testing.assert_allclose(got.decided, decided, rtol=1e-12)


def test_arrays_that_do_not_fit_are_refused():
    groups = some_groups(np.zeros(2, np.int32), np.random.default_rng(0))
    two, six = np.ones(2), np.ones(6)
    with pytest.raises(ValueError, match="curvature: wanted length 2, got 1"):
        kernels.find_precisions(groups, np.ones(1), two, six, [0])
    with pytest.raises(ValueError, match="groups: wanted length 1, got 2"):
        kernels.find_precisions(groups, np.ones(1), np.ones(1), six, [0])
    with pytest.raises(ValueError, match="groups: wanted 0 to 5"):
        kernels.find_precisions(groups._replace(of=np.full(2, 6, np.int32)), two, two, six, [0])
    with pytest.raises(ValueError, match="precision: wanted one for each group"):
        kernels.find_precisions(groups, two, two, np.ones(5), [0])
    with pytest.raises(ValueError, match="kinds: wanted numbers from 0 to 5"):
        kernels.find_precisions(groups, two, two, six, [6])
    with pytest.raises(ValueError, match="told: wanted length 6, got 5"):
        kernels.find_precisions(groups._replace(told=np.ones(5)), two, two, six, [0])
    with pytest.raises(ValueError, match="alphas: wanted at least two"):
        kernels.find_precisions(groups._replace(alphas=np.ones(1)), two, two, six, [0])
    with pytest.raises(ValueError, match="logs"):
        kernels.find_precisions(groups._replace(logs=np.ones(1)), two, two, six, [0])
    with pytest.raises(TypeError, match="groups: wanted a tuple of nine"):
        kernels.find_precisions(groups[:-1], two, two, six, [0])
