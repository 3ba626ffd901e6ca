"""Column names that cost nothing: the columns of an array are called x0, x1, x2, ... without writing them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, overload

__all__ = ["Numbered", "hint", "names"]


class Numbered(Sequence[str]):
    """The names x0, x1, ... of the columns of an array, made when asked for.

    Examples
    --------
    >>> Numbered(100_000)[99_999]
    'x99999'
    >>> Numbered(2) == ("x0", "x1")
    True
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(f"x{i}" for i in range(*index.indices(self._count)))
        return f"x{range(self._count)[index]}"

    def __iter__(self) -> Iterator[str]:
        return (f"x{i}" for i in range(self._count))

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """The position of a name."""
        digits = value[1:] if isinstance(value, str) and value[:1] == "x" else ""
        if digits.isdecimal() and str(int(digits)) == digits and int(digits) < self._count:
            return int(digits)
        raise ValueError(value)

    def __contains__(self, value: object) -> bool:
        try:
            self.index(value)
        except ValueError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbered):
            return self._count == other._count
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(other) == self._count and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((Numbered, self._count))

    def __repr__(self) -> str:
        return f"Numbered({self._count})"


def names(given: Iterable[str]) -> Sequence[str]:
    """The names as a tuple, or as `Numbered` where they are x0, x1, ... in order.

    Examples
    --------
    >>> names(["x0", "x1"]), names(["x1", "x0"])
    (Numbered(2), ('x1', 'x0'))
    """
    if isinstance(given, Numbered):
        return given
    listed = tuple(given)
    return Numbered(len(listed)) if listed and Numbered(len(listed)) == listed else listed


def hint(name: str, among: Iterable[str]) -> str:
    """A closing sentence that offers the nearest names, for errors about a name that is not there.

    Examples
    --------
    >>> hint("outlok", ["outlook", "windy"])
    "Did you mean 'outlook'?"
    """
    listed = [str(one) for one in among]
    near = get_close_matches(str(name), listed, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    shown = ", ".join(map(repr, listed[:8])) + (", ..." if len(listed) > 8 else "")
    return f"There is {shown}."
