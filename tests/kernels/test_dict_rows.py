"""Rows that are dicts of numbers: kept and scored as plain Python does it, to the bit as the kernels of many rows."""

import numpy as np
import pytest

from tallybayes import kernels

from . import reference

NAMES = ("a", "b", "c", "d", "e")
VALUES = (None, float("nan"), 0, -0.0, True, 7, 10**17, 1e-310, np.float64(2.5), -3.0)
NOT_PLAIN = ("7", [1], float("inf"), -float("inf"), 10**400, np.float32(1.0))


def row_of(rng):
    """Return a row in which some columns are absent, missing, or have a value of any kind."""
    row = {"other": "text"}
    for name in NAMES:
        kind = rng.integers(0, 5)
        if kind:
            row[name] = VALUES[rng.integers(len(VALUES))] if kind == 1 else float(rng.normal(scale=3))
    return row


def tables(rng):
    """Return edges, sizes, terms and prior of some columns, of one to six classes."""
    sizes, C = rng.choice([1, 2, 17, 255], len(NAMES)), int(rng.integers(1, 7)) if rng.random() < 0.8 else 30
    edges = [np.sort(rng.normal(scale=3, size=size - 1).round(1)) for size in sizes]
    return np.concatenate(edges), sizes, rng.normal(size=(sizes.sum(), C)), rng.normal(size=C)


@pytest.mark.parametrize("seed", range(40))
def test_probabilities_equal_those_of_the_reference_and_of_many_rows(seed):
    rng = np.random.default_rng(seed)
    edges, sizes, table, prior = tables(rng)
    scores, out = kernels.CellScores(NAMES, edges, sizes, table, prior), np.empty(len(prior))
    for _ in range(20):
        row = row_of(rng)
        wanted = reference.cell_probabilities(row, NAMES, edges, sizes, table, prior)
        assert scores.probabilities(row, out) == (wanted is not None)
        if wanted is None:
            continue
        np.testing.assert_allclose(out, wanted, rtol=1e-12)
        values = np.array([[np.nan if row.get(name) is None else float(row[name]) for name in NAMES]])
        many = prior[None].copy()
        kernels.score_codes(kernels.find_cells(values, edges, sizes - 1).T, table, sizes, many)
        kernels.softmax(many)
        np.testing.assert_array_equal(out, many[0])


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_kept_as_the_reference_keeps_them(seed):
    rng = np.random.default_rng(seed)
    rows, kept = kernels.NumberRows(NAMES, 1e16), []
    for _ in range(int(rng.integers(0, 30))):
        row = row_of(rng)
        wanted = reference.number_row(row, NAMES, 1e16)
        assert rows.append(row, f"class {len(kept)}") == (wanted is not None)
        kept += [] if wanted is None else [wanted]
    assert len(rows) == len(kept)
    np.testing.assert_array_equal(rows.values(), np.array(kept).reshape(-1, len(NAMES)))
    assert rows.labels() == [f"class {k}" for k in range(len(kept))]
    rows.clear()
    assert len(rows) == 0
    assert rows.values().shape == (0, len(NAMES))
    assert rows.labels() == []


@pytest.mark.parametrize("bad", NOT_PLAIN)
def test_other_values_are_not_plain_and_change_nothing(bad):
    rows, scores = (
        kernels.NumberRows(("a",), 1e300),
        kernels.CellScores(("a",), np.zeros(0), [1], np.zeros((1, 2)), np.zeros(2)),
    )
    for row in ({"a": bad}, {}, {"b": 1.0}, [1.0]):
        assert not rows.append(row, "no")
        assert not scores.probabilities(row, np.zeros(2))
    assert len(rows) == 0


def test_a_row_that_no_class_makes_possible_has_no_probabilities():
    scores = kernels.CellScores(("a",), np.zeros(1), [2], np.array([[-np.inf], [0.0]]), np.zeros(1))
    assert not scores.probabilities({"a": -1.0}, np.zeros(1))
    assert scores.probabilities({"a": 0.0}, np.zeros(1))


@pytest.mark.parametrize(
    ("edges", "sizes", "table", "prior"),
    [
        (np.zeros(2), [2], np.zeros((2, 1)), np.zeros(1)),
        (np.array([2.0, 1.0]), [3], np.zeros((3, 1)), np.zeros(1)),
        (np.zeros(1), [2], np.zeros((3, 1)), np.zeros(1)),
        (np.zeros(1), [2], np.zeros((2, 1)), np.zeros(2)),
        (np.zeros(1), [2, 1], np.zeros((3, 1)), np.zeros(1)),
        (np.zeros(255), [256], np.zeros((256, 1)), np.zeros(1)),
        (np.zeros(0), [0], np.zeros((0, 1)), np.zeros(1)),
    ],
)
def test_tables_that_do_not_fit_are_refused(edges, sizes, table, prior):
    with pytest.raises(ValueError, match="wanted"):
        kernels.CellScores(("a",), edges, sizes, table, prior)
