"""Rows to bytes and back, as an Arrow stream of one batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def as_stream(batch: pa.RecordBatch, compression: str | None = None) -> pa.Buffer:
    """Return a batch as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def from_stream(content: Any) -> pa.RecordBatch:
    """Return the batch in the bytes that `as_stream` wrote.

    OUT: the batch owns a copy of the bytes and is fully validated.

    Examples
    --------
    >>> from_stream(as_stream(pa.record_batch({"x": [1, 2]}))).to_pydict()
    {'x': [1, 2]}
    """
    aligned = np.array(np.frombuffer(content, np.uint8))  # the content may begin at an address that is not aligned
    [batch] = pa.ipc.open_stream(pa.py_buffer(aligned))
    batch.validate(full=True)
    return batch
