"""How the demo speaks: headings, sentences, tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

__all__ = ["heading", "shares", "show", "tell"]


def heading(console: Console, text: str) -> None:
    """Begin a part."""
    console.print(Text(text, style="bold"))


def tell(console: Console, text: str, style: str = "") -> None:
    """A sentence or two; what is in brackets is text and no markup."""
    console.print(Text(text, style=style))


def show(console: Console, result: Any) -> None:
    """A result, and an empty line behind it."""
    console.print(result)
    console.print()


def shares(found: Mapping[Any, float]) -> str:
    """Probabilities in a line."""
    return ", ".join(f"{name} {p:.4f}" for name, p in found.items())
