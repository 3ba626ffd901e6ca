"""The documentation's pages, sections and Python blocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ANSWER = re.compile(r"# → (.*)$")


def text_of(page: Path) -> str:
    """Return the source of a page."""
    return page.read_text(encoding="utf-8")


def sections(page: Path, level: int = 2) -> dict[str, str]:
    """Return the text under each heading of a level, by heading without backquotes."""
    parts = re.split(rf"^{'#' * level} +(.+)$", text_of(page), flags=re.MULTILINE)[1:]
    return {title.replace("`", "").strip(): body for title, body in zip(parts[::2], parts[1::2], strict=True)}


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """Return each block of Python and the number of lines before it."""
    text = text_of(page)
    return [(text.count("\n", 0, found.start(1)), found.group(1)) for found in _FENCE.finditer(text)]


def run(page: Path) -> int:
    """Run a page's blocks in one namespace; return the number of answers (`# → ...`) compared."""
    namespace: dict[str, Any] = {"__name__": "__page__"}
    compared = 0
    for before, block in python_blocks(page):
        for statement, answer in _statements("\n" * before + block):
            where = f"{page.name}:{statement.end_lineno}"
            if answer is None:
                exec(compile(ast.Module([statement], []), str(page), "exec"), namespace)
                continue
            assert isinstance(statement, ast.Expr), f"{where}: an answer (# → ...) belongs behind an expression"
            got = " ".join(repr(eval(compile(ast.Expression(statement.value), str(page), "eval"), namespace)).split())
            assert got == answer, f"{where}: the page says {answer}, Python says {got}"
            compared += 1
    return compared


def _statements(source: str) -> Iterator[tuple[ast.stmt, str | None]]:
    """Return each statement and the answer after it, on its last line or on the next."""
    lines = source.split("\n")
    for statement in ast.parse(source).body:
        assert statement.end_lineno is not None
        assert statement.end_col_offset is not None
        behind = lines[statement.end_lineno - 1].encode()[statement.end_col_offset :].decode()
        below = lines[statement.end_lineno] if statement.end_lineno < len(lines) else ""
        found = _ANSWER.search(behind) or _ANSWER.match(below)
        yield statement, None if found is None else " ".join(found.group(1).split())
