"""Results as tables and as plain values."""

from __future__ import annotations

import datetime
import io
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import tallybayes as tb
from tallybayes.display.tables import Column, Grid, Result, Sheet, number, plain, visible

FRUIT = Grid("Fruit", ("kind", Column("colour", right=False), "count"), (("pears", "green", "12"), ("figs", "", "3")))


@dataclass(frozen=True)
class Basket(Result):
    weight: float

    def shown(self) -> Sheet:
        return Sheet("Basket", (FRUIT, FRUIT), ("Still fresh.",))

    def to_dict(self) -> dict[str, Any]:
        return {"weight": plain(self.weight)}


def test_columns_stand_left_or_right() -> None:
    assert str(FRUIT).splitlines() == [
        "Fruit",
        "kind    colour   count",
        "──────────────────────",
        "pears   green       12",
        "figs                 3",
    ]


def test_a_sheet_is_its_tables_below_each_other_and_the_notes_last() -> None:
    lines = str(Basket(2.5)).splitlines()
    assert lines[0] == "Basket"
    assert lines.count("Fruit") == 2
    assert lines[-2:] == ["", "Still fresh."]


def test_rich_prints_a_result_in_the_width_of_the_terminal() -> None:
    page = io.StringIO()
    Console(file=page, width=14).print(Basket(2.5))
    assert "pe…" in page.getvalue()
    assert max(map(len, page.getvalue().splitlines())) <= 14


def test_a_long_name_widens_the_text_and_is_not_cut() -> None:
    name = "a" * 150
    assert name in str(Grid("", ("kind", "count"), ((name, "1"),)))


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (3.0, "3"), (0.12345, "0.1235"), (-0.5, "-0.5000"), (np.float64(2), "2")]
)
def test_numbers_are_written_short(value: float, text: str) -> None:
    assert number(value) == text


def test_plain_values_are_what_json_takes() -> None:
    given = {
        "array": np.array([[1.0, np.nan], [np.inf, 2]]),
        "whole": np.int64(3),
        "flag": np.True_,
        "dates": (datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12), np.datetime64("2024-02-29")),
        "nothing": None,
        "basket": Basket(float("inf")),
        5: {"set"},
        "other": 1j,
    }
    told = plain(given)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["array"] == [[1, None], [None, 2]]
    assert told["dates"] == ["2024-02-29", "2024-02-29T12:00:00", "2024-02-29"]
    assert told["basket"] == {"weight": None}
    assert told["flag"] is True
    assert told["5"] == ["set"]


def cells(page: str) -> list[str]:
    """Return the text of every cell; refuse unclosed tags."""
    found: list[str] = []
    open_tags: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            open_tags.append(tag)
            if tag in ("td", "th"):
                found.append("")

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

        def handle_data(self, data: str) -> None:
            if open_tags[-1] in ("td", "th"):
                found[-1] += data

    Reader().feed(page)
    assert not open_tags
    return found


def test_a_notebook_shows_the_same_tables() -> None:
    assert cells(FRUIT._repr_html_()) == ["kind", "colour", "count", "pears", "green", "12", "figs", "", "3"]
    assert cells(Basket(2.5)._repr_html_()) == cells(FRUIT._repr_html_()) * 2
    assert "Still fresh." in Basket(2.5)._repr_html_()


DRAWN = ["explain", "table", "nomogram", "importance", "validate", "dependence"]


@pytest.mark.parametrize("name", DRAWN)
def test_a_notebook_shows_the_chart_below_the_table(name: str) -> None:
    rng = np.random.default_rng(3)
    y = rng.choice(["left", "right"], 60)
    rows = {"x": rng.normal(np.where(y == "left", 0.0, 2.0)), "z": rng.choice(["p", "q"], 60).tolist(), "y": y.tolist()}
    model = tb.fit(rows, "y")
    found = {
        "explain": lambda: model.explain({"x": 0.5, "z": "q"}),
        "table": lambda: model.table("x"),
        "nomogram": lambda: model.nomogram(),
        "importance": lambda: model.importance(),
        "validate": lambda: tb.validate(rows, "y", "2-fold"),
        "dependence": lambda: tb.dependence(rows, "y"),
    }[name]()
    page = found._repr_html_()
    assert page.startswith('<div class="tally-result"><style>')
    assert page.index("<table>") < page.index("<svg")
    assert "<path" in page[page.index("<svg") :]
    assert "var(--" not in page  # colours that nothing outside of a report defines
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/", "")
    assert cells(page)


