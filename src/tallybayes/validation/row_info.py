"""Class, weight, group and order of each row, as the first pass over the data finds them.

Later passes read the partitions again. A partition that has changed since, or has its rows in another order, is
refused: each worker is sent a seal, a digest of the classes and weights that the first pass found in the partition.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import sources
from tallybayes.categories import Categories, encode
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.engines import Partitioned
from tallybayes.errors import BadData, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import class_codes, row_weights
from tallybayes.evidence.partial import KeptColumns
from tallybayes.schema.schema import Schema
from tallybayes.sources import Source
from tallybayes.validation.split import IntCodes

_SEAL_BYTES = 16
# Bytes of rows that are processed at a time; bounds the memory for copies.
_PIECE_BYTES = 64 << 20


@dataclass(frozen=True)
class Roles:
    """The columns with a role in validation: label, weight, groups, folds and order."""

    # label, weight: the columns of classes and of weights
    label: str
    weight: str | None
    others: Mapping[str, str]  # the columns of groups, folds or order, by role
    features: bool = False  # whether those may be features as well

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(dict.fromkeys([self.label, *([self.weight] if self.weight else []), *self.others.values()]))

    @property
    def hidden(self) -> set[str]:
        """The columns that are not features, apart from label and weight."""
        return set() if self.features else set(self.others.values()) - {self.label, self.weight}

    def check(self, rows: Partitioned) -> None:
        """Raise unless the columns of groups, folds and order exist."""
        have = rows.schema.names
        for role, name in self.others.items():
            if name not in have:
                want = f"a column of {rows.name}, or an array"
                raise BadData(wanted(role, want, repr(name), did_you_mean(name, have)))


@dataclass(frozen=True)
class RowInfo:
    """Class, weight, other roles and partition of each row."""

    strata: IntCodes  # (n,): the class of each row among all classes found
    # (n,): the class of each row among those of the evidence; −1 for a class without weight in any row
    classes: IntCodes
    found: Categories  # all classes found
    weights: Floats | None  # (n,): the weight of each row
    others: Mapping[str, pa.Array]  # groups, folds and order, where given
    sizes: tuple[int, ...]  # the number of rows in each partition
    seal: Callable[[int], bytes]  # returns the seal of a partition, given its number

    @classmethod
    def of(cls, kept: Sequence[KeptColumns], roles: Roles, classes: Categories) -> RowInfo:
        """Return the row info, given the kept columns of all rows and the classes of the evidence."""
        each = [one.batch() for one in sorted(kept, key=lambda one: one.partition)]
        label, weight = roles.label, roles.weight
        rows = RowBatch(_one_batch(each))
        codes, found = class_codes(rows, label)
        weights = None if weight is None else row_weights(rows, weight)
        return cls(
            codes.astype(np.int32),
            classes.find(found.array).astype(np.int32)[codes],
            found,
            weights,
            {role: rows.column(name) for role, name in roles.others.items()},
            tuple(batch.num_rows for batch in each),
            lru_cache(None)(lambda k: _seal_of(each[k], label, weight)),
        )

    def __len__(self) -> int:
        return len(self.strata)

    def codes(self, role: str) -> tuple[IntCodes, Categories]:
        """Return groups or folds as numbers from 0, in the order of their values."""
        codes, labels = encode(self.others[role])
        if (codes < 0).any():
            got = f"a missing one (row {int(np.argmax(codes < 0)) + 1})"
            raise BadData(wanted(role, "a value in every row", got))
        return codes, labels

    def order(self) -> npt.NDArray[np.intp] | None:
        """Return the row numbers in the order of the order column; None without one."""
        if "order" not in self.others:
            return None
        codes, _ = self.codes("order")
        return np.argsort(codes, kind="stable")

    def has_weight(self) -> npt.NDArray[np.bool_]:
        """Return the mask of rows with a weight above 0."""
        return np.ones(len(self), bool) if self.weights is None else self.weights > 0

    def slices(self) -> list[slice]:
        """Return the range of rows of each partition."""
        ends = np.cumsum(self.sizes).tolist()
        return [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]

    def own(self, place: IntCodes | None = None) -> list[PartitionRows]:
        """Return the rows' info by partition; `place`, (R, n), is the fold of each row in each repeat."""
        place = np.zeros((0, len(self)), np.int32) if place is None else place
        own = []
        for k, at in enumerate(self.slices()):
            weights = None if self.weights is None else self.weights[at]
            own.append(PartitionRows(at.start, place[:, at], partial(self.seal, k), self.classes[at], weights))
        return own


