"""Groups of options: a dataclass whose fields are options, and which a command takes as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

__all__ = ["expand_groups"]


def expand_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function as typer needs it: each dataclass parameter replaced by its fields.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int
    ...     height: int = 1
    >>> def draw(name: str, size: Size) -> None:
    ...     print(name, size.width * size.height)
    >>> list(inspect.signature(expand_groups(draw)).parameters)
    ['name', 'width', 'height']
    >>> expand_groups(draw)(name="box", width=3, height=2)
    box 6
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            parameters += _fields(hints[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    def called(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    called.__name__, called.__doc__ = function.__name__, function.__doc__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _fields(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
