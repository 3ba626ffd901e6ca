"""Remarks: warnings that a reader needs before trusting the figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.errors import LeftOutWarning

N = 200


def remarks(*, estimate: str = "bayes", **columns: Any) -> dict[str, str]:
    """Return the kind and the sentence of the remark on one column among others."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    rows = {"x": rng.normal(y), **columns, "y": np.where(y, "yes", "no")}
    return {one.kind: one.sentence for one in tb.report(rows, "y", estimate=estimate, keep=["*"]).remarks}


def test_ordinary_columns_are_not_remarked_on() -> None:
    rng = np.random.default_rng(1)
    assert remarks(z=rng.choice(list("abc"), N), n=rng.integers(0, 1000, N) * 1.0, k=rng.poisson(20, N)) == {}


NAMES = [[f"r{k}" for k in range(N)], np.arange(N) + 10_000, np.random.default_rng(0).permutation(N)]


@pytest.mark.parametrize("column", NAMES, ids=["names", "counted off", "shuffled"])
def test_a_column_that_names_its_rows_is_called_an_id(column: Any) -> None:
    assert remarks(key=column)["id"].startswith("'key' has a different value in nearly every row")


def test_measurements_that_are_all_different_are_not_an_id() -> None:
    rng = np.random.default_rng(1)
    assert "id" not in remarks(weight=rng.normal(70, 10, N), pay=rng.integers(10_000, 9_000_000, N))


def test_a_column_that_says_it_all_gives_the_label_away() -> None:
    found = remarks(leak=np.where(np.arange(N) % 2, "p", "q"))
    assert found["gives away"].startswith("'leak' alone predicts 'y' almost completely (1.00 of 1.00 bits)")


def test_a_number_that_says_it_all_gives_the_label_away() -> None:
    rng = np.random.default_rng(1)
    found = remarks(leak=np.arange(N) % 2 * 100 + rng.normal(size=N))
    assert "'leak' alone" in found["gives away"]


def test_many_values_of_few_rows_each_do_not_give_the_label_away() -> None:
    rng = np.random.default_rng(1)
    assert "gives away" not in remarks(street=rng.choice([f"s{k}" for k in range(120)], N))


def test_constant_empty_and_mostly_missing_columns_are_named() -> None:
    assert remarks(k=["same"] * N)["constant"] == "'k' has the same value in every row, so it does not help to predict."
    assert remarks(k=[None] * N)["constant"] == "'k' has no value at all, so it does not help to predict."
    found = remarks(k=[None] * 150 + ["a", "b"] * 25)
    assert found["missing"] == "'k' is missing in 150 of 200 rows, and is ignored there."


def test_few_whole_numbers_may_be_codes() -> None:
    rows = np.random.default_rng(1).integers(1, 4, N)
    assert remarks(grade=rows, estimate="map")["codes"].startswith("'grade' has only 3 different numbers")
    assert remarks(grade=rows) == {}  # a histogram has a cell for each


def test_rare_classes_are_named() -> None:
    y = ["a"] * 100 + ["b"] * 100 + ["c"] * 2
    found = tb.report({"x": np.random.default_rng(0).normal(size=202), "y": y}, "y").remarks
    assert [one.sentence for one in found] == ["Class 'c' has fewer than 10 rows: too few to learn much about it."]


def test_a_stale_calibration_is_reported() -> None:
    rows = {"x": list("ppqq") * 20, "y": ["no", "no", "yes", "no"] * 20}
    half = {name: values[:40] for name, values in rows.items()}
    rest = {name: values[40:] for name, values in rows.items()}
    found = tb.report(rows, model=tb.fit(half, "y").learn(rest)).remarks
    assert [one.kind for one in found] == ["stale"]


def test_a_column_left_out_as_an_id_is_named_in_the_report() -> None:
    rows = {"Kunde": list(range(500, 560)), "size": [k % 7 for k in range(60)], "y": ["a", "b"] * 30}
    with pytest.warns(LeftOutWarning):
        made = tb.report(rows, "y")
    assert made.left_out[0] == "Not used: 'Kunde', which looks like an id (a running number: new rows have others)."
    assert "Not used: &#39;Kunde&#39;, which looks like an id" in made.to_html()
