"""Slots of the parts of all interactions of a schema: each column is coded once, however many interactions it is in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.encoding.product import above, cells_of, values_of
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.encoding.same import Same
from tallybayes.events.inputs import Codes, Encoded
from tallybayes.events.interaction import BINS, Interaction, Part
from tallybayes.events.product_codes import PartCodes, ProductCodes
from tallybayes.schema.schema import Schema

__all__ = ["encode_interactions"]

_Slots = npt.NDArray[np.integer[Any]]


def encode_interactions(rows: RowBatch, schema: Schema, encoded: Mapping[int, Encoded]) -> list[ProductCodes]:
    """Return the cells of rows in each interaction, in the order of the schema, for scoring.

    Parameters
    ----------
    rows : RowBatch
        The rows.
    schema : Schema
        The columns and the interactions.
    encoded : mapping of int to encoded rows
        The same rows as blocks of columns take them, by the block's number: what is coded there is not coded again.
    """
    plan = _plan(Same(schema))
    columns: list[_Slots] = [np.zeros(0, np.int32)] * len(plan.parts)
    lows = np.zeros(len(plan.parts), np.int64)
    for p, part in enumerate(plan.parts):
        if part.kind != BINS:
            columns[p], lows[p] = _slots_of_values(plan, p, rows, encoded)
    if plan.binned:
        numbers = tuple(_real(rows.numbers(plan.parts[p].column, plan.event)) for p in plan.binned)
        found = kernels.find_cells(numbers, plan.edges, plan.edge_counts)
        for p, codes in zip(plan.binned, found, strict=True):
            columns[p] = codes  # 255, a missing number, is beyond the last bin
    parts = PartCodes(tuple(columns), lows, plan.sizes)
    return [ProductCodes(parts, *one) for one in plan.interactions]


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is the same for all rows.

    Attributes
    ----------
    parts : tuple of Part
        The distinct parts of all interactions.
    places : tuple
        The block and the column that a part's values are coded in; None where they are not.
    sizes : ndarray, shape (P,)
        The number of slots of each part.
    binned : tuple of int
        The parts that are bins of numbers.
    edges, edge_counts
        The least numbers above the edges of all bins, and how many each binned part has.
    interactions : tuple
        The parts of each interaction, and its cells.
    event : Interaction
        One of the interactions, to word errors.
    translations : dict
        How codes of a part's column become slots, and the values that the codes refer to.
    """

    parts: tuple[Part, ...]
    places: tuple[tuple[int, int] | None, ...]
    sizes: npt.NDArray[np.int64]
    binned: tuple[int, ...]
    edges: npt.NDArray[np.float64]
    edge_counts: tuple[int, ...]
    interactions: tuple[tuple[tuple[int, ...], Categories], ...]
    event: Interaction
    translations: dict[int, tuple[Categories, _Translation]]


@lru_cache(maxsize=8)  # models in use at a time
def _plan(same: Same[Schema]) -> _Plan:
    schema = same.one
    events = [block.event for block in schema.products if isinstance(block.event, Interaction)]
    blocks = [(b, block) for b, block in enumerate(schema.blocks) if not block.event.product]
    used = {name for event in events for name in event.columns}
    places = {name: (b, f) for b, block in blocks for f, name in enumerate(block.columns) if name in used}
    # Adjacent columns of a matrix are read together. A schema may also have products alone.
    distinct = dict.fromkeys(part for event in events for part in event.parts)
    parts = tuple(sorted(distinct, key=lambda part: places.get(part.column, (-1, 0))))
    number = {part: p for p, part in enumerate(parts)}
    binned = tuple(p for p, part in enumerate(parts) if part.kind == BINS)
    coded = {b for b, block in blocks if block.event.input == "codes"}
    edges = [above(parts[p]) for p in binned]
    return _Plan(
        parts,
        tuple(place if (place := places.get(part.column)) and place[0] in coded else None for part in parts),
        np.array([len(part.names) for part in parts], np.int64),
        binned,
        np.concatenate([*edges, np.zeros(0)]),
        tuple(map(len, edges)),
        tuple((tuple(number[part] for part in event.parts), cells_of(event.size)) for event in events),
        events[0],
        {},
    )


@dataclass(frozen=True, eq=False)
class _Translation:
    """How codes of a column become slots.

    Attributes
    ----------
    known : bool
        Whether they do: every slot has a code.
    slots : ndarray of int32, or None
        The slot of each code; None if codes are slots.
    first : int or None
        The number whose slot is 0, if the values are whole numbers in a row and all others are missing.
    """

    known: bool
    slots: npt.NDArray[np.int32] | None
    first: int | None = None

    @classmethod
    def of(cls, part: Part, labels: Categories) -> _Translation:
        """Return how codes among `labels`, one past the last for other values and −1 for missing ones, become slots."""
        values = values_of(part)
        found = values.find(labels.array).astype(np.int32)
        others = len(values) if len(part.names) > len(values) else -1
        slots = np.concatenate([np.where(found < 0, others, found), [others, -1]]).astype(np.int32)
        if np.count_nonzero(found >= 0) < len(values):
            return cls(known=False, slots=None)
        if (found != np.arange(len(found))).any():
            return cls(known=True, slots=slots)
        return cls(known=True, slots=None, first=_first_of_row(values) if others < 0 else None)


def _first_of_row(values: Categories) -> int | None:
    """Return the first of whole numbers in a row; None if they are not."""
    if values.array.type != pa.int64() or values.array.null_count or not len(values):
        return None
    first, last = values.array[0].as_py(), values.array[-1].as_py()
    return int(first) if last - first == len(values) - 1 else None


def _slots_of_values(plan: _Plan, p: int, rows: RowBatch, encoded: Mapping[int, Encoded]) -> tuple[_Slots, int]:
    """Return numbers (n,), and what they have more than the slots of a part."""
    place, part = plan.places[p], plan.parts[p]
    data = None if place is None else encoded.get(place[0])
    if place is None or not isinstance(data, Codes):
        return rows.slot(part, plan.event), 0
    labels = data.labels[place[1]]
    before, translation = plan.translations.get(p, (None, None))
    if translation is None or before is not labels:
        translation = _Translation.of(part, labels)
        plan.translations[p] = labels, translation
    if not translation.known:
        return rows.slot(part, plan.event), 0
    if data.rows is not None and translation.first is not None:  # codes are the numbers themselves
        return data.column(place[1]), translation.first
    plain = data.rows is None and data.low == 0
    codes = data.column(place[1]) if plain else data.of_column(place[1], slice(0, len(data)))
    return (codes if translation.slots is None else translation.slots[codes]), 0


def _real(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return numbers if numbers.dtype in (np.float64, np.float32) else numbers.astype(np.float64)
