"""A column that is passed separately from its table, as labels and weights often are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.arguments import shown
from tallybayes.errors import BadData, wanted
from tallybayes.sources.frames import of_arrow
from tallybayes.sources.source import Source
from tallybayes.sources.to_arrow import column_of


def attach(source: Source, name: str, values: Any) -> Source:
    """Return the same rows with one more column.

    The name must be new. If the length of the source is unknown, a wrong number of values raises only while iterating.

    Examples
    --------
    >>> from tallybayes.sources import read
    >>> labelled = attach(read([[1.0, 2.0], [3.0, 4.0]]), "label", ["yes", "no"])
    >>> labelled.schema.names, next(iter(labelled)).column("label").to_pylist()
    (['x', 'label'], ['yes', 'no'])
    """
    if name in source.schema.names:
        raise BadData(wanted(f"column '{name}'", f"a name that {source.name} does not have", "one that it has already"))
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2 and shape[1] == 1:  # one column of a matrix or of a frame
        column = _one_column(values)
        values, shape = (values, shape) if column is None else (column, (len(column),))
    if len(shape) != 1 if isinstance(shape, tuple) else not hasattr(values, "__len__"):
        got = shown(values) if not shape else f"shape {shape}"
        raise BadData(wanted(f"column '{name}'", "one value a row", got, "Pass x.ravel()" if shape else ""))
    field, column = column_of(name, values, "the values passed separately")
    chunks = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if source.rows is not None and source.rows != len(chunks):
        raise _unequal(source, name, f"{source.rows}", len(chunks))
    schema = source.schema.append(field)

    def start() -> Iterator[pa.RecordBatch]:
        at = 0
        for batch in source:
            piece = chunks.slice(at, batch.num_rows)
            at += batch.num_rows
            if len(piece) < batch.num_rows:
                raise _unequal(source, name, f"at least {at}", len(chunks))
            values = piece.chunk(0) if piece.num_chunks == 1 else piece.combine_chunks()
            yield pa.RecordBatch.from_arrays([*batch.columns, values], schema=schema)
        if at != len(chunks):
            raise _unequal(source, name, f"{at}", len(chunks))

    return replace(source, schema=schema, start=start)


def _one_column(values: Any) -> Any:
    """Return the only column of a matrix or of a frame; None of anything else, such as a sparse matrix."""
    if isinstance(values, np.ndarray):
        return values[:, 0]
    if not hasattr(values, "__arrow_c_stream__"):
        return None
    return pa.Table.from_batches(of_arrow(values)).column(0)


def _unequal(source: Source, name: str, rows: str, values: int) -> BadData:
    return BadData(wanted(f"column '{name}'", f"{rows} values, one for each row of {source.name}", str(values)))
