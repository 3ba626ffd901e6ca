"""Convert the words of a command line, by typer only where needed.

Typer converts by pydantic, whose import and whose adapter for each option take about 80 ms of a command's start. Most
options are left at their defaults, and most of the others are texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import typer

from tallybayes.errors import BadOption, similar, wanted


def convert_if_needed(parameters: Sequence[Any], hints: Mapping[str, Any]) -> list[Any]:
    """Let typer's parameters take values of the wanted type as they are."""
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            parameter.process_value = _process_value(parameter, _kinds(hints.get(parameter.name)))
    return list(parameters)


def _process_value(parameter: Any, kinds: tuple[Any, ...]) -> Callable[[Any, Any], Any]:
    """Return what converts a parameter's value: typer, unless it has the wanted type."""
    convert = parameter.process_value
    many = parameter.nargs != 1 or getattr(parameter, "multiple", False)

    def process_value(context: Any, value: Any) -> Any:
        if value is None and not parameter.required:
            taken: Any = () if many else None
        elif many and list[str] in kinds and isinstance(value, tuple | list) and value:
            taken = list(value)  # words of the command line, which are texts
        elif not many and _fits(value, kinds):
            taken = value
        else:
            try:
                return convert(context, value)
            except typer.BadParameter:
                if not isinstance(value, str) or not kinds:
                    raise
                raise BadOption(_refusal(parameter.opts[0], kinds[0], value)) from None
        return taken if parameter.callback is None else parameter.callback(context, parameter, taken)

    return process_value


def _refusal(flag: str, kind: Any, value: str) -> str:
    """Return the sentence for a word that is not of a type."""
    if get_origin(kind) is Literal:
        return wanted(flag, f"one of {', '.join(get_args(kind))}", repr(value), similar(value, get_args(kind)))
    return wanted(flag, {int: "a whole number", float: "a number"}.get(kind, "another value"), repr(value))


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Return the types that a hint joins, without None and what annotates them.

    Examples
    --------
    >>> _kinds(int | None), _kinds(Literal["a", "b"]), _kinds(list[str] | None)
    ((<class 'int'>,), (typing.Literal['a', 'b'],), (list[str],))
    """
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    if get_origin(hint) in (None, list, tuple, Literal):
        return (hint,)
    return tuple(kind for one in get_args(hint) for kind in _kinds(one) if one is not NoneType)


def _fits(value: Any, kinds: tuple[Any, ...]) -> bool:
    """Whether a value is one of these types already.

    Examples
    --------
    >>> _fits("a", (str,)), _fits("7", (int,)), _fits("c", (Literal["a", "b"],)), _fits(True, (int,))
    (True, False, False, False)
    """
    return any(value in get_args(kind) if get_origin(kind) is Literal else type(value) is kind for kind in kinds)
