"""The first line of public docstrings and of help is one short sentence."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import tallybayes as tb
from tallybayes.cli.main import COMMANDS

LONGEST = 15  # words
# Long by one word, in a file that is being worked on.
KNOWN = {"Intervals"}


def members(name: str, thing: Any) -> Iterator[tuple[str, str]]:
    """Yield a public name and those of its methods that are written here, each with its docstring."""
    yield name, inspect.getdoc(thing) or ""
    if inspect.isclass(thing):
        for part, value in inspect.getmembers(thing):
            own = getattr(inspect.unwrap(getattr(value, "fget", None) or value), "__module__", "") or ""
            if not part.startswith("_") and own.startswith("tallybayes") and not inspect.isclass(value):
                yield f"{name}.{part}", inspect.getdoc(value) or ""


def public() -> Iterator[tuple[str, str]]:
    for name in tb.__all__:
        thing = getattr(tb, name)
        if inspect.ismodule(thing):
            for part in thing.__all__:
                yield from members(f"{name}.{part}", getattr(thing, part))
        elif not isinstance(thing, str):
            yield from members(name, thing)
    for section in COMMANDS.values():
        for command, (module, summary) in section.items():
            yield f"tally {command}", summary
            yield f"tally {command} --help", getattr(import_module(f"tallybayes.cli.{module}"), command).__doc__ or ""


def first_paragraph(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def test_it_is_at_most_fifteen_words() -> None:
    found = dict(public())
    assert len(found) > 300
    long = {name: first_paragraph(text) for name, text in found.items() if len(first_paragraph(text).split()) > LONGEST}
    assert {name: text for name, text in long.items() if name not in KNOWN} == {}
