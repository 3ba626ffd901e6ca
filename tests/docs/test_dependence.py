"""docs/dependence.md and docs/queries.md: tables as printed; every option and figure present."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import tallybayes as tb
from tallybayes.structure.information import Pair

from .pages import ROOT, python_blocks, sections, text_of

DEPENDENCE, QUERIES = ROOT / "docs" / "dependence.md", ROOT / "docs" / "queries.md"


@pytest.mark.parametrize(("page", "name"), [(DEPENDENCE, "found"), (QUERIES, "asked")])
def test_the_table_on_the_page_is_what_is_printed(page: Path, name: str) -> None:
    names: dict[str, Any] = {}
    exec(python_blocks(page)[0][1], names)
    assert f"```\n{names[name]}\n```" in text_of(page)


@pytest.mark.parametrize(
    ("page", "section", "function"),
    [(DEPENDENCE, "How columns are counted", tb.dependence), (QUERIES, "How to ask", tb.probability)],
)
def test_every_option_is_described(page: Path, section: str, function: Any) -> None:
    for option in inspect.signature(function).parameters:
        assert f"`{option}`" in sections(page)[section], option
        assert option in inspect.cleandoc(function.__doc__ or "")


def test_every_figure_of_a_pair_and_of_an_answer_is_described() -> None:
    for field in fields(Pair)[1:]:
        assert f"`{field.name}`" in sections(DEPENDENCE)["What is measured"], field.name
    for field in fields(tb.Probability):
        assert f"`{field.name}`" in text_of(QUERIES) or f".{field.name}`" in text_of(QUERIES), field.name


def test_the_picture_of_the_votes_says_what_the_page_says(data: Path) -> None:
    votes = tb.dependence(data / "house-votes-84" / "house_votes_84.csv.gz", "label", missing_values=["?"])
    assert f"{len(votes.dependent())} of {len(votes)} pairs depend on each other given the party" in text_of(DEPENDENCE)
