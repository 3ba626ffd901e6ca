"""Rows chosen by their content: the same of them, whatever the order and the batches in which all came.

Each row has a hash of its values, its class and its weight. Chosen are those with the lowest hashes, as many as there
is room for. Two choices of different rows merge into the choice of all rows, so a fold can make one while it counts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import kernels
from tallybayes.encode import Rows
from tallybayes.encoded import Codes, Dense, Sparse, Texts
from tallybayes.evidence import class_codes, row_weights
from tallybayes.labels import Labels
from tallybayes.names import Numbered
from tallybayes.schema import Schema

__all__ = ["Chosen", "row_hashes"]

# Two numbers are fitted to the rows chosen, and one smoothing: more rows, or more text, would not make them better.
MOST_ROWS = 50_000
MOST_BYTES = 5 << 19

Hashes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chosen:
    """Some of the rows seen, and how they are read.

    Attributes
    ----------
    schema : Schema
        What each column is.
    parts : tuple of RecordBatch
        The rows kept so far: twice as many as are chosen in the end, or fewer.
    """

    schema: Schema
    parts: tuple[pa.RecordBatch, ...] = ()

    @classmethod
    def of(cls, rows: Rows, schema: Schema) -> Chosen:
        """The choice among the rows of one batch; one that weighs nothing is none."""
        weights = row_weights(rows, schema.weight)
        if weights is not None and not weights.all():
            rows = Rows(rows.batch.filter(pa.array(weights > 0)), rows.first, schema.missing)
        return cls(schema, (rows.batch if _fits([rows.batch]) else _lowest(rows, schema),))

    def __add__(self, other: Chosen) -> Chosen:
        parts = self.parts + other.parts
        if _fits(parts):
            return Chosen(self.schema, parts)
        return Chosen(self.schema, (_lowest(Rows(_joined(parts), 0, self.schema.missing), self.schema),))

    def __sub__(self, other: Chosen) -> Chosen:
        mine, gone = self.rows(), other.rows()
        if mine is None or gone is None:
            return self
        left = Counter(row_hashes(Rows(gone, 0, self.schema.missing), self.schema).tolist())
        keep = []
        for row in row_hashes(Rows(mine, 0, self.schema.missing), self.schema).tolist():
            left[row] -= 1
            keep.append(left[row] < 0)
        return Chosen(self.schema, (mine.filter(pa.array(keep, pa.bool_())),))

    def settled(self) -> Chosen:
        """The same, in memory of its own."""
        rows = self.rows()
        return Chosen(self.schema, () if rows is None else (rows,))

    def rows(self) -> pa.RecordBatch | None:
        """The rows chosen, in the order of their hashes; None if there are none."""
        some = tuple(part for part in self.parts if len(part))
        return _lowest(Rows(_joined(some), 0, self.schema.missing), self.schema) if some else None


def row_hashes(rows: Rows, schema: Schema) -> Hashes:  # (n,)
    """A hash of each row's values, class and weight; what a column is called matters, where it stands does not."""
    out = np.zeros(len(rows), np.int64)
    for block in schema.blocks:
        with rows.refusing(block):
            _add(rows.encode(block), block.columns, out)
    codes, labels = class_codes(rows, schema.label)
    kernels.hash_codes((codes,), _of_values(labels, _seed("class")), [len(labels)], out)
    weights = row_weights(rows, schema.weight)
    if weights is not None:
        kernels.hash_dense((weights,), np.array([_seed("weight")]), out)
    return _stirred(out)


def _add(data: Dense | Codes | Sparse | Texts, columns: Sequence[str], out: Hashes) -> None:
    if isinstance(data, Codes) and data.settle is not None:
        data = data.settle()
    if isinstance(data, Dense):
        kernels.hash_dense(data.columns, _seeds(columns), out)
    elif isinstance(data, Sparse):
        kernels.hash_sparse(*data.parts(), data.width, _seed("sparse"), out)
    elif isinstance(data, Texts):
        for column, seed in zip(data.columns, _seeds(columns), strict=True):
            kernels.hash_texts(column, int(seed), out)
    else:
        pairs = zip(data.labels, _seeds(columns), strict=True)
        hashes = np.concatenate([np.zeros(0, np.int64), *(_of_values(labels, int(seed)) for labels, seed in pairs)])
        kernels.hash_codes(data.columns, hashes, data.sizes, out, low=data.low)


def _of_values(labels: Labels, seed: int) -> Hashes:
    """A hash of each value of a column."""
    out = np.zeros(len(labels), np.int64)
    kernels.hash_texts(pc.cast(labels.array, pa.string()), seed, out)
    return out


def _seeds(columns: Sequence[str]) -> Hashes:
    if isinstance(columns, Numbered):
        return _stirred(np.arange(1, len(columns) + 1, dtype=np.int64))
    return np.array([_seed(name) for name in columns], np.int64)


@cache
def _seed(name: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
    )


def _stirred(words: Hashes) -> Hashes:
    """Every bit of each made to depend on all of its bits."""
    bits = words.view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x7FB5D329728EA185)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x81DADEF4BC2DD44D)
    return (bits ^ (bits >> np.uint64(33))).view(np.int64)


def _lowest(rows: Rows, schema: Schema) -> pa.RecordBatch:
    """The rows with the lowest hashes, in their order, as many as there is room for."""
    order = np.argsort(row_hashes(rows, schema), kind="stable")[:MOST_ROWS]
    lengths = _text_bytes(rows, schema)
    if lengths is not None:
        room = int(np.searchsorted(np.cumsum(lengths[order]), MOST_BYTES, side="right"))
        order = order[: max(room, 1)]
    return rows.batch.take(pa.array(order))


def _text_bytes(rows: Rows, schema: Schema) -> npt.NDArray[np.int64] | None:
    """How many bytes of prose each row has; None where there are no such columns."""
    encoded = (rows.encode(block) for block in schema.blocks if block.event.takes == "text")
    columns = [column for data in encoded if isinstance(data, Texts) for column in data.columns]
    lengths = [pc.fill_null(pc.binary_length(column), 0) for column in columns]
    return np.sum([length.to_numpy(zero_copy_only=False) for length in lengths], axis=0) if lengths else None


def _joined(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Rows of different batches as one; whole numbers here and fractions there, or nulls alone, are of one kind."""
    if len(parts) == 1:
        return parts[0]
    tables = [pa.Table.from_batches([_plain(part)]) for part in parts]
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks().to_batches()[0]


def _plain(part: pa.RecordBatch) -> pa.RecordBatch:
    """Without dictionaries, of which each batch may have its own."""
    for k, field in enumerate(part.schema):
        if pa.types.is_dictionary(field.type):
            part = part.set_column(k, field.with_type(field.type.value_type), part.column(k).dictionary_decode())
    return part


def _fits(parts: Sequence[pa.RecordBatch]) -> bool:
    """Whether so many rows may be kept until there are more: twice as many as are chosen, so that it pays to choose."""
    text = sum(column.nbytes for part in parts for column in part.columns if _is_text(column.type))
    return sum(len(part) for part in parts) <= 2 * MOST_ROWS and text <= 2 * MOST_BYTES


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
