"""A hash of each row's content: values, class and weight, whatever the order of the columns."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.cell_hashes import CellHashes, hash_values
from tallybayes.events.event import ClassCodes, Counted, Weights
from tallybayes.events.inputs import Encoded, Sparse
from tallybayes.evidence.evidence import class_codes, row_weights
from tallybayes.schema.column_names import NumberedNames
from tallybayes.schema.schema import Block, Schema

__all__ = ["Hashes", "RowHashes", "mix", "row_hashes"]

Hashes = npt.NDArray[np.int64]


def row_hashes(rows: RowBatch, schema: Schema) -> Hashes:  # (n,)
    """Hash each row's values, class and weight; column names matter, their order does not."""
    return RowHashes(rows, schema).finish()


class RowHashes:
    """Hashes of rows, to which counting adds those of the blocks that it reads anyway."""

    def __init__(self, rows: RowBatch, schema: Schema) -> None:
        self._rows, self._schema = rows, schema
        self._out = np.zeros(len(rows), np.int64)
        # What products are made of is hashed.
        self._left = [block for block in schema.blocks if not block.event.product]

    def count(
        self, block: Block, data: Encoded, classes: ClassCodes, n_classes: int, weights: Weights
    ) -> Counted | None:
        """Count a block and add its hashes; None if that is no quicker than one by one."""
        if block.event.product:
            return None
        counted = block.event.count_and_hash(data, classes, n_classes, weights, self.of(block, data))
        if counted is not None:
            self.leave_out(block)
        return counted

    def leave_out(self, block: Block) -> None:
        """Take note that the hashes of a block were added by others."""
        self._left = [one for one in self._left if one is not block]

    def finish(self) -> Hashes:  # (n,)
        """Add what is left and return the hashes, once."""
        rows, schema, out = self._rows, self._schema, self._out
        for block in self._left:
            with rows.refusing(block):
                data = rows.encode(block)
                self.of(block, data).add(data)
        codes, labels = class_codes(rows, schema.label)
        kernels.hash_codes((codes,), hash_values(labels, _seed("class")), [len(labels)], out)
        weights = row_weights(rows, schema.weight)
        if weights is not None:
            kernels.hash_dense((weights,), np.array([_seed("weight")]), out)
        kernels.mix_words(out)
        return out

    def of(self, block: Block, data: Encoded) -> CellHashes:
        """Return where the hashes of a block's cells go."""
        seeds = np.array([_seed("sparse")]) if isinstance(data, Sparse) else _seeds(block.columns)
        return CellHashes(seeds, self._out)


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
    kernels.mix_words(mixed.reshape(-1))
    return mixed