@dataclass(frozen=True)
class PartitionRows:
    """The info of one partition's rows; pickled, only the part that a worker cannot read itself."""

    first: int  # the number of rows before them, in other partitions
    place: IntCodes  # (R, n): the fold of each in each repeat
    seal: Callable[[], bytes]  # returns the digest that shows whether the partition is unchanged when it is read again
    # classes, weights: (n,): as in `RowInfo`
    classes: IntCodes | None = None
    weights: Floats | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # In the narrowest type: only these bytes grow with the number of rows.
        narrow = self.place.astype(np.min_scalar_type(-1 - int(self.place.max(initial=0))))
        return PartitionRows, (self.first, narrow, partial(bytes, self.seal()))


def open_partition(
    rows: Source, own: PartitionRows, schema: Schema, classes: Categories
) -> tuple[Source, PartitionRows]:
    """Return the rows of a partition and their info; raise unless they are those that were counted."""
    if own.classes is not None:
        return rows, own
    table = pa.Table.from_batches(list(rows), rows.schema).unify_dictionaries().combine_chunks()
    batches = table.to_batches()
    batch = batches[0] if batches else pa.RecordBatch.from_pylist([], rows.schema)
    if _seal_of(batch, schema.label, schema.weight) != own.seal():
        do = "Persist the collection before validating it, or read it in a fixed order"
        raise BadData(wanted(rows.name, "the same rows in the same order in each pass", "others", do))
    codes = np.zeros(0, np.int32)
    if batches:
        found_codes, found = class_codes(RowBatch(batch), schema.label)
        codes = classes.find(found.array).astype(np.int32)[found_codes]
    weights = row_weights(RowBatch(batch), schema.weight) if batches else None
    rows = replace(rows, rows=len(codes), again=True, start=lambda: batches)
    return rows, replace(own, place=own.place.astype(np.int32), classes=codes, weights=weights)


def pieces(rows: Source) -> Iterator[tuple[slice, pa.RecordBatch]]:
    """Yield the rows of a partition piece by piece, each with its range of row numbers."""
    first = 0
    for batch in rows:
        size = max(1, batch.num_rows * _PIECE_BYTES // max(1, batch.nbytes))
        for start in range(0, batch.num_rows, size):
            piece = batch.slice(start, size)
            yield slice(first + start, first + start + piece.num_rows), piece
        first += batch.num_rows


def _seal_of(batch: pa.RecordBatch, label: str, weight: str | None) -> bytes:
    """Return a digest of labels and weights; it detects a partition whose rows changed or moved."""
    digest = hashlib.blake2b(digest_size=_SEAL_BYTES)
    if batch.num_rows:
        rows = RowBatch(batch)
        codes, labels = class_codes(rows, label)
        digest.update(repr(labels.values).encode("utf-8", "surrogatepass"))
        digest.update(codes.astype("<i4").tobytes())
        weights = row_weights(rows, weight)
        digest.update(b"" if weights is None else weights.astype("<f8").tobytes())
    return digest.digest()


def _one_batch(each: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of all partitions as one batch."""
    if len(each) == 1:
        return each[0]
    tables = [pa.Table.from_batches([sources.plain(batch)]) for batch in each]
    parts = pa.concat_tables(tables, promote_options="permissive").combine_chunks().to_batches()
    return parts[0] if parts else each[0]
