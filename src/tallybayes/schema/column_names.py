"""The names x0, x1, x2, ... of an array's columns, without storing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

__all__ = ["NumberedNames", "names"]


class NumberedNames(Sequence[str]):
    """The names x0, x1, ... of an array's columns, computed on access.

    Examples
    --------
    >>> NumberedNames(100_000)[99_999]
    'x99999'
    >>> NumberedNames(2) == ("x0", "x1")
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
        """Return the position of a name."""
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
        if isinstance(other, NumberedNames):
            return self._count == other._count
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(other) == self._count and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((NumberedNames, self._count))

    def __repr__(self) -> str:
        return f"NumberedNames({self._count})"


def names(given: Iterable[str]) -> Sequence[str]:
    """Return names as a tuple, or as `NumberedNames` if they are x0, x1, ... in order.

    Examples
    --------
    >>> names(["x0", "x1"]), names(["x1", "x0"])
    (NumberedNames(2), ('x1', 'x0'))
    """
    if isinstance(given, NumberedNames):
        return given
    listed = tuple(given)
    return NumberedNames(len(listed)) if listed and NumberedNames(len(listed)) == listed else listed
