"""A bottom-k sample: the k rows with the lowest content hash, whatever the row order or batching.

The hash of a row covers its values, its class and its weight. The samples of two sets of rows merge into the sample of
all of them, so it can be taken while rows are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Dense, Sparse, Texts
from tallybayes.evidence.evidence import row_weights
from tallybayes.evidence.row_hash import Hashes, RowHashes, row_hashes
from tallybayes.schema.check_label import is_numeric
from tallybayes.schema.schema import Schema

__all__ = ["BottomKSample", "Part", "room_for"]

# A smoothing, a temperature and at most some hundred weights are fitted: more rows or bytes would hardly improve them.
MOST_ROWS = 50_000
MOST_BYTES = 5 << 19
_LIKELY = 1.25  # rows to sort, as a multiple of those expected: hardly ever too few
# Of a count in a bag: a short word. One temperature is fitted, and rows of a hundred counts take as long as texts.
_WORD_BYTES = 4
# Texts that each partition sends at least, however long: the few in the sample may all be in one partition.
_FEWEST = 8
# Bytes of batches that may stay in memory for a few of their rows: with four times as many, a fit of a large file of
# parquet took 100 MB more, and no less time.
_HELD_BYTES = 32 << 20


@dataclass(frozen=True)
class Part:
    """Some rows of a batch, and their hashes once there are too many to keep all."""

    batch: pa.RecordBatch
    index: npt.NDArray[np.intp]  # (n,)
    text: npt.NDArray[np.int64] | None  # (n,) bytes of text and of bags; None without either
    hashes: Hashes | None = None  # (n,)

    def __len__(self) -> int:
        return len(self.index)

    def hashed(self, schema: Schema) -> Part:
        """Return the same rows with hashes."""
        if self.hashes is not None:
            return self
        return self.with_hashes(row_hashes(RowBatch(self.batch, 0, schema.missing), schema))

    def with_hashes(self, hashes: Hashes) -> Part:
        """Return the same rows with their hashes among those of all rows of the batch."""
        # where all rows have weight, the index has every one in order
        return replace(self, hashes=hashes if len(self) == len(hashes) else hashes[self.index])

    def of(self, places: npt.NDArray[np.integer]) -> Part:
        """Return some of these rows; their hashes must be known."""
        text = None if self.text is None else self.text[places]
        return Part(self.batch, self.index[places], text, _known(self.hashes)[places])

    def alone(self) -> Part:
        """Return the same rows in a batch of their own."""
        return replace(self, batch=sources.take(self.batch, self.index), index=np.arange(len(self)))


@dataclass(frozen=True)
class BottomKSample:
    """The rows with the lowest hashes among all rows seen.

    Attributes
    ----------
    schema : Schema
        The type of each column.
    parts : tuple of Part
        The rows kept so far: at most twice the size of the final sample.
    bound : int or None
        The hash above which rows may be missing (see `few`).
    room : float
        The size as a multiple of the usual: a larger sample contains samples of fewer rows (see `among`).
    """

    schema: Schema
    parts: tuple[Part, ...] = ()
    bound: int | None = None
    room: float = 1.0

    @classmethod
    def of(cls, rows: RowBatch, schema: Schema, room: float = 1.0, hashes: RowHashes | None = None) -> BottomKSample:
        """Return the sample of one batch; rows of weight 0 are left out, and hashes may be known in part."""
        weights, text = row_weights(rows, schema.weight), _text_bytes(rows, schema)
        if hashes is not None and weights is None and text is None and len(rows) > 2 * room * MOST_ROWS:
            found = hashes.finish()  # to list all rows first would take as long as to find the lowest hashes
            places = np.sort(_places(found, round(room * MOST_ROWS)))
            return cls(schema, (Part(rows.batch, places, None, found[places]),), room=room)
        index = np.arange(len(rows)) if weights is None else np.flatnonzero(weights > 0)
        part = Part(rows.batch, index, text if text is None or weights is None else text[index])
        if hashes is not None or not _fits([part], room):
            part = part.with_hashes(row_hashes(rows, schema) if hashes is None else hashes.finish())
        return cls(schema, (part,) if _fits([part], room) else _needed([part], room), room=room)

    def __add__(self, other: BottomKSample) -> BottomKSample:
        parts, room = self.parts + other.parts, min(self.room, other.room)  # each is enough for all rows
        bound = min((one for one in (self.bound, other.bound) if one is not None), default=None)
        if not _fits(parts, room):
            parts = _not_held(_needed([part.hashed(self.schema) for part in parts], room))
        return replace(self, parts=parts, bound=bound, room=room)

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
        """Return the same sample as one batch, sorted by hash, in its own memory, ready to be merged."""
        one = self._one(_needed)
        return replace(self, parts=() if one is None else (one,))

    def few(self, share: float) -> BottomKSample:
        """Return the rows of the lowest hashes, at most a fraction of the sample's size.

        Each of a thousand partitions holds about a thousandth of the final sample, and need not send the sample that
        it would have alone. `complete` of the sum says whether that was enough.
        """
        parts = _needed([part.hashed(self.schema) for part in self.parts], self.room)
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
        """Whether the sample is the same as if each partition had sent all of its own."""
        if self.bound is None:  # rows on one machine: nothing was cut off, and gathering the sample is not free
            return True
        one = self._one()
        return one is not None and int(_known(one.hashes)[-1]) < self.bound

    @property
    def has_all(self) -> bool:
        """Whether no row of weight was left out."""
        few = sum(map(len, self.parts)) < min(1.0, self.room) * MOST_ROWS
        return few and all(part.text is None for part in self.parts) and self.bound is None

    def among(self, some: npt.NDArray[np.bool_], *, all_kept: bool) -> BottomKSample | None:
        """Return the sample of a subset of the rows seen; None if too few of them were kept.

        Parameters
        ----------
        some : ndarray of bool, shape (n,)
            The mask of the subset, over the sampled rows in the order of `rows`.
        all_kept : bool
            Whether all rows seen are in the sample.
        """
        one = self._one()
        if one is None:
            return BottomKSample(self.schema) if all_kept else None
        if self.bound is not None:
            some = some & (_known(one.hashes) <= self.bound)  # rows of equal hash are equal: any of them will do
        part = one.of(np.flatnonzero(some))
        text = 0 if part.text is None else int(part.text.sum())
        if not all_kept and len(part) < MOST_ROWS and text <= MOST_BYTES:
            return None
        return BottomKSample(self.schema, (part,))

    def rows(self, most: int | None = None) -> pa.RecordBatch | None:
        """Return the sampled rows, sorted by hash, or the first of them; None if there are none."""
        one = self.first(most)
        return None if one is None else one.batch

    def first(self, most: int | None = None) -> Part | None:
        """Return the sampled rows with their hashes, sorted by them, or the first of them; None if there are none."""
        return self._one(most=most)

    def in_place(self, most: int) -> tuple[Part, npt.NDArray[np.intp]] | None:
        """Return the sampled rows as they came, and the order that sorts them by hash.

        None unless they are one whole batch of at most `most` rows.
        """
        parts, n = [part for part in self.parts if len(part)], sum(map(len, self.parts))
        if not 0 < n <= min(most, round(self.room * MOST_ROWS)) or any(part.text is not None for part in parts):
            return None
        if any(len(part) < len(part.batch) for part in parts):
            return None
        batch = sources.rejoin([part.batch for part in parts])
        if batch is None:
            return None
        hashes = _all_hashes([part.hashed(self.schema) for part in parts])
        return Part(batch, np.arange(n), None, hashes), _sorted(hashes)[0]

    def in_order(self) -> pa.RecordBatch:
        """Return the sampled rows, at least one, in the order in which they were added."""
        parts = _lowest([part.hashed(self.schema) for part in self.parts], self.room)
        return _in_order(parts, np.arange(sum(map(len, parts))))

    def _one(
        self, cut: Callable[[Sequence[Part], float], tuple[Part, ...]] | None = None, most: int | None = None
    ) -> Part | None:
        """Return all sampled rows, or the first of them, in one batch, sorted by hash."""
        parts = tuple(part.hashed(self.schema) for part in self.parts if len(part))
        if not parts:
            return None
        if most is None or parts[0].text is not None:  # otherwise the first of all are the first of the sample
            parts = (cut or _lowest)(parts, self.room)
        parts = parts if most is None else _first(parts, min(most, round(self.room * MOST_ROWS)))
        order, hashes = _sorted(_all_hashes(parts))
        texts = [part.text for part in parts if part.text is not None]
        text = np.concatenate(texts)[order] if texts else None
        return Part(_in_order(parts, order), np.arange(len(order)), text, hashes)


def room_for(rows: int) -> float:
    """Return the size of a sample of some rows as a multiple of the usual, at most 1."""
    return min(1.0, rows / MOST_ROWS)


def _known(hashes: Hashes | None) -> Hashes:
    assert hashes is not None
    return hashes


def _all_hashes(parts: Sequence[Part]) -> Hashes:
    each = [_known(part.hashes) for part in parts]
    return each[0] if len(each) == 1 else np.concatenate(each)


def _sorted(hashes: Hashes) -> tuple[npt.NDArray[np.intp], Hashes]:
    """Return the order in which hashes rise, equal ones as they come; and the hashes in that order."""
    order = np.argsort(hashes)  # takes half as long as a stable sort
    rising = hashes[order]
    if (rising[1:] == rising[:-1]).any():
        order = np.argsort(hashes, kind="stable")
    return order, rising


def _lowest(parts: Sequence[Part], room: float) -> tuple[Part, ...]:
    """Return the sample: the rows with the lowest hashes, up to its size; all hashes must be known."""
    return _cut(parts, room, 0)


def _needed(parts: Sequence[Part], room: float) -> tuple[Part, ...]:
    """Return the rows that a merge needs: the sample, and the row whose text exceeds its size.

    Without that row a merge could not tell that the sample ends there, and would go on with rows of higher hashes.
    """
    return _cut(parts, room, 1)


def _cut(parts: Sequence[Part], room: float, more: int) -> tuple[Part, ...]:
    if not any(map(len, parts)):
        return ()
    hashes, most = _all_hashes(parts), round(room * MOST_ROWS)
    if parts[0].text is None:
        return _take(parts, _places(hashes, most))
    text = np.concatenate([part.text for part in parts if part.text is not None])
    # Sorting takes long: at first only as many rows as will do by their mean size, then as many as there may be.
    for few in (min(most, int(_LIKELY * room * MOST_BYTES * len(text) / max(1, int(text.sum())))), most):
        kept = _places(hashes, few)
        if text[kept].sum() > room * MOST_BYTES:
            break
    kept = kept[_sorted(hashes[kept])[0]]
    end = int(np.searchsorted(np.cumsum(text[kept]), room * MOST_BYTES, side="right"))
    return _take(parts, kept[: max(1, end + more)])


def _first(parts: Sequence[Part], most: int) -> tuple[Part, ...]:
    """Return the rows with the lowest hashes."""
    few = sum(map(len, parts)) <= most
    return tuple(parts) if few else _take(parts, _places(_all_hashes(parts), most))


def _places(hashes: Hashes, most: int) -> npt.NDArray[np.intp]:
    """Return the places of the lowest hashes, in any order."""
    if len(hashes) <= most:
        return np.arange(len(hashes))
    # Hashes of different rows are spread evenly, so those below a bound are hardly ever too few; equal rows may be.
    share = (most + 4 * most**0.5 + 16) / len(hashes)
    if share < 0.9:
        low = np.flatnonzero(hashes <= int(share * 2.0**64) - 2**63)
        if len(low) > most:
            return low[np.argpartition(hashes[low], most)[:most]]
    return np.argpartition(hashes, most)[:most]


def _take(parts: Sequence[Part], kept: npt.NDArray[np.intp]) -> tuple[Part, ...]:
    """Return the rows at some places of all parts together."""
    mask = np.zeros(sum(map(len, parts)), bool)
    mask[kept] = True
    each = np.split(mask, np.cumsum([len(part) for part in parts])[:-1])
    return tuple(part.of(np.flatnonzero(mine)) for part, mine in zip(parts, each, strict=True) if mine.any())


def _fits(parts: Sequence[Part], room: float) -> bool:
    """Return whether all rows may be kept for now: up to twice the sample, so that cutting pays."""
    text = sum(int(part.text.sum()) for part in parts if part.text is not None)
    return sum(map(len, parts)) <= 2 * room * MOST_ROWS and text <= 2 * room * MOST_BYTES


def _not_held(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the same rows, without keeping large batches in memory for a few of their rows.

    The last batch is being read and stays in memory anyway. An array is one batch in slices, so none of it is copied.
    """
    read = _memory(parts[-1].batch) if parts else ()
    # A batch of which half the rows are kept is as large as its rows: it was copied before, when more were kept.
    held = [part for part in parts if 2 * len(part) < len(part.batch) and _memory(part.batch) != read]
    if sum(part.batch.nbytes for part in held) <= _HELD_BYTES:
        return parts
    return tuple(part.alone() if any(part is one for one in held) else part for part in parts)


