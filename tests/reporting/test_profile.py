"""A page on rows without a label."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.cli.main import main
from tallybayes.reporting.page import Charts
from tallybayes.reporting.sections.profile import PROFILE_SECTIONS

from .rows import alone


def test_it_says_what_is_in_each_column() -> None:
    found = alone()
    kinds = {one.name: one.kind for one in found.before.facts}
    assert kinds["age"] == "numbers"
    assert kinds["smoker"] == "text"
    assert (found.rows, found.columns) == (300, 8)
    assert "constant" in [one.column for one in found.remarks if one.kind == "constant"]
    assert {"admitted.month", "admitted.weekday"} <= kinds.keys()  # parts of a date have distributions of their own
    assert found.before.leaks == ()


def test_dependent_columns_are_found_and_independent_ones_are_not() -> None:
    rows = {"a": ["x", "y"] * 60, "b": ["p", "q"] * 60, "c": ["u", "u", "v"] * 40}
    assert [one.columns for one in tb.profile(rows).dependent()] == [("a", "b")]


def test_a_column_called_like_the_class_that_stands_in_is_kept() -> None:
    found = tb.profile({"rows": ["p", "q"] * 20, "x": [1.5, 2.5] * 20})
    assert [one.name for one in found.before.facts] == ["rows", "x"]


def test_ids_are_described_and_not_left_out(recwarn: pytest.WarningsRecorder) -> None:
    found = tb.profile({"id": [f"k{k:04d}z" for k in range(80)], "x": ["p", "q"] * 40})
    assert found.columns == 2
    assert [one.kind for one in found.remarks] == ["id"]
    assert not recwarn.list


@pytest.mark.parametrize("rows", [{"x": [1.0, None, 3.0]}, {"x": ["one text of several words here"] * 5}, [[1, 2]] * 3])
def test_one_column_texts_and_arrays_have_a_page(rows: object) -> None:
    assert tb.profile(rows).to_html().startswith("<!DOCTYPE html>")


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "stock.csv", tmp_path / "stock.html"
    path.write_text("item;price;seen\n" + "".join(f"i{k % 4};{k % 7},50;2024-03-{1 + k % 9:02d}\n" for k in range(40)))
    assert main(["report", str(path), "--no-label", "-o", str(page)]) == 0
    text = page.read_text()
    assert "What is in" in text
    assert "2024-03-01 to 2024-03-09" in text
    assert main(["report", str(path), "--no-label", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 1)[1])["rows"] == 40


@pytest.mark.parametrize("more", [["--label", "item"], ["--how", "loo"], ["--weight", "price"]])
def test_options_of_a_model_are_refused(more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "stock.csv"
    path.write_text("item,price\na,1\nb,2\n")
    assert main(["report", str(path), "--no-label", *more]) == 2
    assert (
        capsys.readouterr().err
        == f"tally: --no-label: wanted no {more[0]}, got {' '.join(more)}. Leave out one of them.\n"
    )


def test_to_arrow_has_a_row_for_each_column() -> None:
    table = tb.profile({"a": [1.5, None, 2.5], "b": ["p", "q", "p"]}).to_arrow()
    assert table.to_pylist() == [
        {"column": "a", "values": "numbers", "missing": 1, "distinct": 2},
        {"column": "b", "values": "text", "missing": 0, "distinct": 2},
    ]


def test_heavy_tails_are_drawn_on_a_logarithmic_axis_and_a_spike_is_said() -> None:
    rng = np.random.default_rng(8)
    pay = np.where(rng.random(1000) < 0.6, 0.0, rng.lognormal(6, 1.8, 1000).round(2))
    found = tb.profile({"pay": pay, "height": rng.normal(170, 9, 1000).round(1)})
    heavy, plain = found.before.distributions
    assert heavy.axis is not None
    assert heavy.axis.spike == 0.0
    assert plain.axis is None
    charts = Charts()
    cards = next(make for name, _, make in PROFILE_SECTIONS if name == "distributions")(found, charts)
    assert cards is not None
    share = round(100 * float((pay == 0).mean()))
    assert [card["note"] for card in cards["cards"]] == [
        f"0 in {share} % of the rows; the chart shows the others, on a logarithmic axis.",
        "",
    ]
    drawn = charts.specs["column-0-0"]
    assert drawn["encoding"]["x"]["scale"]["type"] == "symlog"
    assert sum(point["rows"] for point in drawn["data"]["values"]) == (pay != 0).sum()
    widths = [np.ptp(heavy.axis.forward(np.array([one["from"], one["to"]]))) for one in drawn["data"]["values"]]
    np.testing.assert_allclose(widths, widths[0])
    assert "type" not in charts.specs["column-1-0"]["encoding"]["x"]["scale"]


def test_dates_are_drawn_as_dates_and_months_in_their_order() -> None:
    days = [f"{1 + k % 28:02}.{1 + (k * k) % 12:02}.202{k % 2}" for k in range(400)]
    found = tb.profile({"seen on": days, "at": [f"{k % 24}:{k % 60:02}" for k in range(400)]})
    charts = Charts()
    columns = next(make for name, _, make in PROFILE_SECTIONS if name == "data")(found, charts)["columns"]
    ends = {one["name"]: one["ends"] for one in columns}
    assert ends["seen on.days"].startswith("2020-01-")
    assert " to 2021-" in ends["seen on.days"]
    assert ends["at"] == "0:00 to 23:59"
    by_name = {one.column: one for one in found.before.distributions}
    months = by_name["seen on.month"].bins
    assert list(months) == sorted(months)
    assert by_name["seen on.days"].axis is None
    assert by_name["seen on.days"].bins[0].startswith("2020-01-")
    next(make for name, _, make in PROFILE_SECTIONS if name == "distributions")(found, charts)
    place = list(by_name).index("seen on.days")
    axis = charts.specs[f"column-{place}-0"]["encoding"]["x"]["axis"]
    assert "utcFormat" in axis["labelExpr"]
    assert len(axis["values"]) > 1
