"""The minimum of weighted terms, and of any function: compiled against plain NumPy."""

import numpy as np
import pytest

from tallybayes import kernels

from . import lbfgs_reference as reference

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


@pytest.mark.parametrize(
    ("n", "C", "U", "V"), [(1, 2, 1, 0), (7, 2, 4, 2), (300, 2, 6, 4), (500, 5, 3, 2), (40, 3, 0, 1)]
)
@pytest.mark.parametrize("seed", range(3))
def test_terms_are_weighed_as_the_reference_does(n, C, U, V, seed):
    given, target, first, size = task(n, C, U, V, seed)
    rng = np.random.default_rng(seed)
    unit, precision = rng.uniform(0.2, 1.0, size), rng.uniform(0.1, 4.0, size)
    start, wall = rng.normal(size=size) - (seed == 2), 5.0

    def loss(point):
        scale, bias, table = first + target * point[0] + point[1 : 1 + U], point[1 + U : 1 + U + C], point[1 + U + C :]
        found = kernels.weigh_terms(*given, scale, bias, table.reshape(-1, C))
        return found.loss, np.concatenate([[found.slopes[:U] @ target], found.slopes])

    value, slope = loss(start)
    options = {"target": target, "first": first, "drawn": kernels.Drawn(unit, precision, wall)}
    options |= {"start": start, "loss": value, "slope": slope, "limits": kernels.Limits(**LIMITS)}
    got = kernels.minimise_terms(*given, **options, steps=np.zeros((0, 2, size)))
    wanted, steps = reference.minimise_drawn(loss, unit, precision, wall, start, value, slope, [], **LIMITS)
    np.testing.assert_allclose(got.numbers, wanted, rtol=1e-5, atol=1e-5)
    # Rounding may take a step more or less to the same valley.
    assert abs(len(got.steps) - len(steps)) <= 1
    assert got.steps.shape[1:] == (2, size)
    # The same function by way of Python, begun where the last one ended, with what its steps told.
    begun = options | {"start": got.numbers, "loss": loss(got.numbers)[0], "slope": loss(got.numbers)[1]}
    compiled, called = (
        kernels.minimise_terms(*given, **begun, steps=got.steps, function=function) for function in (None, loss)
    )
    np.testing.assert_allclose(compiled.numbers, called.numbers, rtol=1e-6, atol=1e-6)
    again, _ = reference.minimise_drawn(loss, unit, precision, wall, *begun_at(begun), list(got.steps), **LIMITS)
    np.testing.assert_allclose(compiled.numbers, again, rtol=1e-6, atol=1e-6)


def begun_at(options):
    return options["start"], options["loss"], options["slope"]


def test_numbers_that_do_not_fit_are_refused():
    given, target, first, size = task(5, 3, 2, 1, 0)
    drawn = kernels.Drawn(np.ones(size), np.ones(size), 1.0)
    begin = {"start": np.zeros(size), "loss": 1.0, "slope": np.zeros(size), "steps": np.zeros((0, 2, size))}
    options = {"target": target, "first": first, "drawn": drawn, "limits": kernels.Limits(**LIMITS)} | begin
    with pytest.raises(ValueError, match="start: wanted as many numbers"):
        kernels.minimise_terms(*given, **options | {"start": np.zeros(size - 1)})
    with pytest.raises(ValueError, match="slope: wanted length"):
        kernels.minimise_terms(*given, **options | {"slope": np.zeros(size - 1)})
    with pytest.raises(ValueError, match="first: wanted length"):
        kernels.minimise_terms(*given, **options | {"first": np.zeros(5)})
    with pytest.raises(ValueError, match="steps: wanted two rows"):
        kernels.minimise_terms(*given, **options | {"steps": np.zeros((1, 3, size))})
    bad = given[3]._replace(codes=np.full_like(given[3].codes, 7))
    with pytest.raises(ValueError, match="codes: wanted rows of the table"):
        kernels.minimise_terms(*given[:3], bad, *given[4:], **options | {"slope": np.ones(size)})
