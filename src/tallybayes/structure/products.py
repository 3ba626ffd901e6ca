"""Products of columns: which slots their parts have, what they are called, and how they are counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallybayes.encoding.bins import Bins, Slots, Values, code, look
from tallybayes.encoding.product import part_of_bins, part_of_values
from tallybayes.events.event import as_event
from tallybayes.events.interaction import Interaction, Part
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.schema.schema import Block, Schema

__all__ = ["SlottedColumn", "counted_alone", "free_name", "product", "slotted_columns"]

_BINS = 8  # of a column of numbers, of about equal weight: more leave few rows in the cells of two columns
_VALUES = 24  # of a categorical column; the rarest share one


@dataclass(frozen=True)
class SlottedColumn:
    """A column that may be a part of products: its slots, and those of the sampled rows.

    Attributes
    ----------
    slots : Slots
        The bins, or the values.
    part : Part
        The same, as an interaction takes it.
    codes : ndarray of int32, shape (n,)
        The slot of each row; −1 where it is missing.
    """

    slots: Slots
    part: Part
    codes: npt.NDArray[np.int32]

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self.part.names)


def slotted_columns(schema: Schema, rows: SampledRows, columns: Sequence[str]) -> list[SlottedColumn]:
    """Return those of some columns that may be parts of a product: they have two or more slots in use."""
    columns = [name for name in columns if schema.event(name).input != "text"]
    slots = look(schema, columns, rows.rows.batch, _BINS, _VALUES, fair=False)
    codes = code(schema, columns, slots, rows.rows)
    each = (_slotted(*one) for one in zip(columns, slots, codes, strict=True))
    return [one for one in each if len(np.unique(one.codes[one.codes >= 0])) > 1]


def product(
    schema: Schema, parts: Iterable[Part], *, base: float, free: bool = False, taken: Sequence[str] = ()
) -> Block:
    """Return the product of some columns, as a block of its own, with a name that no other column has."""
    parts = tuple(parts)
    name = free_name(schema, " & ".join(part.column for part in parts), taken)
    return Block(as_event(Interaction(parts, base, free)), (name,))


def free_name(schema: Schema, name: str, taken: Sequence[str] = ()) -> str:
    """Return a name that no column and no other product has."""
    while name in schema.columns or name in taken:
        name += "'"
    return name


def counted_alone(schema: Schema, products: Sequence[Block]) -> Schema:
    """Return the schema that counts products only; it reads the same columns."""
    return replace(schema, blocks=tuple(products))


def _slotted(column: str, slots: Slots, codes: npt.NDArray[np.int16]) -> SlottedColumn:
    if isinstance(slots, Bins):
        part = part_of_bins(column, slots.edges, slots.names())
    else:
        assert isinstance(slots, Values)
        all_kept = not (codes == len(slots.values)).any()
        names = slots.names()[:-1] if all_kept else slots.names()
        part = part_of_values(column, slots.values, names)
    return SlottedColumn(slots, part, codes.astype(np.int32))
