"""A hash of each row's content: values, class and weight, whatever the order of the columns."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Codes, Dense, Sparse, Texts
from tallybayes.evidence.evidence import class_codes, row_weights
from tallybayes.schema.column_names import NumberedNames
from tallybayes.schema.schema import Schema

__all__ = ["Hashes", "mix", "row_hashes"]

Hashes = npt.NDArray[np.int64]

# Words that are mixed at a time: with all of a million, most of the time went to new memory.
_MIXED = 1 << 13


def row_hashes(rows: RowBatch, schema: Schema) -> Hashes:  # (n,)
    """Hash each row's values, class and weight; column names matter, their order does not."""
    out = np.zeros(len(rows), np.int64)
    for block in schema.blocks:
        if block.event.product:  # what it is made of is hashed
            continue
        with rows.refusing(block):
            _add(rows.encode(block), block.columns, out)
    codes, labels = class_codes(rows, schema.label)
    kernels.hash_codes((codes,), _of_values(labels, _seed("class")), [len(labels)], out)
    weights = row_weights(rows, schema.weight)
    if weights is not None:
        kernels.hash_dense((weights,), np.array([_seed("weight")]), out)
    _mix_in_place(out)
    return out


def _add(data: Dense | Codes | Sparse | Texts, columns: Sequence[str], out: Hashes) -> None:
    if isinstance(data, Dense):
        kernels.hash_dense(data.columns, _seeds(columns), out)
    elif isinstance(data, Sparse):
        kernels.hash_sparse(*data.parts(), data.width, _seed("sparse"), out)
    elif isinstance(data, Texts):
        for column, seed in zip(data.columns, _seeds(columns), strict=True):
            kernels.hash_texts(column, int(seed), out)
    elif data.settle is None:
        _add_codes(data, columns, out)
    else:
        added = np.zeros(len(out), np.int64)
        if _add_codes(data, columns, added):  # the span guessed from the first rows was too small
            _add_codes(data.settle(), columns, out)
        else:
            out += added


def _add_codes(data: Codes, columns: Sequence[str], out: Hashes) -> int:
    """Add the hashes of codes, and return how many codes are out of range."""
    pairs = zip(data.labels, _seeds(columns), strict=True)
    hashes = np.concatenate([np.zeros(0, np.int64), *(_of_values(labels, int(seed)) for labels, seed in pairs)])
    return kernels.hash_codes(data.columns, hashes, data.sizes, out, low=data.low)


def _of_values(labels: Categories, seed: int) -> Hashes:
    """Hash each value of a column."""
    out = np.zeros(len(labels), np.int64)
    kernels.hash_texts(pc.cast(labels.array, pa.string()), seed, out)
    return out


def _seeds(columns: Sequence[str]) -> Hashes:
    if isinstance(columns, NumberedNames):
        return mix(np.arange(1, len(columns) + 1, dtype=np.int64))
    return np.array([_seed(name) for name in columns], np.int64)


@cache
def _seed(name: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
    )


def mix(words: Hashes) -> Hashes:
    """Return words in which every bit depends on all bits of the input word."""
    mixed = words.copy()
    _mix_in_place(mixed.reshape(-1))
    return mixed


def _mix_in_place(words: Hashes) -> None:
    bits = words.view(np.uint64)
    for start in range(0, len(bits), _MIXED):
        part = bits[start : start + _MIXED]
        part ^= part >> np.uint64(31)
        part *= np.uint64(0x7FB5D329728EA185)
        part ^= part >> np.uint64(27)
        part *= np.uint64(0x81DADEF4BC2DD44D)
        part ^= part >> np.uint64(33)
