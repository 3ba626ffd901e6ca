"""Arguments of public functions: checked where they come in, refused with a sentence.

Comparing or iterating an argument of the wrong type raises whatever its library raises: an array has no truth value, a
frame compares by column. These functions look at the type first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from tallybayes.errors import BadOption, did_you_mean, wanted

__all__ = [
    "between_0_and_1",
    "check_keywords",
    "index_of",
    "instance",
    "listed",
    "one_of",
    "shown",
    "text",
    "whole_number",
]

T = TypeVar("T")

# Characters of a value in a message.
_MOST_SHOWN = 200


def shown(value: Any) -> str:
    """Return a value as a message shows it, shortened.

    Examples
    --------
    >>> shown(10**9999), shown("a" * 999), shown(0.5)
    ('a number of 33,216 bits', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...", '0.5')
    """
    if isinstance(value, int) and abs(value) >= 1 << 1024:  # Python refuses to write thousands of digits
        return f"a number of {value.bit_length():,} bits"
    written = repr(value)
    return written if len(written) <= _MOST_SHOWN else f"{written[:40]}..."


def is_number(value: Any) -> bool:
    """Return whether a value is a number, Python's or NumPy's, and no boolean or span of time."""
    numbers = isinstance(value, int | float | np.integer | np.floating)
    return numbers and not isinstance(value, bool | np.timedelta64)  # which NumPy takes for an integer


def instance(where: str, value: Any, kind: type[T], want: str) -> T:
    """Return a value of a type; raise BadOption for any other.

    Examples
    --------
    >>> instance("model", "m.tally", int, "a Model")
    Traceback (most recent call last):
    tallybayes.errors.BadOption: model: wanted a Model, got 'm.tally'.
    """
    if not isinstance(value, kind):
        raise BadOption(wanted(where, want, shown(value)))
    return value


def text(where: str, value: Any, want: str = "a text") -> str:
    """Return a text; raise BadOption for anything else, and for text that is no Unicode."""
    found = instance(where, value, str, want)
    try:
        found.encode()
    except UnicodeEncodeError:
        raise BadOption(wanted(where, f"{want} that is Unicode", f"{found!a}")) from None
    return found


def one_of(where: str, value: Any, allowed: Collection[Any]) -> Any:
    """Return a value that is one of a few texts, or None if that is among them.

    Examples
    --------
    >>> one_of("unseen", "skip", ("smooth", "skip"))
    'skip'
    >>> one_of("unseen", np.zeros(2), ("smooth", "skip", None))
    Traceback (most recent call last):
    tallybayes.errors.BadOption: unseen: wanted 'smooth', 'skip' or None, got array([0., 0.]).
    """
    if (value is None or isinstance(value, str)) and value in allowed:
        return value
    *first, last = map(repr, allowed)
    raise BadOption(wanted(where, f"{', '.join(first)} or {last}" if first else last, shown(value)))


def whole_number(where: str, value: Any, least: int = 0, want: str = "", *, most: int | None = None) -> int:
    """Return a whole number within bounds; NumPy's are as good as Python's, booleans are not.

    Examples
    --------
    >>> whole_number("n", np.int8(3))
    3
    >>> whole_number("n", 2.0)
    Traceback (most recent call last):
    tallybayes.errors.BadOption: n: wanted a whole number not below 0, got 2.0.
    """
    if not is_number(value) or isinstance(value, float | np.floating) or value < least or (most and value > most):
        usual = f"a whole number not below {least}" if least == 0 else f"a whole number from {least}"
        usual += "" if most is None else f" to {most:,}"
        raise BadOption(wanted(where, want or usual, shown(value)))
    return int(value)


def between_0_and_1(where: str, value: Any, want: str = "a number between 0 and 1, such as 0.95") -> float:
    """Return a number above 0 and below 1."""
    if not is_number(value) or not 0 < value < 1:
        raise BadOption(wanted(where, want, shown(value)))
    return float(value)


def listed(where: str, value: Any, want: str) -> list[Any]:
    """Return the items of a list, tuple, array or other iterable; a text is none of these."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        try:
            return list(value)
        except Exception:  # zero-dimensional arrays, exhausted streams: whatever iterating them raises
            pass
    raise BadOption(wanted(where, want, shown(value)))


def index_of(name: Any, known: Sequence[Any]) -> int | None:
    """Return the position of a name among others, or None; arrays and frames are no names.

    Examples
    --------
    >>> index_of("b", ("a", "b")), index_of(np.array(["b", "b"]), ("a", "b"))
    (1, None)
    """
    try:
        return known.index(name) if hash(name) is not None and name in known else None
    except (TypeError, ValueError):  # not hashable, or compared to an array
        return None


def check_keywords(where: str, function: Callable[..., Any], given: Iterable[str]) -> None:
    """Raise BadOption for a keyword that a function does not have.

    Examples
    --------
    >>> check_keywords("sorted", sorted, ["revers"])
    Traceback (most recent call last):
    tallybayes.errors.BadOption: sorted: wanted one of key, reverse, got 'revers'. Did you mean 'reverse'?
    """
    names = [one.name for one in signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY]
    for name in given:
        if name not in names:
            raise BadOption(wanted(where, f"one of {', '.join(names)}", repr(name), did_you_mean(name, names)))
