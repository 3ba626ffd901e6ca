"""Queries and samples of models whose columns depend on each other given the class, beside sums over all cells."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tallybayes as tb

STRUCTURES = ("tan", "joint", "aode")


def chain(n=400, seed=0):
    """Return rows of four columns in which each depends on the one before it, and on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = [rng.integers(0, 3, n)]
    for _ in range(3):
        x.append(np.where(rng.random(n) < 0.4 + 0.4 * y, x[-1], rng.integers(0, 3, n)))
    return {f"x{k}": np.array(list("abc"))[x[k]] for k in range(4)} | {"y": np.where(y, "tied", "free")}


@pytest.fixture(scope="module", params=STRUCTURES)
def model(request):
    return tb.fit(chain(), "y", structure=request.param, calibrate=None)


def probability(model, **values):
    return float(model.probability(", ".join(f"{name}={value}" for name, value in values.items())))


def test_all_cells_sum_to_one_and_give_every_other_answer(model):
    cells = {(c, *x): 0.0 for c in model.classes for x in product("abc", repeat=4)}
    for c, *x in cells:
        cells[c, *x] = probability(model, y=c, **{f"x{k}": v for k, v in enumerate(x)})
    assert sum(cells.values()) == pytest.approx(1)
    assert probability(model, y="tied") == pytest.approx(model.prior["tied"])

    def summed(**values):
        names = ("y", "x0", "x1", "x2", "x3")
        return sum(p for cell, p in cells.items() if all(cell[names.index(n)] == v for n, v in values.items()))

    for given in ({"x0": "a"}, {"x0": "a", "x3": "b"}, {"y": "free", "x1": "c", "x2": "c"}, {"x2": "b", "y": "tied"}):
        assert probability(model, **given) == pytest.approx(summed(**given))
    told = float(model.probability("y=tied, x1=a | x0=a, x3=a"))
    assert told == pytest.approx(summed(y="tied", x1="a", x0="a", x3="a") / summed(x0="a", x3="a"))
    assert float(model.probability("x1!=a | x0=a")) == pytest.approx(1 - summed(x0="a", x1="a") / summed(x0="a"))


def test_whole_rows_are_answered_by_the_score():
    """In each class the probabilities of whole rows are the model's scores, up to what makes them sum to 1."""
    rows = [{f"x{k}": v for k, v in enumerate(x)} for x in product("abc", repeat=4)]
    for structure in ("tan", "joint"):
        model = tb.fit(chain(), "y", structure=structure, calibrate=None)
        scores = model.log_joint(rows)
        for c, name in enumerate(model.classes):
            p = np.array([probability(model, y=name, **row) for row in rows])
            difference = np.log(p) - scores[:, c]
            np.testing.assert_allclose(difference, difference[0], atol=1e-9)
            assert abs(difference[0]) < 0.2


def test_samples_have_the_probabilities_of_the_model(model):
    n = 20_000
    drawn = model.sample(n, seed=3).to_pydict()
    for given in ({"x0": "a", "x1": "a", "y": "tied"}, {"x2": "b", "x3": "b"}, {"x1": "c", "x3": "a", "y": "free"}):
        found = np.mean(np.all([np.array(drawn[name]) == value for name, value in given.items()], axis=0))
        p = probability(model, **given)
        assert abs(found - p) < 6 * np.sqrt(p * (1 - p) / n)


def test_fixed_values_change_the_others(model):
    n = 5000
    drawn = model.sample(n, given={"x1": "a", "y": "tied"}, seed=4).to_pydict()
    assert set(drawn["x1"]) == {"a"}
    for column in ("x0", "x2"):
        p = float(model.probability(f"{column}=a | x1=a, y=tied"))
        assert p > 0.4
        assert abs(np.mean(np.array(drawn[column]) == "a") - p) < 6 * np.sqrt(p * (1 - p) / n)
    classes = model.sample(n, given={"x1": "a", "x2": "b"}, seed=5).to_pydict()["y"]
    p = float(model.probability("y=free | x1=a, x2=b"))
    assert abs(np.mean(np.array(classes) == "free") - p) < 6 * np.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_numbers_are_drawn_along_with_each_other(structure):
    rng = np.random.default_rng(0)
    y = np.repeat(["one", "two"], 1000)
    z = rng.normal(size=2000)
    rows = {
        "u": z + 0.3 * rng.normal(size=2000),
        "v": np.where(y == "one", z, -z) + 0.3 * rng.normal(size=2000),
        "y": y,
    }
    model = tb.fit(rows, "y", structure=structure)
    drawn = model.sample(4000, seed=1).to_pydict()
    u, v, own = np.array(drawn["u"]), np.array(drawn["v"]), np.array(drawn["y"])
    assert np.corrcoef(u[own == "one"], v[own == "one"])[0, 1] > 0.75
    assert np.corrcoef(u[own == "two"], v[own == "two"])[0, 1] < -0.75
    assert abs(np.std(u) - np.std(rows["u"])) < 0.1
    assert (
        float(model.probability("y=one | u=1.5, v=1.5")) > 0.9 > 0.1 > float(model.probability("y=one | u=1.5, v=-1.5"))
    )
    high = np.array(model.sample(500, given={"u": 1.5, "y": "two"}, seed=2).to_pydict()["v"])
    assert np.mean(high < 0) > 0.9


@pytest.mark.parametrize("structure", STRUCTURES)
def test_values_never_seen_and_missing_values_say_nothing_of_others(structure):
    model = tb.fit(chain(), "y", structure=structure, calibrate=None)
    told = model.probability("y=tied | x0=never, x1=a")
    assert "was never seen" in str(told)
    assert float(told) == pytest.approx(float(model.probability("y=tied | x1=a")))
    assert model.sample(10, missing=True).num_rows == 10
    assert model.sample(0).num_rows == 0
    assert set(model.sample(50, given={"x0": "never"}, seed=1).to_pydict()["x0"]) == {"never"}


def test_pairs_that_calibration_weighs_are_no_part_of_it():
    xor = {"left": list("0011") * 30, "right": list("0101") * 30, "y": ["same", "other", "other", "same"] * 30}
    pairs = tb.fit(xor, "y", structure="pairs")
    told = pairs.probability("y=same | left=1, right=1")
    assert float(told) == pytest.approx(0.5)
    assert "weighed by calibration alone" in str(told)
    naive = tb.fit(xor, "y")
    assert pairs.sample(20, seed=2).equals(naive.sample(20, seed=2))
