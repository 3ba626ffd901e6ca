"""The minimum of weighted terms, and of any function: compiled against plain NumPy."""

import numpy as np
import pytest

from tallybayes import kernels

from . import lbfgs_reference as reference
from .test_precisions import some_groups

LIMITS = {"steps": 60, "gain": 1e-9, "least": 1.0}


def valley(size, seed=0):
    """Return a function that is not a parabola: Σ h log cosh(x − centre), and its slope."""
    rng = np.random.default_rng(seed)
    centre, height = rng.normal(size=size), rng.uniform(0.5, 20.0, size)

    def function(point):
        away = point - centre
        return float((height * np.logaddexp(away, -away)).sum()), height * np.tanh(away)

    return function, centre


@pytest.mark.parametrize("size", [1, 3, 8, 9, 129, 700])
def test_the_minimum_is_the_references(size):
    function, centre = valley(size, seed=size)
    start = np.zeros(size)
    kept = start.copy()
    got = kernels.minimise(function, start, *function(start), kernels.Limits(**LIMITS))
    wanted, _ = reference.minimise(function, start, *function(start), **LIMITS)
    # Rounding sends many numbers on other ways to the same valley.
    np.testing.assert_allclose(function(got)[0], function(wanted)[0], rtol=1e-7)
    np.testing.assert_allclose(got, wanted, rtol=1e-7 if size < 10 else 0.1, atol=1e-9 if size < 10 else 0.01)
    np.testing.assert_allclose(got, centre, atol=0.05)
    np.testing.assert_array_equal(start, kept)


def test_a_function_that_is_nowhere_lower_stays_where_it_is():
    got = kernels.minimise(lambda x: (np.nan, x + 1), np.ones(2), 1.0, np.ones(2), kernels.Limits(**LIMITS))
    np.testing.assert_array_equal(got, np.ones(2))


def test_errors_of_the_function_are_raised():
    with pytest.raises(ZeroDivisionError):
        kernels.minimise(lambda x: 1 / 0, np.zeros(2), 1.0, np.ones(2), kernels.Limits(**LIMITS))
    with pytest.raises(ValueError, match="slope: wanted length 2, got 3"):
        kernels.minimise(lambda x: (0.0, np.zeros(3)), np.zeros(2), 1.0, np.ones(2), kernels.Limits(**LIMITS))
    with pytest.raises(TypeError, match="function: wanted value and slope"):
        kernels.minimise(lambda x: 0.0, np.zeros(2), 1.0, np.ones(2), kernels.Limits(**LIMITS))


def task(n, C, U, V, seed):
    """Return terms, half of them by row, and corrections of three bins for each of V columns."""
    rng = np.random.default_rng(seed)
    T, K = U - U // 2, 3 * V
    codes = rng.integers(-1, 3, (V, n)).astype(np.int32)
    coded = kernels.CodedTerms(
        codes,
        np.full(V, 3),
        rng.normal(size=(K, C - 1)),
        np.array([T + v if T + v < U else -1 for v in range(V)], np.int32),
        np.arange(K, dtype=np.int32),
    )
    terms = rng.normal(size=(T, C - 1, n)).astype(np.float32)
    classes, weights, share = rng.integers(0, C, n).astype(np.int32), rng.uniform(0.2, 2, n), rng.uniform(0.5, 1, n)
    given = rng.normal(size=(C - 1, n)), terms, np.arange(T, dtype=np.int32), coded, classes, weights, share
    return given, rng.uniform(0, 1, U).round(), rng.normal(size=U) * 0.1, 1 + U + C + K * C


def groups_of(C, U, V, rng):
    """Return the groups of a common weight, weights, of which some are free, the bias, and V tables."""
    own = np.where(rng.random(U) < 0.8, 1, 5)
    of = np.concatenate([[0], own, np.full(C, 2), np.repeat(6 + np.arange(V), 3 * C)])
    return some_groups(of.astype(np.int32), rng)


