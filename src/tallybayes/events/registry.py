"""The registry of event models, and the parser of specifications."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from dataclasses import fields
from functools import cache
from typing import Any

from tallybayes.errors import BadOption, wanted
from tallybayes.events.event import Event
from tallybayes.events.options import shown

__all__ = ["parse", "registered"]

# Characters: a hundred thousand stop words.
_LONGEST = 1 << 20


@cache
def registered() -> dict[str, type[Event]]:
    """Return every event model in this folder, by name.

    Examples
    --------
    >>> sorted(registered())[:3]
    ['bernoulli', 'bins', 'categorical']
    """
    folder = importlib.import_module("tallybayes.events")
    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"tallybayes.events.{module.name}")
    return dict(sorted(Event.registry.items()))


def parse(spec: str | Event, where: str = "events") -> Event:
    """Return the event model of a specification: ``"gaussian"``, ``"bernoulli(threshold=127)"``, ``"bins(10)"``.

    Examples
    --------
    >>> parse("bernoulli(threshold=127)").threshold, parse("bins(5)").k
    (127, 5)
    """
    if isinstance(spec, Event):
        return spec
    if not isinstance(spec, str):
        raise BadOption(wanted(where, "an event model or its name", repr(spec)))
    if spec in registered():  # most are a name alone, and a fit asks several times
        return registered()[spec]()
    if len(spec) > _LONGEST:
        raise BadOption(wanted(where, f"at most {_LONGEST:,} characters", f"{len(spec):,}"))
    try:
        name, given, options = _split(spec)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # the last two if nested too deeply
        raise BadOption(wanted(where, "a form such as 'bernoulli(threshold=127)'", shown(spec))) from None
    if name not in registered():
        raise BadOption(wanted(where, f"one of {', '.join(registered())}", shown(name)))
    event = registered()[name]
    names = [f.name for f in fields(event)]  # type: ignore[arg-type]
    if len(given) > len(names) or set(names[: len(given)]) & set(options):
        want = f"each option of {name} once ({', '.join(names) or 'it has none'})"
        raise BadOption(wanted(where, want, shown(spec)))
    for option in options:
        if option not in names:
            raise BadOption(wanted(where, f"an option of {name} ({', '.join(names) or 'it has none'})", repr(option)))
    return event(*given, **options)


def _split(spec: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Return the name, the options without a name, and those with one."""
    tree = ast.parse(spec.strip(), mode="eval").body
    if isinstance(tree, ast.Name):
        return tree.id, [], {}
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ValueError(spec)
    named = {str(k.arg): ast.literal_eval(k.value) for k in tree.keywords}
    return tree.func.id, [ast.literal_eval(value) for value in tree.args], named
