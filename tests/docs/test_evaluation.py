"""docs/evaluation.md: its table as printed; every option and name present."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tallybayes as tb
from tallybayes import evaluation

from .pages import ROOT, python_blocks, sections, text_of

PAGE = ROOT / "docs" / "evaluation.md"


def test_the_table_on_the_page_is_what_is_printed() -> None:
    names: dict[str, Any] = {}
    exec(python_blocks(PAGE)[0][1], names)
    assert f"```\n{names['seen']}\n```" in text_of(PAGE)


@pytest.mark.parametrize("option", inspect.signature(tb.evaluate).parameters)
def test_every_option_is_described(option: str) -> None:
    assert f"| `{option}` |" in sections(PAGE)["Options"]
    assert f"\n{option} : " in inspect.cleandoc(tb.evaluate.__doc__ or "")


@pytest.mark.parametrize("name", [name for name in evaluation.__all__ if name.islower()])
def test_every_function_of_the_package_is_on_the_page(name: str) -> None:
    assert f"{name}(" in text_of(PAGE)
