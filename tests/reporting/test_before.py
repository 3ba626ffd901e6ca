"""What rows look like before modelling: distributions, missing patterns, duplicates and leaks."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.reporting.distributions import ClassedRows, distribution
from tallybayes.reporting.duplicates import duplicates
from tallybayes.reporting.leaks import leaks
from tallybayes.reporting.missing import missing_pattern
from tallybayes.schema.schema import Schema

PLAIN = Schema("y", None, (), ())


def classed(**columns: object) -> ClassedRows:
    batch = pa.record_batch(columns)
    names = tuple(dict.fromkeys(batch.column("y").to_pylist()))
    return ClassedRows.of(batch, PLAIN, names)


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).normal(size=60),
        np.random.default_rng(0).integers(0, 5, 60),
        np.random.default_rng(0).integers(-(2**60), 2**60, 60),
        [f"value {k % 25}" for k in range(60)],
        [datetime.date(2020, 1, 1) + datetime.timedelta(days=9 * k) for k in range(60)],
        [datetime.time(k % 24, k) for k in range(60)],
        [True, False, None] * 20,
        [None] * 60,
        ["a long text about nothing in particular, of which there are many " * (1 + k % 3) for k in range(60)],
        [7.5] * 60,
        [float("nan"), 1.0, 2.0] * 20,
    ],
    ids=lambda column: f"{type(column[0]).__name__}-{str(column[0])[:12]}",
)
def test_every_row_is_in_one_bin_or_missing(column: object) -> None:
    rows = classed(x=pa.array(column, from_pandas=False), y=["p", "q"] * 30)
    found = distribution(rows, "x")
    assert (found.counts.sum(axis=0) + found.missing).tolist() == [30, 30]
    assert len(found.bins) == len(found.counts)


def test_the_counts_of_names_are_those_of_the_rows_and_rare_ones_come_together() -> None:
    names = [f"n{k}" for k in range(30) for _ in range(30 - k)]
    rows = classed(x=names, y=["p" if name == "n0" else "q" for name in names])
    found = distribution(rows, "x")
    assert found.bins[0] == "n0"
    assert found.counts[0].tolist() == [30, 0]
    assert found.bins[-1] == "21 more values"
    assert found.counts.sum() == len(names)


def test_columns_that_are_missing_together_are_a_pattern() -> None:
    a = [None, None, 3.0, float("nan"), 5.0, 6.0]
    b = [None, None, "x", None, "x", None]
    found = missing_pattern(classed(a=a, b=b, y=list("ppqpqq")), ["a", "b"])
    assert found.complete == 2
    assert [(one.columns, one.rows) for one in found.patterns] == [(("a", "b"), 3), (("b",), 1)]
    assert found.shares.round(3).tolist() == [[1.0, 0.0], [1.0, 0.333]]


def test_duplicates_are_counted_over_batches_and_do_not_depend_on_their_order() -> None:
    rows = {"a": [1.5, 1.5, 2.5, 1.5, None, None], "b": list("xxyxzz"), "y": ["p", "p", "p", "q", "q", "q"]}
    table = pa.table(rows)
    schema = tb.fit(rows, "y").schema
    whole = duplicates(table.to_batches(), schema)
    assert (whole.rows, whole.repeated, whole.contradicted) == (6, 2, 3)
    assert whole.ceiling == pytest.approx(5 / 6)
    assert duplicates(table.take([5, 0, 3, 2, 1, 4]).to_batches(max_chunksize=2), schema) == whole


def test_a_column_that_tells_one_of_several_classes_is_a_leak_of_that_class() -> None:
    rng = np.random.default_rng(2)
    y = rng.choice(["red", "green", "blue"], 600)
    paid = np.where(y == "green", rng.normal(900, 5, 600), rng.normal(100, 5, 600))
    left = [None if one == "blue" else str(rng.integers(3)) for one in y]
    noise = rng.normal(size=600)
    ids = [f"row {k}" for k in range(600)]
    found = leaks(classed(paid=paid, left=left, noise=noise, ids=ids, y=y), ["paid", "left", "noise", "ids"])
    assert {(one.of, one.column, one.missing) for one in found} == {("green", "paid", False), ("blue", "left", True)}


def test_a_class_of_few_rows_is_no_leak() -> None:
    y = ["rare"] * 5 + ["other"] * 300
    assert leaks(classed(x=y, y=y), ["x"]) == ()


def test_the_page_says_all_of_it() -> None:
    rng = np.random.default_rng(4)
    y = rng.choice(["red", "green", "blue"], 300).tolist()
    rows = {
        "told": [1.0 if one == "green" else 0.0 for one in y],
        "gap": [None if one == "red" and rng.random() < 0.7 else "there" for one in y],
        "few": rng.integers(0, 2, 300).tolist(),
        "y": y,
    }
    data = tb.report(rows, "y", how="5-fold")
    page = data.to_html()
    assert "&#39;told&#39; alone tells green from all other classes" in page
    assert f"{data.before.duplicates.repeated:,} rows repeat an earlier one" in page
    assert "&#39;gap&#39; is missing in" in page
    assert page.count('class="spark"') == 3
    assert data.to_dict()["before"]["duplicates"]["rows"] == 300
