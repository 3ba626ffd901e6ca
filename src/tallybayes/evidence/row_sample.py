"""Rows chosen by their content: the same of them, whatever the order and the batches in which all came.

Each row has a hash of its values, its class and its weight. Chosen are those with the lowest hashes, as many as there
is room for. Two choices of different rows merge into the choice of all rows, so a fold can make one while it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Texts
from tallybayes.evidence.evidence import row_weights
from tallybayes.evidence.row_hash import Hashes, row_hashes
from tallybayes.schema.schema import Schema

__all__ = ["BottomKSample"]

# Two numbers are fitted to the rows chosen, and one smoothing: more rows, or more text, would not make them better.
MOST_ROWS = 50_000
MOST_BYTES = 5 << 19
# So many texts are sent by each of many places, however long they are: the few chosen in all may lie in one of them.
_FEWEST = 8
# Of batches that are kept for a few of their rows no more than this stays in memory.
_HELD_BYTES = 128 << 20


@dataclass(frozen=True)
class Part:
    """Some rows of a batch: where they stand, and, once there are so many that it matters, their hashes."""

    batch: pa.RecordBatch
    index: npt.NDArray[np.intp]  # (n,)
    text: npt.NDArray[np.int64] | None  # (n,) bytes of prose; None where there are no such columns
    hashes: Hashes | None = None  # (n,)

    def __len__(self) -> int:
        return len(self.index)

    def hashed(self, schema: Schema, rows: RowBatch | None = None) -> Part:
        """The same, with hashes."""
        if self.hashes is not None:
            return self
        rows = RowBatch(self.batch, 0, schema.missing) if rows is None else rows
        return replace(self, hashes=row_hashes(rows, schema)[self.index])

    def of(self, places: npt.NDArray[np.integer]) -> Part:
        """Some of these rows, of which the hashes are known."""
        text = None if self.text is None else self.text[places]
        return Part(self.batch, self.index[places], text, _known(self.hashes)[places])

    def alone(self) -> Part:
        """The same rows in a batch of their own."""
        return replace(self, batch=sources.take(self.batch, self.index), index=np.arange(len(self)))


@dataclass(frozen=True)
class BottomKSample:
    """Some of the rows seen, and how they are read.

    Attributes
    ----------
    schema : Schema
        What each column is.
    parts : tuple of Part
        The rows kept so far: twice as many as are chosen in the end, or fewer.
    bound : int or None
        Of rows seen whose hash is above this one, some are no longer among the parts (see `few`).
    room : float
        How many times as many rows as usual are chosen: of them the choice among fewer rows can be made (see `among`).
    """

    schema: Schema
    parts: tuple[Part, ...] = ()
    bound: int | None = None
    room: float = 1.0

    @classmethod
    def of(cls, rows: RowBatch, schema: Schema, room: float = 1.0) -> BottomKSample:
        """The choice among the rows of one batch; one that weighs nothing is none."""
        weights = row_weights(rows, schema.weight)
        index = np.arange(len(rows)) if weights is None else np.flatnonzero(weights > 0)
        text = _text_bytes(rows, schema)
        part = Part(rows.batch, index, None if text is None else text[index])
        return cls(schema, (part,) if _fits([part], room) else _lowest([part.hashed(schema, rows)], room), room=room)

    def __add__(self, other: BottomKSample) -> BottomKSample:
        parts = self.parts + other.parts
        bound = min((one for one in (self.bound, other.bound) if one is not None), default=None)
        if _fits(parts, self.room):
            return replace(self, parts=parts, bound=bound)
        lowest = _lowest([part.hashed(self.schema) for part in parts], self.room)
        return replace(self, parts=_not_held(lowest), bound=bound)

    def __sub__(self, other: BottomKSample) -> BottomKSample:
        mine, gone = self._one(), other._one()
        if mine is None or gone is None:
            return self
        left, keep = Counter(_known(gone.hashes).tolist()), []
        for place, row in enumerate(_known(mine.hashes).tolist()):
            left[row] -= 1
            if left[row] < 0:
                keep.append(place)
        return BottomKSample(self.schema, (mine.of(np.array(keep, np.intp)),))

    def resolved(self) -> BottomKSample:
        """The same, in memory of its own."""
        one = self._one()
        return replace(self, parts=() if one is None else (one,))

    def few(self, share: float) -> BottomKSample:
        """Of the rows chosen the first ones: a share of what there is room for.

        Where rows lie in a thousand places, each has to give about a thousandth of the choice, and need not send all
        that it would choose if it were alone. `complete` tells of the sum whether that was enough.
        """
        parts = _lowest([part.hashed(self.schema) for part in self.parts], self.room)
        if not parts:
            return self
        share *= self.room
        hashes, each = _all_hashes(parts), [part.text for part in parts if part.text is not None]
        order = np.argsort(hashes, kind="stable")
        most = max(1, round(share * MOST_ROWS))
        if each:
            heavy = np.searchsorted(np.cumsum(np.concatenate(each)[order]), share * MOST_BYTES, side="right")
            most = min(most, max(_FEWEST, int(heavy)))
        if most >= len(order):
            return replace(self, parts=parts)
        bound = int(hashes[order[most - 1]])
        first = (part.of(np.flatnonzero(_known(part.hashes) <= bound)) for part in parts)
        return replace(self, parts=tuple(part for part in first if len(part)), bound=bound)

    @property
    def complete(self) -> bool:
        """Whether these are the rows that would be chosen if each place had sent all of its own."""
        one = self._one()
        return self.bound is None or (one is not None and int(_known(one.hashes)[-1]) < self.bound)

    def among(self, some: npt.NDArray[np.bool_], *, all_kept: bool) -> BottomKSample | None:
        """The choice that would have been made among some of the rows seen; None if too few were kept to tell.

        Parameters
        ----------
        some : ndarray of bool, shape (n,)
            Which of the rows chosen, in the order of `rows`, are among them.
        all_kept : bool
            Whether all rows seen were chosen.
        """
        one = self._one()
        if one is None:
            return BottomKSample(self.schema) if all_kept else None
        if self.bound is not None:
            some = some & (_known(one.hashes) <= self.bound)  # rows of one hash are alike: any of them will do
        part = one.of(np.flatnonzero(some))
        text = 0 if part.text is None else int(part.text.sum())
        if not all_kept and len(part) < MOST_ROWS and text <= MOST_BYTES:
            return None
        return BottomKSample(self.schema, (part,))

    def rows(self) -> pa.RecordBatch | None:
        """The rows chosen, in the order of their hashes; None if there are none."""
        one = self._one()
        return None if one is None else one.batch

    def _one(self) -> Part | None:
        """All rows chosen in one batch, in the order of their hashes."""
        parts = _lowest([part.hashed(self.schema) for part in self.parts], self.room)
        if not parts:
            return None
        hashes = _all_hashes(parts)
        order = np.argsort(hashes, kind="stable")
        texts = [part.text for part in parts if part.text is not None]
        text = np.concatenate(texts)[order] if texts else None
        return Part(_in_order(parts, order), np.arange(len(order)), text, hashes[order])


def _known(hashes: Hashes | None) -> Hashes:
    assert hashes is not None
    return hashes


def _all_hashes(parts: Sequence[Part]) -> Hashes:
    return np.concatenate([_known(part.hashes) for part in parts])


def _lowest(parts: Sequence[Part], room: float) -> tuple[Part, ...]:
    """Of rows whose hashes are known those with the lowest, as many as there is room for."""
    if not any(map(len, parts)):
        return ()
    hashes, most = _all_hashes(parts), round(room * MOST_ROWS)
    kept = np.argpartition(hashes, most)[:most] if len(hashes) > most else np.arange(len(hashes))
    if parts[0].text is not None:
        kept = kept[np.argsort(hashes[kept], kind="stable")]
        text = np.concatenate([part.text for part in parts if part.text is not None])
        kept = kept[: max(1, int(np.searchsorted(np.cumsum(text[kept]), room * MOST_BYTES, side="right")))]
    mask = np.zeros(len(hashes), bool)
    mask[kept] = True
    each = np.split(mask, np.cumsum([len(part) for part in parts])[:-1])
    return tuple(part.of(np.flatnonzero(mine)) for part, mine in zip(parts, each, strict=True) if mine.any())


def _fits(parts: Sequence[Part], room: float) -> bool:
    """Whether so many rows may be kept until there are more: twice as many as are chosen, so that it pays to choose."""
    text = sum(int(part.text.sum()) for part in parts if part.text is not None)
    return sum(map(len, parts)) <= 2 * room * MOST_ROWS and text <= 2 * room * MOST_BYTES


def _not_held(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The same rows, without large batches being kept in memory for a few of their rows.

    The last is being read, and stays in memory until that is done: of an array, which is one batch in slices, nothing
    has to be copied.
    """
    read = _memory(parts[-1].batch) if parts else ()
    held = [part for part in parts if len(part) < len(part.batch) and _memory(part.batch) != read]
    if sum(part.batch.nbytes for part in held) <= _HELD_BYTES:
        return parts
    return tuple(part.alone() if any(part is one for one in held) else part for part in parts)


