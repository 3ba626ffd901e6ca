"""What is known of each row after the pass that counts all: its class, its weight, its group and its order.

Each later pass goes through the partitions again. One that has other rows by then, or the same in another order, is
refused: workers are sent a seal, made of the classes and weights that the first pass found in the partition.
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

__all__ = ["PartitionRows", "Roles", "RowInfo", "opened", "pieces"]

_SEAL_BYTES = 16
# So many bytes of rows are in hand at a time.
_PIECE_BYTES = 64 << 20


@dataclass(frozen=True)
class Roles:
    """The columns that say something about each row.

    Attributes
    ----------
    label, weight : str
        The columns of classes and of weights.
    others : mapping of str to str
        The columns of groups, folds or order, by what they are.
    features : bool
        Whether those may be features, too.
    """

    label: str
    weight: str | None
    others: Mapping[str, str]
    features: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(dict.fromkeys([self.label, *([self.weight] if self.weight else []), *self.others.values()]))

    @property
    def hidden(self) -> set[str]:
        """Those that are no features, apart from label and weight."""
        return set() if self.features else set(self.others.values()) - {self.label, self.weight}

    def check(self, rows: Partitioned) -> None:
        """Raise unless the columns of groups, folds and order are there."""
        have = rows.schema.names
        for role, name in self.others.items():
            if name not in have:
                want = f"a column of {rows.name}, or an array"
                raise BadData(wanted(role, want, repr(name), did_you_mean(name, have)))


@dataclass(frozen=True)
class RowInfo:
    """What is known of each row.

    Attributes
    ----------
    strata : ndarray of int32, shape (n,)
        The class of each row among all classes found.
    classes : ndarray of int32, shape (n,)
        The class of each row among those of the evidence; −1 for one that has no weight in any row.
    found : Categories
        All classes found.
    weights : ndarray, shape (n,), or None
        The weight of each row.
    others : mapping of str to Array
        Groups, folds and order, as far as given.
    sizes : tuple of int
        How many rows each partition has.
    seal : callable
        Takes the number of a partition, and gives its seal.
    """

    strata: IntCodes
    classes: IntCodes
    found: Categories
    weights: Floats | None
    others: Mapping[str, pa.Array]
    sizes: tuple[int, ...]
    seal: Callable[[int], bytes]

    @classmethod
    def of(cls, kept: Sequence[KeptColumns], roles: Roles, classes: Categories) -> RowInfo:
        """Return what is known of rows, given the columns kept of them and the classes that the evidence knows."""
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
        """Groups or folds as numbers from 0, in the order of their values."""
        codes, labels = encode(self.others[role])
        if (codes < 0).any():
            got = f"a missing one (row {int(np.argmax(codes < 0)) + 1})"
            raise BadData(wanted(role, "a value in every row", got))
        return codes, labels

    def order(self) -> npt.NDArray[np.intp] | None:
        """The rows in the order asked for; None if it is their own."""
        if "order" not in self.others:
            return None
        codes, _ = self.codes("order")
        return np.argsort(codes, kind="stable")

    def has_weight(self) -> npt.NDArray[np.bool_]:
        """Which rows have a weight above 0."""
        return np.ones(len(self), bool) if self.weights is None else self.weights > 0

    def slices(self) -> list[slice]:
        """Where the rows of each partition stand among all."""
        ends = np.cumsum(self.sizes).tolist()
        return [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]

    def own(self, place: IntCodes | None = None) -> list[PartitionRows]:
        """Return what each partition is given; `place`, (R, n), is the fold of each row in each repeat."""
        place = np.zeros((0, len(self)), np.int32) if place is None else place
        weights = self.weights
        return [
            PartitionRows(
                at.start,
                place[:, at],
                partial(self.seal, k),
                self.classes[at],
                None if weights is None else weights[at],
            )
            for k, at in enumerate(self.slices())
        ]


@dataclass(frozen=True)
class PartitionRows:
    """What is known of the rows of one partition; on its way to a worker, only what the worker cannot know.

    Attributes
    ----------
    first : int
        How many rows come before them, in other partitions.
    place : ndarray of int32, shape (R, n)
        The fold of each in each repeat.
    seal : callable
        Gives the bytes by which the partition is known to be the same when it is read again.
    classes, weights : ndarray, shape (n,)
        As in `RowInfo`.
    """

    first: int
    place: IntCodes
    seal: Callable[[], bytes]
    classes: IntCodes | None = None
    weights: Floats | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # In as few bytes as will do: these are the only ones that grow with the rows.
        narrow = self.place.astype(np.min_scalar_type(-1 - int(self.place.max(initial=0))))
        return PartitionRows, (self.first, narrow, partial(bytes, self.seal()))


def opened(rows: Source, own: PartitionRows, schema: Schema, classes: Categories) -> tuple[Source, PartitionRows]:
    """Return the rows of a partition and what is known of them, if they are those that were counted.

    Parameters
    ----------
    rows : Source
        The partition.
    own : PartitionRows
        What it was given.
    schema : Schema
        Which columns are label and weight.
    classes : Categories
        The classes that the evidence knows.
    """
    if own.classes is not None:
        return rows, own
    table = pa.Table.from_batches(list(rows), rows.schema).unify_dictionaries().combine_chunks()
    batches = table.to_batches()
    batch = batches[0] if batches else pa.RecordBatch.from_pylist([], rows.schema)
    if _seal_of(batch, schema.label, schema.weight) != own.seal():
        do = "Persist the collection before it is validated, or read it in an order that stays"
        raise BadData(wanted(rows.name, "the same rows in the same order for each pass", "others", do))
    known = np.zeros(0, np.int32)
    if batches:
        codes, found = class_codes(RowBatch(batch), schema.label)
        known = classes.find(found.array).astype(np.int32)[codes]
    weights = row_weights(RowBatch(batch), schema.weight) if batches else None
    rows = replace(rows, rows=len(known), again=True, start=lambda: batches)
    return rows, replace(own, place=own.place.astype(np.int32), classes=known, weights=weights)


def pieces(rows: Source) -> Iterator[tuple[slice, pa.RecordBatch]]:
    """The rows of a partition, piece by piece, and where each stands among them."""
    first = 0
    for batch in rows:
        size = max(1, batch.num_rows * _PIECE_BYTES // max(1, batch.nbytes))
        for start in range(0, batch.num_rows, size):
            piece = batch.slice(start, size)
            yield slice(first + start, first + start + piece.num_rows), piece
        first += batch.num_rows


def _seal_of(batch: pa.RecordBatch, label: str, weight: str | None) -> bytes:
    """A digest of the rows' classes and weights, and so of their number and, as far as these tell, of their order."""
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
    """The rows of all partitions as one batch."""
    if len(each) == 1:
        return each[0]
    tables = [pa.Table.from_batches([sources.plain(batch)]) for batch in each]
    parts = pa.concat_tables(tables, promote_options="permissive").combine_chunks().to_batches()
    return parts[0] if parts else each[0]
