"""Options in one line each, and groups of them as dataclasses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, field, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer


def option(default: Any, spelling: str, help_: str) -> Any:
    """Return an option as the default of a parameter or field.

    The spelling has the flags and, unless they are switches, the name of the value, as in "--output -o FILE".
    """
    flags = [word for word in spelling.split() if word.startswith("-")]
    metavar = next((word for word in spelling.split() if word not in flags), None)
    return field(
        default=default, metadata={"typer": typer.Option(*flags, metavar=metavar, help=help_), "flag": flags[0]}
    )


def argument(default: Any, metavar: str, help_: str) -> Any:
    """Return an argument as the default of a parameter or field."""
    return field(default=default, metadata={"typer": typer.Argument(metavar=metavar, help=help_)})


def option_words(group: Any) -> list[str]:
    """Return the words that set a group's options, without those left at their default.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     height: int = option(1, "--height -h N", "The height.")
    ...     fill: bool = option(True, "--fill/--no-fill", "Whether to fill it.")
    >>> option_words(Size(2, fill=False)), option_words(Size())
    (['--height', '2', '--no-fill'], [])
    """
    words = []
    for one in fields(group):
        value = getattr(group, one.name)
        if value == one.default or value is None or "flag" not in one.metadata:
            continue
        flag, _, off = one.metadata["flag"].partition("/")
        if isinstance(value, bool):
            words.append(flag if value else off)
        else:
            words += [word for text in (value if isinstance(value, list) else [value]) for word in (flag, str(text))]
    return words


def expand_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function as typer needs it: each dataclass parameter replaced by its fields.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int
    ...     height: int = option(1, "--height -h N", "The height.")
    >>> def draw(name: str, size: Size) -> None:
    ...     print(name, size.width * size.height)
    >>> list(inspect.signature(expand_groups(draw)).parameters)
    ['name', 'width', 'height']
    >>> expand_groups(draw)(name="box", width=3, height=2)
    box 6
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    given = inspect.signature(function).parameters.values()
    parameters = [
        parameter
        for one in given
        for parameter in (_members(groups[one.name]) if one.name in groups else [_parameter(one, hints[one.name])])
    ]

    def called(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{one.name: values.pop(one.name) for one in fields(group)})
        function(**values)

    called.__name__, called.__doc__ = function.__name__, function.__doc__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _members(group: Any) -> Iterable[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_parameter(one, hints[one.name]) for one in fields(group)]


def _parameter(given: inspect.Parameter | Field[Any], hint: Any) -> inspect.Parameter:
    """Return a parameter for typer from a command's or a field of a group."""
    described = given if isinstance(given, Field) else given.default
    default = described
    if isinstance(described, Field):
        default = inspect.Parameter.empty if described.default is MISSING else described.default
        hint = Annotated[hint, described.metadata["typer"]] if described.metadata else hint
    return inspect.Parameter(given.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
