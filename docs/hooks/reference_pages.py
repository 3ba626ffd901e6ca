"""The Python reference: which names are on which page. Their text comes from the docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

import tallybayes as tb
from tallybayes import errors
from tallybayes.display import tables

FOLDER = "reference"
OPENINGS = {
    "functions": ("Functions", "What `import tallybayes as tb` gives to call."),
    "model": (
        "Model",
        "What `tb.fit` and `tb.load` return. A model never changes: methods that would change it return a new one.",
    ),
    "estimators": (
        "Estimators",
        "The classes for scikit-learn; [coming from scikit-learn](../coming-from-scikit-learn.md) shows them at work.",
    ),
    "results": (
        "Results",
        "What measures and explanations return: frozen objects that hold numbers, with `to_dict()` for JSON and "
        "`print` for people.",
    ),
    "evaluation": ("tallybayes.evaluation", "The parts of [`tb.evaluate`](../evaluation.md), each by itself."),
    "events": (
        "tallybayes.events",
        "The contract that [event models](../events.md) keep, and the registry that finds them.",
    ),
    "errors": (
        "Errors",
        "Every error is one sentence: where, what was wanted, what was got, what to do. All of them are `TallyError`s.",
    ),
}


def pages() -> dict[str, str]:
    """Return each page's text by its path below docs/."""
    return {
        f"{FOLDER}/{page}.md": f"# {title}\n\n{lead}\n\n" + "\n".join(f"::: {name}" for name in names()[page]) + "\n"
        for page, (title, lead) in OPENINGS.items()
    }


def names() -> dict[str, list[str]]:
    """Return the full names on each page; a name is on one page only."""
    public = {name: getattr(tb, name) for name in tb.__all__ if not name.startswith("_")}
    functions = [thing for thing in public.values() if inspect.isfunction(thing)]
    classes = [thing for thing in public.values() if inspect.isclass(thing)]
    results = _results()
    estimators = [one for one in classes if ".sklearn" in one.__module__]
    warnings = [one for one in classes if issubclass(one, Warning)]
    model = [tb.Model, *(one for one in classes if one not in (tb.Model, *estimators, *warnings, *results))]
    evaluation = [thing for thing in _members(tb.evaluation) if thing not in (*functions, *results)]
    listed = {
        "functions": functions,
        "model": model,
        "estimators": estimators,
        "results": results,
        "evaluation": evaluation,
        "events": _members(tb.events),
        "errors": [*(thing for thing in vars(errors).values() if _is_error(thing)), *warnings],
    }
    return {page: [f"{thing.__module__}.{thing.__qualname__}" for thing in things] for page, things in listed.items()}


def _members(module: ModuleType) -> list[Any]:
    things = [getattr(module, name) for name in module.__all__]
    return [thing for thing in things if inspect.isfunction(thing) or inspect.isclass(thing)]


def _is_error(thing: object) -> bool:
    return inspect.isclass(thing) and issubclass(thing, errors.TallyError)


def _results() -> list[type]:
    """Return every result class of the package, sorted by name."""
    for found in pkgutil.walk_packages(tb.__path__, "tallybayes."):
        if "._" not in found.name:
            importlib.import_module(found.name)
    found = {one.__qualname__: one for one in _below(tables.Result) if not one.__name__.startswith("_")}
    return [found[name] for name in sorted(found)]


def _below(parent: type) -> list[type]:
    return [one for child in parent.__subclasses__() for one in (child, *_below(child))]