@pytest.mark.parametrize(
    ("n", "C", "U", "V"), [(1, 2, 1, 0), (7, 2, 4, 2), (300, 2, 6, 4), (500, 5, 3, 2), (40, 3, 0, 1)]
)
@pytest.mark.parametrize("seed", range(3))
def test_terms_are_fitted_as_the_reference_does(n, C, U, V, seed):
    given, target, first, size = task(n, C, U, V, seed)
    rng = np.random.default_rng(seed)
    groups, start, precision = (
        groups_of(C, U, V, rng),
        rng.normal(size=size) - (seed == 2),
        rng.uniform(0.1, 4.0, 6 + V),
    )

    def loss(point, curved=True):
        scale, bias, table = first + target * point[0] + point[1 : 1 + U], point[1 + U : 1 + U + C], point[1 + U + C :]
        found = kernels.weigh_terms(*given, scale, bias, table.reshape(-1, C), curved=curved)
        curvature = np.maximum(np.concatenate([[found.all_curve], found.curves]), 0.0)
        slope = np.concatenate([[found.slopes[:U] @ target], found.slopes])
        return found.loss, slope, curvature if curved else np.zeros(0)

    rounds, kinds = [kernels.Limits(**LIMITS)] * 2, [1, 2, 3, 5]
    options = {"target": target, "first": first, "groups": groups, "kinds": kinds, "rounds": rounds, "wall": 5.0}
    options |= {"start": start, "precision": precision}
    got = kernels.fit_terms(*given, **options, steps=np.zeros((0, 2, size)))
    wanted, drawn, steps, decided = reference.fit_rounds(loss, groups, kinds, start, precision, [], rounds, 5.0)
    np.testing.assert_allclose(got.numbers, wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got.precision, drawn, rtol=1e-12)
    np.testing.assert_allclose(got.decided, decided, rtol=1e-4)
    # Rounding may take a step more or less to the same valley.
    assert abs(len(got.steps) - len(steps)) <= 1
    assert got.steps.shape[1:] == (2, size)
    # The same function by way of Python, begun where the last one ended, with what its steps told.
    begun = options | {"start": got.numbers, "precision": got.precision, "steps": got.steps}
    compiled, called = (kernels.fit_terms(*given, **begun, function=function) for function in (None, loss))
    np.testing.assert_allclose(compiled.numbers, called.numbers, rtol=1e-5, atol=1e-5)
    again = reference.fit_rounds(loss, groups, kinds, got.numbers, got.precision, got.steps, rounds, 5.0)
    np.testing.assert_allclose(compiled.numbers, again[0], rtol=1e-5, atol=1e-5)


def test_numbers_that_do_not_fit_are_refused():
    given, target, first, size = task(5, 3, 2, 1, 0)
    begin = {"start": np.zeros(size), "precision": np.ones(7), "steps": np.zeros((0, 2, size))}
    options = {"target": target, "first": first, "groups": groups_of(3, 2, 1, np.random.default_rng(0)), "kinds": [1]}
    options |= {"rounds": [kernels.Limits(**LIMITS)], "wall": 1.0} | begin
    with pytest.raises(ValueError, match="start: wanted as many numbers"):
        kernels.fit_terms(*given, **options | {"start": np.zeros(size - 1)})
    with pytest.raises(ValueError, match="groups: wanted 0 to 5"):
        kernels.fit_terms(*given, **options | {"precision": np.ones(6)})
    with pytest.raises(ValueError, match="first: wanted length"):
        kernels.fit_terms(*given, **options | {"first": np.zeros(5)})
    with pytest.raises(ValueError, match="steps: wanted two rows"):
        kernels.fit_terms(*given, **options | {"steps": np.zeros((1, 3, size))})
    with pytest.raises(TypeError, match="function: wanted loss, slope and curvature"):
        kernels.fit_terms(*given, **options | {"function": lambda point, curved: (0.0, point)})
    bad = given[3]._replace(codes=np.full_like(given[3].codes, 7))
    with pytest.raises(ValueError, match="codes: wanted rows of the table"):
        kernels.fit_terms(*given[:3], bad, *given[4:], **options)
