"""The design matrix of the models that naive Bayes is compared with: what others need before they can fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Dense, Sparse
from tallybayes.schema.schema import Block, Schema


class Design:
    """Numbers standardised (missing ones become the mean), categories one-hot, texts as word counts."""

    def __init__(self, schema: Schema) -> None:
        self._missing = schema.missing
        self._parts = [_part(b, name) for b in schema.blocks if not b.event.product for name in _names(b)]

    def fit(self, batch: pa.RecordBatch) -> Any:
        """Learn means, values and words from the rows, and return their matrix."""
        return self._joined(batch, "fit_transform")

    def of(self, batch: pa.RecordBatch) -> Any:
        """Return the matrix of other rows."""
        return self._joined(batch, "transform")

    def _joined(self, batch: pa.RecordBatch, work: str) -> Any:
        rows = RowBatch(batch, 0, self._missing)
        parts = [getattr(transformer, work)(_values(block, name, rows)) for block, name, transformer in self._parts]
        return sparse.hstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.hstack(parts)


def _names(block: Block) -> Sequence[str | None]:
    """Return the columns of a block that are transformed one by one; None stands for all at once."""
    return list(block.columns) if block.event.input in ("codes", "text") else [None]


def _part(block: Block, name: str | None) -> tuple[Block, str | None, Any]:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

    from tallybayes.sklearn import CountVectorizer

    if block.event.input == "text":
        return block, name, CountVectorizer()
    if block.event.input == "codes":
        return block, name, OneHotEncoder(handle_unknown="ignore")
    if block.event.input == "bag":
        return block, name, MaxAbsScaler()
    # The squares of 1e300 are infinite; after the first step no number is above 1.
    return block, name, make_pipeline(MaxAbsScaler(), SimpleImputer(keep_empty_features=True), StandardScaler())


def _values(block: Block, name: str | None, rows: RowBatch) -> Any:
    if block.event.input == "text":
        column = rows.column(str(name))
        return column.cast(pa.string()).fill_null("").to_pylist()
    if block.event.input == "codes":
        return np.array([str(value) for value in rows.column(str(name)).to_pylist()], object)[:, None]
    data = rows.encode(block)
    if isinstance(data, Sparse):
        start, stop = int(data.indptr[0]), int(data.indptr[-1])
        parts = (data.data[start:stop].astype(np.float64), data.indices[start:stop], data.indptr - start)
        return sparse.csr_matrix(parts, shape=(len(data), data.width))
    assert isinstance(data, Dense)
    return data.matrix() if block.event.input == "dense" else np.nan_to_num(data.matrix())