def _memory(batch: pa.RecordBatch) -> tuple[int, ...]:
    """Return the addresses of a batch's memory: the same for all of its slices."""
    columns = map(batch.column, range(batch.num_columns))  # one is enough, as a rule, of hundreds
    each = ([buffer.address for buffer in column.buffers() if buffer is not None] for column in columns)
    return next((tuple(addresses) for addresses in each if addresses), ())


def _text_bytes(rows: RowBatch, schema: Schema) -> npt.NDArray[np.int64] | None:
    """Return the bytes of each row's text and bags; None without either.

    A count in a bag is taken as a word.
    """
    each: list[npt.NDArray[np.int64]] = []
    for block in schema.blocks:
        if block.event.input not in ("text", "bag"):
            continue
        data = rows.encode(block)
        if isinstance(data, Texts):
            lengths = (pc.fill_null(pc.binary_length(column), 0) for column in data.columns)
            each += [length.to_numpy(zero_copy_only=False).astype(np.int64) for length in lengths]
        elif isinstance(data, Sparse):
            each.append(_WORD_BYTES * np.diff(data.indptr).astype(np.int64))
        elif isinstance(data, Dense):
            each += [_WORD_BYTES * (column > 0) for column in data.each()]
    return reduce(np.add, each) if each else None


def _in_order(parts: Sequence[Part], order: npt.NDArray[np.intp]) -> pa.RecordBatch:
    """Return the rows of all parts as one batch."""
    fields = parts[0].batch.schema
    alike = all(part.batch.schema.equals(fields) for part in parts)
    if len(parts) == 1 or (alike and not any(pa.types.is_dictionary(field.type) for field in fields)):
        return sources.gather([(part.batch, part.index) for part in parts], order)
    return sources.take(_joined([part.alone().batch for part in parts]), order)


def _joined(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return rows of different batches as one; booleans, integers, fractions and nulls are cast to a common type."""
    plain = [sources.plain(part) for part in parts]
    numbers = {field.name for part in plain for field in part.schema if is_numeric(field.type)}
    tables = [_without_booleans(pa.Table.from_batches([part]), numbers) for part in plain]
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks().to_batches()[0]


def _without_booleans(table: pa.Table, numbers: Collection[str]) -> pa.Table:
    """Return the rows with 0 and 1 for the booleans of columns that are numbers elsewhere, as a model counts them."""
    for k, field in enumerate(table.schema):
        if pa.types.is_boolean(field.type) and field.name in numbers:
            table = table.set_column(k, field.with_type(pa.int8()), table.column(k).cast(pa.int8()))
    return table
