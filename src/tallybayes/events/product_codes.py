"""Cells of several interactions, scored together: the slots of each column serve all interactions that it is a part of.

A cell is a number made of the slots of an interaction's parts. The kernel that looks up scores makes cells as it goes,
so they are made as an array only where something else asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.events.inputs import Codes, Floats
from tallybayes.events.interaction import InteractionTable
from tallybayes.events.likelihood import Likelihood

__all__ = ["JoinedTables", "PartCodes", "ProductCodes", "joined_cells"]

_Slot = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PartCodes:
    """The slots of rows in the parts of all interactions, `low` more each; others than its `size` slots are missing."""

    columns: tuple[npt.NDArray[Any], ...]  # P × (n,)
    lows: npt.NDArray[np.int64]  # (P,)
    sizes: npt.NDArray[np.int64]  # (P,)

    def slot(self, p: int) -> _Slot:  # (n,)
        """Return the slots of one part; −1 where it is missing."""
        slot = self.columns[p].astype(np.int64) - self.lows[p]
        return np.where((slot < 0) | (slot >= self.sizes[p]), -1, slot).astype(np.int32)


class ProductCodes(Codes):
    """The cells of one interaction, made when they are first asked for."""

    parts: PartCodes
    members: tuple[int, ...]

    def __init__(self, parts: PartCodes, members: tuple[int, ...], labels: Categories) -> None:
        given = {"parts": parts, "members": members, "labels": (labels,), "sizes": np.array([len(labels)], np.int64)}
        self.__dict__.update(given)

    def __len__(self) -> int:
        return len(self.parts.columns[0])

    @cached_property
    def columns(self) -> tuple[_Slot]:
        """The cell of each row; −1 where a part is missing."""
        sizes = self.parts.sizes[list(self.members)].tolist()
        return (joined_cells([self.parts.slot(p) for p in self.members], sizes),)


def joined_cells(slots: Sequence[_Slot], sizes: Sequence[int]) -> _Slot:  # (n,)
    """Return the cell of each row; −1 where a part is missing.

    Examples
    --------
    >>> joined_cells([np.array([0, 1, -1], np.int32), np.array([2, 0, 1], np.int32)], [2, 3])
    array([ 2,  3, -1], dtype=int32)
    """
    cells = slots[0]
    for size, slot in zip(sizes[1:], slots[1:], strict=True):
        cells = cells * np.int32(size) + slot
    for slot in slots:
        if slot.min(initial=0) < 0:  # much quicker than a mask
            cells[slot < 0] = -1
    return cells


@dataclass(frozen=True, eq=False)
class JoinedTables:
    """The tables of interactions that have a weight, one after the other."""

    kept: frozenset[int]  # which of the likelihoods have a weight
    table: Floats  # (cells, C)

    @classmethod
    def of(cls, likelihoods: Sequence[Likelihood]) -> JoinedTables:
        """Return the tables of those likelihoods that are interactions."""
        kept = frozenset(k for k, one in enumerate(likelihoods) if isinstance(one, InteractionTable) and one.factor)
        tables = [one.weighted for one in likelihoods if isinstance(one, InteractionTable) and one.factor]
        return cls(kept, np.concatenate(tables) if tables else np.zeros((0, 0)))

    def add_log_prob(self, data: Sequence[ProductCodes], out: Floats) -> None:
        """Look up the cells of each row in all tables; `data` are those of all interactions that are `kept`."""
        if not data:
            return
        parts, lengths = data[0].parts, [len(one.members) for one in data]
        members = np.array([p for one in data for p in one.members], np.int32)
        kernels.score_cells(parts.columns, parts.lows, parts.sizes, members, lengths, self.table, out)