def _memory(batch: pa.RecordBatch) -> tuple[int, ...]:
    """Where a batch lies: the same for all of its slices."""
    each = ([buffer.address for buffer in column.buffers() if buffer is not None] for column in batch.columns)
    return next((tuple(addresses) for addresses in each if addresses), ())


def _text_bytes(rows: RowBatch, schema: Schema) -> npt.NDArray[np.int64] | None:
    """How many bytes of prose each row has; None where there are no such columns."""
    encoded = (rows.encode(block) for block in schema.blocks if block.event.input == "text")
    columns = [column for data in encoded if isinstance(data, Texts) for column in data.columns]
    lengths = [pc.fill_null(pc.binary_length(column), 0) for column in columns]
    return np.sum([length.to_numpy(zero_copy_only=False) for length in lengths], axis=0) if lengths else None


def _in_order(parts: Sequence[Part], order: npt.NDArray[np.intp]) -> pa.RecordBatch:
    """The rows of all parts as one batch."""
    fields = parts[0].batch.schema
    alike = all(part.batch.schema.equals(fields) for part in parts)
    if len(parts) == 1 or (alike and not any(pa.types.is_dictionary(field.type) for field in fields)):
        return sources.gather([(part.batch, part.index) for part in parts], order)
    return sources.take(_joined([part.alone().batch for part in parts]), order)


def _joined(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Rows of different batches as one; whole numbers here and fractions there, or nulls alone, are of one kind."""
    tables = [pa.Table.from_batches([sources.plain(part)]) for part in parts]
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks().to_batches()[0]
