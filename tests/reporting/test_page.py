"""The page: well formed, complete and self-contained."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.reporting import report
from tallybayes.reporting.sections.format import short_names

from .rows import HOSTILE, SHOWN, flowers, mixed, page_of, without_notes

VOID = {"meta", "link", "input", "br", "img"}
PAGES = ["mixed", "flowers", "hostile"]


class Reader(HTMLParser):
    """A parser that refuses tags that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.text.append(data)


@pytest.mark.parametrize("name", PAGES)
def test_every_section_is_present_in_order(name: str) -> None:
    read = Reader(page_of(name))
    assert [attrs["id"] for tag, attrs in read.tags if tag == "section"] == [section for section, _ in SHOWN]
    links = [attrs["href"] for tag, attrs in read.tags if tag == "a" and "href" in attrs]
    assert {f"#{section}" for section, _ in SHOWN} <= set(links)


def test_drift_is_on_the_page_where_new_rows_are_given() -> None:
    part = re.search(r'<section id="drift">(.*?)</section>', page_of("mixed"), re.DOTALL)
    assert part is not None
    assert "<b>ward</b>" in part[1]
    assert "compared with <b>90</b> new rows" in part[1]
    few = re.search(r'<section id="drift">(.*?)</section>', page_of("flowers"), re.DOTALL)
    assert few is not None
    assert "Too few rows to say" in few[1]
    without = report(without_notes(60), "state")
    assert without.drift is None
    assert 'id="drift"' not in without.to_html()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_loads_nothing_from_elsewhere(name: str) -> None:
    for tag, attrs in Reader(page_of(name)).tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form")
        for key in ("src", "href", "action", "srcset", "data"):
            value = attrs.get(key)
            inside = value is not None and tag == "a" and "download" in attrs and value.startswith("data:text/csv;")
            assert value is None or value.startswith("#") or value == "data:," or inside, (tag, value)
    style = re.search(r"<style>(.*?)</style>", page_of(name), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert "default-src 'none'" in page_of(name)


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_has_its_chart_and_every_chart_its_figure(name: str) -> None:
    read = Reader(page_of(name))
    asked = [attrs["data-chart"] for tag, attrs in read.tags if tag == "figure"]
    drawn = json.loads(read.scripts[0])
    assert sorted(asked) == sorted(drawn["specs"])
    assert set(drawn["sliders"]) <= set(drawn["specs"])
    for spec in drawn["specs"].values():
        assert spec["width"] == "container"
        assert "$schema" not in spec


def test_every_picture_has_its_numbers_beside_it() -> None:
    body = page_of("mixed")
    for section, _ in SHOWN:
        part = re.search(rf'<section id="{section}">(.*?)</section>', body, re.DOTALL)
        assert part is not None
        assert "<table" in part[1], section


def test_names_from_the_data_are_shown_and_not_run() -> None:
    read = Reader(page_of("hostile"))
    assert len(read.scripts) == 3  # what is drawn, the libraries, and the page's own
    assert not any(tag == "img" for tag, _ in read.tags)
    assert not any(tag in ("b", "i") and HOSTILE in attrs for tag, attrs in read.tags)
    assert any(HOSTILE in text for text in read.text)
    assert not any(key.startswith("on") for _, attrs in read.tags for key in attrs)
    assert "<" not in read.scripts[0]


def test_the_first_screen_says_the_answer() -> None:
    answer = mixed().answer["accuracy"]
    text = " ".join(" ".join(Reader(page_of("mixed")).text).split())
    assert f"the model is right {answer.value:.1%}".replace("%", " %") in text
    assert f"is right {answer.plain:.1%}".replace("%", " %") in text


def test_figures_on_the_page_are_those_of_the_data() -> None:
    text = page_of("flowers")
    data = flowers()
    for one in data.answer.figures:
        assert f"{one.value:.4f}" in text
    assert f"{data.answer.after.ece:.3f}" in text
    for curve in data.answer.evaluation.curves.values():
        assert f"{curve.auc:.3f}" in text


def test_weights_of_columns_are_on_the_page_highest_first() -> None:
    weights = mixed().weights
    assert weights is not None
    assert weights.weights.tolist() == sorted(weights.weights.tolist(), reverse=True)
    assert len(set(weights.weights.tolist())) > 1
    part = page_of("mixed").partition("<h3>Weights of columns</h3>")[2].partition("</details>")[0] + "</details>"
    text = " ".join(Reader(part).text).split()
    shown = [text.index(name) for name in weights.columns]
    assert shown == sorted(shown)
    for place, weight in zip(shown, weights.weights, strict=True):
        assert text[place + 1] == f"{weight:.2f}"


def test_a_page_without_calibration_has_no_weights_of_columns() -> None:
    data = report(without_notes(60), "state", calibrate=None)
    assert data.weights is None
    assert "Weights of columns" not in data.to_html()


def test_the_wrong_rows_can_be_downloaded_and_are_no_formulas() -> None:
    data = report({"x": list("pq" * 30), "y": (["=1+1", "no"] * 20) + (["no", "=1+1"] * 10)}, "y", how="5-fold")
    [link] = [attrs["href"] for tag, attrs in Reader(data.to_html()).tags if "download" in attrs]
    header, *rows = base64.b64decode(link.partition("base64,")[2]).decode().splitlines()
    answer = data.answer
    assert header == "row,true,predicted,P(true)"
    assert [int(row.split(",")[0]) - 1 for row in rows] == np.flatnonzero(answer.true != answer.decided).tolist()
    assert all(cell in ("'=1+1", "no") for row in rows for cell in row.split(",")[1:3])


def test_the_first_lines_say_when_the_class_shares_are_better() -> None:
    twins = [str(k // 2) for k in range(60)]  # each value has a row of either class: what is left out misleads
    worse = report({"twin": twins, "y": list("ab" * 30)}, "y", how="10-fold", alpha=0.01, calibrate=None)
    assert worse.answer.worse_than_prior
    assert "Do not use these probabilities." in worse.to_html()
    better = report({"x": list("ab" * 30), "y": list("ab" * 30)}, "y")
    assert not better.answer.worse_than_prior
    assert "Do not use these probabilities." not in better.to_html()


def test_tables_below_charts_are_folded_and_columns_can_be_searched() -> None:
    page = page_of("mixed")
    assert page.count('<details class="fold"') > 5
    assert 'data-find="columns-table"' in page
    assert 'id="columns-table"' in page


def test_a_spike_is_said_and_long_names_differ_at_their_ends() -> None:
    rng = np.random.default_rng(4)
    names = [f"a class with a very long name that goes on and on, number {k}" for k in range(5)]
    classes = rng.integers(0, 5, 400)
    pay = np.where(rng.random(400) < 0.7, 0.0, rng.lognormal(8 + classes / 4, 1.2).round())
    made = report({"pay": pay, "size": rng.normal(classes), "kind": [names[c] for c in classes]}, "kind")
    text = " ".join("".join(Reader(made.to_html()).text).split())
    spike = re.search(
        r"0 in (\d+) to (\d+) % of each class; the chart shows the other rows, on a logarithmic axis\.", text
    )
    assert spike is not None
    assert 50 < int(spike[1]) < 70 < int(spike[2]) < 90
    for k in range(5):
        assert len(re.findall(rf"…[a-z ]*, number {k}", text)) == 2  # in two tables
    [before] = [one for one in made.before.distributions if one.column == "pay"]
    assert before.bins[0] == "0"
    assert before.counts[0].sum() == (pay == 0).sum()
    assert before.counts.sum() == 400


def test_long_names_of_many_classes_are_numbered_over_the_confusion_matrix() -> None:
    names = [
        f"{place} admission, {kind}" for place in ("planned", "emergency") for kind in ("day case", "overnight stay")
    ]
    names += ["maternity, delivery with complications", "maternity, delivery without complications"]
    rows = {"x": [k % 7 for k in range(300)], "y": [names[k % 6] for k in range(300)]}
    page = tb.report(rows, "y", how="2-fold").to_html()
    heads = re.search(r'<table class="confusion dense numbered">\s*<thead><tr>(.*?)</tr>', page, re.DOTALL)
    assert heads is not None
    assert re.findall(r'<th title="[^"]*">([^<]*)</th>', heads[1]) == ["1", "2", "3", "4", "5", "6"]
    assert (
        '<table class="confusion dense numbered">'
        not in tb.report(rows | {"y": [f"c{k % 6}" for k in range(300)]}, "y", how="2-fold").to_html()
    )


def test_names_that_are_shortened_stay_different() -> None:
    long = [f"a class with a rather long name, number {k}, of the first kind in the list" for k in range(8)]
    for most in (12, 17, 38):
        assert len(set(short_names(long, most))) == 8
        assert max(map(len, short_names(long, most))) <= most + 2
    assert short_names(["a", "b"], 17) == ["a", "b"]
