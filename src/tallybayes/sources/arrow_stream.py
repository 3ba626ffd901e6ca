"""Rows as bytes, and back: an Arrow stream of one batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["as_stream", "from_stream"]


def as_stream(batch: pa.RecordBatch, compression: str | None = None) -> pa.Buffer:
    """Rows as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def from_stream(content: Any) -> pa.RecordBatch:
    """The rows that `as_stream` was given, of anything that holds its bytes.

    Examples
    --------
    >>> from_stream(as_stream(pa.record_batch({"x": [1, 2]}))).to_pydict()
    {'x': [1, 2]}
    """
    held = np.array(np.frombuffer(content, np.uint8))  # a copy begins where numbers may begin
    [batch] = pa.ipc.open_stream(pa.py_buffer(held))
    batch.validate(full=True)
    return batch
