"""docs/explain.md: output as printed; every method that explains is present."""

from __future__ import annotations

from typing import Any

import pytest

from .pages import ROOT, python_blocks, text_of

PAGE = ROOT / "docs" / "explain.md"


def test_what_the_page_shows_printed_is_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    shown = 0
    for _, block in python_blocks(PAGE):
        exec(block, names)
        printed = capsys.readouterr().out
        if printed:
            assert f"```\n{printed}```" in text_of(PAGE), printed
            shown += 1
    assert shown >= 3


@pytest.mark.parametrize(
    "name", ["explain", "contributions", "shapley", "table", "tables", "nomogram", "importance", "select"]
)
def test_every_way_of_asking_why_is_on_the_page(name: str) -> None:
    assert f".{name}(" in text_of(PAGE)
