"""Objects compared by identity, as keys of a cache: the slices of a batch are scored with the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Same"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Same(Generic[T]):
    """An object that equals only itself.

    Examples
    --------
    >>> numbers = [1]
    >>> Same(numbers) == Same(numbers), Same(numbers) == Same([1])
    (True, False)
    """

    one: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.one is other.one

    def __hash__(self) -> int:
        return id(self.one)