def test_two_charts_in_one_notebook_do_not_share_names() -> None:
    from tallybayes.display.charts.notebook import svg_of
    from tallybayes.display.charts.roc import roc_chart

    point = [{"which": "curve", "at": 0, "fpr": 0.0, "tpr": 0.5, "threshold": 0.5}]
    pages = [
        svg_of(roc_chart(point, [{"fpr": 0.1, "tpr": x}], [{"fpr": 0.0, "tpr": x}, {"fpr": 1.0, "tpr": x}]))
        for x in (0.3, 0.8)
    ]
    names = [set(re.findall(r' id="([^"]+)"', page)) for page in pages]
    used = [set(re.findall(r"url\(#([^)]+)\)", page)) for page in pages]
    assert used[0]
    assert used[0] <= names[0]
    assert used[1] <= names[1]
    assert not used[0] & used[1]


def test_what_comes_from_data_is_shown_and_not_run() -> None:
    rows = {"<i>": ["<script>alert(1)</script>", "b"] * 2, "y": ["<b>", "&amp;"] * 2}
    model = tb.fit(rows, "y")
    for shown in (model, model.table("<i>"), model.tables(), model.explain({"<i>": "b"}), model.nomogram()):
        page = shown._repr_html_()
        assert "<script>" not in page
        assert "<b>" in cells(page) or "<script>alert(1)</script>" in cells(page) or "<i>" in cells(page)


def test_a_model_in_a_notebook_says_what_each_column_is() -> None:
    model = tb.fit({"x": ["p", "q", "q"], "z": [1.0, 2.0, 3.0], "y": ["no", "yes", "yes"]}, "y")
    told = cells(model._repr_html_())
    assert told[:9] == ["y", "rows", "prior", "no", "1", "0.3333", "yes", "2", "0.6667"]
    assert told[9:] == ["column", "event model", "x", "categorical", "z", "histogram"]


def test_a_model_of_many_columns_is_shown_in_short() -> None:
    model = tb.fit(np.random.default_rng(0).random((6, 5000)), [0, 1] * 3)
    page = model._repr_html_()
    assert "and 4,988 more columns" in page
    assert len(page) < 10_000


CONTROLS = [chr(code) for code in (*range(32), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"]


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
def test_no_control_character_of_a_cell_or_a_name_reaches_a_terminal(control: str) -> None:
    name = f"a{control}]0;b"
    model = tb.fit({name: [name, "q", name], "y": [name, "no", "no"]}, "y", calibrate=None)
    grid = Grid(name, (name, "count"), ((name, name),), (name,))
    for shown in (grid, Sheet(name, (grid,), (name,)), model.table(name), model.explain({name: name})):
        page = io.StringIO()
        Console(file=page, force_terminal=True, color_system=None, width=200).print(shown)
        for text in (page.getvalue(), str(shown)):
            assert control not in text
            assert f"\\x{ord(control):02x}" in text


def test_no_name_can_turn_the_direction_of_writing() -> None:
    assert visible("invoice\u202egpj.exe") == "invoice\\u202egpj.exe"
    assert "\u2066" not in str(Grid("", ("kind",), (("a\u2066b",),)))
    assert visible("שלום, naïve 漢字 👍🏽") == "שלום, naïve 漢字 👍🏽"


MODELS = Grid(
    "",
    ("", Column("option", right=False), "log-loss", "gain", "± error", "accuracy", "Brier score"),
    tuple((f"a way to model the rows, number {k}", f"--event NAME=model{k}", *["0.2066"] * 5) for k in range(3)),
    ("The end.",),
)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_a_narrow_terminal_shows_fewer_numbers_and_cuts_none(width: int) -> None:
    page = io.StringIO()
    Console(file=page, force_terminal=True, color_system=None, width=width).print(MODELS)
    lines = page.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    heads = ["log-loss", "gain", "± error", "accuracy", "Brier score"]
    said = " ".join(page.getvalue().split()).partition("Left out for want of room: ")[2]
    left = [name for name in heads if name in said]
    assert len(left) == {40: 4, 60: 3, 80: 1, 100: 0, 140: 0}[width]
    assert page.getvalue().count("0.2066") == 3 * (5 - len(left))
    assert lines[-1].rstrip() == "The end."
    assert all(name in str(MODELS).splitlines()[0] for name in heads)


def test_a_text_is_as_wide_as_its_table() -> None:
    names = [f"class {k} of many" for k in range(150)]
    lines = str(Grid("", ("", *names), (("x", *["0.123456"] * 150),))).splitlines()
    assert " ".join(lines).split().count("many") == 150
    assert lines[-1].split() == ["x", *["0.123456"] * 150]


def test_a_text_leaves_out_the_last_of_thousands_of_numbers() -> None:
    names = [f"c{k}" for k in range(3000)]
    *_, numbers, said = str(Grid("", ("", *names), (("x", *["0.123456"] * 3000),))).splitlines()
    shown = len(numbers.split()) - 1
    assert 300 < shown < 400
    assert said == f"Left out for want of room: {', '.join(names[shown : shown + 20])} and {3000 - shown - 20:,} more."
