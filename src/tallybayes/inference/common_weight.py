"""One weight for all columns, without a dictionary of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from tallybayes.cached_property import cached_property

__all__ = ["CommonWeight"]

W = TypeVar("W")


class CommonWeight(Mapping[str, W], Generic[W]):
    """A mapping from names to one and the same weight.

    To put a hundred thousand names into a dictionary takes a tenth of a fit: it is made when one is looked up.

    Examples
    --------
    >>> both = CommonWeight(("x", "y"), 0.5)
    >>> both["y"], dict(both), both.get("z")
    (0.5, {'x': 0.5, 'y': 0.5}, None)
    """

    def __init__(self, names: Sequence[str], weight: W) -> None:
        self.names, self.weight = names, weight

    @cached_property
    def _by_name(self) -> dict[str, W]:
        return dict.fromkeys(self.names, self.weight)

    def __getitem__(self, name: str) -> W:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
