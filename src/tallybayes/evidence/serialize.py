"""Evidence as a header and arrays, which `container` packs into bytes.

The form is canonical (classes and values sorted, limbs in their one form), so equal evidence is equal bytes. A model
file adds the choices; partial evidence adds a sample. `deserialize` rebuilds the evidence.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.buckets import Buckets
from tallybayes.categories import Categories
from tallybayes.events import Event
from tallybayes.events.product import Product
from tallybayes.evidence.container import SPARSE, Tensors, checksum
from tallybayes.evidence.evidence import Evidence
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact
from tallybayes.plain_values import kind
from tallybayes.schema.column_names import NumberedNames, names
from tallybayes.sources.missing import AUTO

__all__ = [
    "DECLARED",
    "DECLARED_PER_BYTE",
    "code_type",
    "evidence_hash",
    "is_sparse",
    "put",
    "put_exact",
    "put_labels",
    "put_sum",
]

# Bytes; a larger sum is stored sparsely where that is smaller. A smaller one stays a table, which is simpler to read.
_LARGE = 1 << 16
# Zeros are not stored, so a header may declare more numbers than there are bytes: at most these per byte, or in all.
DECLARED_PER_BYTE, DECLARED = 64, 1 << 22


def put(evidence: Evidence, tensors: Tensors) -> dict[str, Any]:
    """Return the header of evidence, and add its arrays to the tensors."""
    schema = evidence.schema
    blocks = [
        {
            **_put_event(block.event),
            "columns": _put_names(block.columns),
            "sums": {
                k: put_sum(f"{b}.{k}", v, tensors, scattered=block.event.sums[k].sparse)
                for k, v in statistic.sums.items()
            },
            "labels": [
                put_one(f"{b}.labels.{f}", one, tensors)
                for put_one in (_put_buckets if block.event.labels is Buckets else put_labels,)
                for f, one in enumerate(statistic.labels)
            ],
        }
        for b, (block, statistic) in enumerate(zip(schema.blocks, evidence.statistics, strict=True))
    ]
    missing = schema.missing_values
    more: dict[str, Any] = {"missing_values": missing if missing == AUTO else list(missing)}
    if schema.readings:
        more["readings"] = {name: [one.kind, *one.options] for name, one in schema.readings.items()}
    return {
        **more,
        "label": schema.label,
        "weight": schema.weight,
        "missing": schema.missing,
        "classes": put_labels("classes", evidence.classes, tensors),
        "rows": put_exact("rows", evidence.rows, tensors),
        "columns": _put_names(schema.columns),
        "blocks": blocks,
    }


def evidence_hash(evidence: Evidence) -> str:
    """Return the SHA-256 of evidence: equal for equal rows, in whatever order they came.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> row = [{"x": "p", "y": "yes"}]
    >>> evidence_hash(model.learn(row).forget(row).evidence) == evidence_hash(model.evidence)
    True
    """
    tensors: Tensors = {}
    return checksum(put(evidence, tensors), tensors)


def _put_event(event: Event) -> dict[str, Any]:
    """Return an event model as JSON: its specification, and the parts of a product."""
    return {"event": event.spec} | (event.to_dict() if isinstance(event, Product) else {})


def _put_names(given: Any) -> Any:
    return {"numbered": len(given)} if isinstance(names(given), NumberedNames) else list(given)


def put_exact(name: str, value: Exact, tensors: Tensors) -> int | None:
    """Store the limbs, unless all are zero; return their base."""
    if value.is_zero:
        return None
    tensors[name] = value.limbs.astype(np.uint32)  # the last limb's sign wraps, and is restored on reading
    return value.base


def put_sum(name: str, value: Exact, tensors: Tensors, *, scattered: bool) -> int | dict[str, int | None] | None:
    """Store a sum as a table, or sparsely where that is smaller."""
    if not is_sparse(value, scattered=scattered):
        return put_exact(name, value, tensors)
    few = value if isinstance(value, SparseExact) else SparseExact.from_whole(value)
    code = code_type(few.shape[0])
    tensors[name + SPARSE[0]] = few.places.rows.astype(code)
    tensors[name + SPARSE[1]] = few.places.lengths.astype(code)
    return {"sparse": put_exact(name, few.values, tensors)}


def is_sparse(value: Exact, *, scattered: bool) -> bool:
    """Return whether to store a sum sparsely; depends on its values only, so equal evidence is equal bytes."""
    if value.is_zero:
        return False
    entries = len(value.places.rows) if isinstance(value, SparseExact) else np.count_nonzero(value.nonzero())
    digits = 4 * (value.values if isinstance(value, SparseExact) else value).limbs.shape[-1]
    cells, code = prod(value.shape), code_type(value.shape[0]).itemsize
    few = entries * (digits + code) + value.shape[1] * code
    # A table in memory must not be so small in a file that a reader would take it for a forgery.
    plausible = scattered or cells <= max(DECLARED, DECLARED_PER_BYTE * few)
    return _LARGE < cells * digits > few and plausible


def code_type(n_classes: int) -> np.dtype[Any]:
    """Return the smallest type that holds any class code, and the number of classes."""
    return np.min_scalar_type(n_classes)


def put_labels(name: str, labels: Categories, tensors: Tensors) -> dict[str, Any]:
    """Add the arrays of categories to the tensors; return the rest for the header."""
    array = labels.array.drop_null()
    type_ = array.type
    if type_ == pa.string():
        bounds, content = _text_buffers(array)
        tensors[f"{name}.bytes"] = content[bounds[0] : bounds[-1]]
        tensors[f"{name}.ends"] = bounds[1:] - bounds[0]
    elif type_ == pa.bool_():
        tensors[name] = array.cast(pa.uint8()).to_numpy()
    elif type_ != pa.null():
        stored = {pa.date32(): pa.int32(), pa.timestamp("us"): pa.int64()}.get(type_, type_)
        tensors[name] = array.cast(stored).to_numpy()
    return {"kind": kind(type_), "count": len(labels), "null": len(array) < len(labels)}


def _put_buckets(name: str, buckets: Buckets, tensors: Tensors) -> dict[str, Any]:
    tensors[name] = np.ascontiguousarray(buckets.keys)
    return {"shift": buckets.shift}


def _text_buffers(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return the offsets of the texts, and the bytes of all."""
    _, offsets, content = array.buffers()
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return bounds, np.frombuffer(content if content is not None else b"", np.uint8)
