"""The page about clusters shows the programs that are run."""

from __future__ import annotations

import re

import pytest

from .pages import ROOT, text_of


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_the_page_shows_the_program(engine: str) -> None:
    shown = re.findall(r"^```py\n(.*?)^```$", text_of(ROOT / "docs" / "clusters.md"), re.DOTALL | re.MULTILINE)
    assert (ROOT / "examples" / f"on_{engine}.py").read_text(encoding="utf-8") in shown
