"""The demo: every part runs and shows the lecture's figures; its data is as described."""

from __future__ import annotations

from pathlib import Path

import pytest

import tallybayes as tb
from tallybayes.cli.demo.command import PARTS
from tallybayes.cli.demo.data import iris, messages, numeric_weather, xor

from .shell import Shell

SAID = {
    "weather": ["prior × likelihood of no  = 0.020571", "prior × likelihood of yes = 0.005291", "P = no 0.7954"],
    "numeric": ["sd      7.8930   6.1644", "likelihood of no  = 0.000136347", "likelihood of yes = 0.000035787"],
    "spam": ["P(kind=spam | text~prince) = 1", "for spam", "P(spam) = 1.000", "accuracy                     0.95"],
    "digits": ["5                  6", "6 against 5: the pixels that say most", "right. The one it is least sure of:"],
    "xor": ["'left' and 'right' together say what neither says alone", "one column of four values: 1.000 right."],
    "loo": ["Validation by loo: 150 rows, 3 classes", "Of the 14 days of weather 7 are predicted"],
}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_shows_its_figures(tally: Shell, part: str) -> None:
    shown = tally.done(f"demo {part}")
    for words in SAID[part]:
        assert words in shown


def test_all_parts_come_one_after_another_and_a_report_behind_them(tally: Shell) -> None:
    shown = tally.done("demo --course -o page.html")
    places = [shown.index(SAID[part][-1]) for part in PARTS]
    assert places == sorted(places)
    assert "is in page.html" in shown
    assert Path("page.html").stat().st_size > 10_000


def test_the_tour_is_short_and_shows_three_things(tally: Shell) -> None:
    shown = tally.done("demo")
    assert len(shown.splitlines()) < 50
    for words in ("prize", "the counts are the same as before? no.", "to the last bit? yes.", "calibration error"):
        assert words in shown
    assert "tally demo --course" in shown
    assert not Path("tally-demo.html").exists()


def test_an_existing_report_is_not_overwritten(tally: Shell) -> None:
    Path("page.html").write_text("mine")
    assert "page.html: wanted a new file" in tally.refused("demo --course -o page.html")
    assert Path("page.html").read_text() == "mine"


def test_the_messages_are_a_few_hundred_of_two_kinds_none_of_them_twice() -> None:
    rows = [row for batch in tb.read(messages()) for row in batch.to_pylist()]
    assert len(rows) == 300
    assert len({row["text"] for row in rows}) == 300
    assert {row["kind"] for row in rows} == {"ham", "spam"}
    assert tb.fit(messages(), "kind").schema.events() == {
        "sender": "categorical",
        "hour": "histogram",
        "links": "histogram",
        "text": "text",
    }


def test_the_other_data_is_what_it_is_called() -> None:
    assert tb.fit(numeric_weather(), "play").schema.events()["humidity"] == "histogram"
    assert len(iris()["species"]) == 150
    rows = xor()
    assert ((rows["left"] ^ rows["right"]) == (rows["light"] == "on")).all()
