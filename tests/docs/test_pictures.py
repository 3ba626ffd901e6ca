"""docs/samples.md and docs/pictures.md: output as printed, and complete."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import tallybayes as tb
from tallybayes.events import registered

from .pages import ROOT, python_blocks, sections, text_of

PICTURES, SAMPLES = ROOT / "docs" / "pictures.md", ROOT / "docs" / "samples.md"


def test_the_picture_on_the_page_is_what_is_printed() -> None:
    names: dict[str, Any] = {}
    exec(python_blocks(PICTURES)[0][1], names)
    assert f"```\n{names['seen']}\n```" in text_of(PICTURES)


def test_the_error_on_the_page_is_the_one_raised() -> None:
    names: dict[str, Any] = {}
    exec(python_blocks(PICTURES)[0][1], names)
    with pytest.raises(tb.errors.BadOption) as refused:
        names["model"].picture((8, 9))
    quoted = text_of(PICTURES).replace("\n> ", " ")  # the sentence is wrapped on the page
    assert f" {refused.value}\n" in quoted


@pytest.mark.parametrize(("page", "method"), [(SAMPLES, tb.Model.sample), (PICTURES, tb.Model.picture)])
def test_every_option_is_described(page: Path, method: Any) -> None:
    for option in list(inspect.signature(method).parameters)[1:]:
        assert f"| `{option}` |" in sections(page)["Options"]
        assert f"\n{option} : " in inspect.getdoc(method)


@pytest.mark.parametrize("name", registered())
def test_every_event_model_is_on_both_pages(name: str) -> None:
    assert f"| `{name}`" in sections(SAMPLES)["What each event model draws"]
    if name != "text":
        assert f"| `{name}`" in sections(PICTURES)["What dark and lit are"]
