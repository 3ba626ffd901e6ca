"""Printing for the demo: headings, sentences, tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text


def heading(console: Console, text: str) -> None:
    """Print the heading of a part."""
    console.print(Text(text, style="bold"))


def tell(console: Console, text: str, style: str = "") -> None:
    """Print text as it is, without rich's markup."""
    console.print(Text(text, style=style))


def show(console: Console, result: Any) -> None:
    """Print a result and an empty line."""
    console.print(result)
    console.print()


def shares(found: Mapping[Any, float]) -> str:
    """Return probabilities on one line."""
    return ", ".join(f"{name} {p:.4f}" for name, p in found.items())
