"""The bytes of a file: arrays in safetensors, the rest as JSON in its header, a checksum over both.

Nothing in it can run. The layout is canonical (one metadata key, sorted JSON), so equal content is equal bytes.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.errors import BadModelFile, TallyError, wanted
from tallybayes.events.correlation import Correlation
from tallybayes.events.options import shown

__all__ = ["BROKEN", "FORMAT", "SPARSE", "Tensors", "checksum", "header_of", "pack", "require", "text", "unpack"]

# The newest; content without correlations is written as format 3, without interactions as format 2, and without sparse
# sums as format 1.
FORMAT = 4
# The ends of the names of a sparse sum's arrays: the class of each entry, and the number of entries of each column.
SPARSE = (".of_class", ".per_column")
_KEY = "tallybayes"

Tensors = dict[str, npt.NDArray[Any]]

# Errors raised when parts that do not belong together are rebuilt.
BROKEN = (
    TallyError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RecursionError,
    MemoryError,
    pa.ArrowException,
)


def pack(header: dict[str, Any], tensors: Tensors) -> bytes:
    """Return header and arrays as bytes, with their checksum."""
    from safetensors.numpy import save as to_bytes

    header = {**header, "format": _format(header, tensors)}
    header["checksum"] = checksum(header, tensors)
    # safetensors reads an array from its address on, and past its end where it has gaps.
    dense = {name: one if one.flags.c_contiguous else one.copy() for name, one in tensors.items()}
    return bytes(to_bytes(dense, metadata={_KEY: _json(header)}))


def _format(header: dict[str, Any], tensors: Tensors) -> int:
    """Return the oldest format that has all that is stored."""
    products = {b["event"] for b in header["blocks"] if "parts" in b}
    if products:
        return FORMAT if Correlation.name in products else 3
    return 1 + any(name.endswith(SPARSE[0]) for name in tensors)


def unpack(content: bytes, where: str) -> tuple[dict[str, Any], Tensors]:
    """Return header and arrays; raise unless `pack` made the bytes. `where` names them in messages."""
    header, tensors = _open(content, where)
    if header.get("format") not in range(1, FORMAT + 1):
        raise BadModelFile(
            wanted(where, f"format 1 to {FORMAT}", shown(header.get("format")), "Use the version that wrote it")
        )
    given = header.pop("checksum", None)
    try:
        found = checksum(header, tensors)
    except BROKEN:  # NaN, infinite numbers, or lists nested too deeply
        raise _no_model(where) from None
    if given != found:
        raise BadModelFile(
            wanted(where, "a matching checksum", "another", "The file was altered or truncated; save it again")
        )
    return header, tensors


def header_of(content: bytes) -> dict[str, Any]:
    """Return the header alone, unchecked."""
    size = int.from_bytes(content[:8], "little")
    written = json.loads(content[8 : 8 + size])["__metadata__"][_KEY]
    header = json.loads(written)
    if not isinstance(header, dict):
        raise ValueError(_KEY)
    if "\\ud" in written.lower() or not written.isascii():  # a lone surrogate is no text: no name may have one
        json.dumps(header, ensure_ascii=False).encode()
    return header


def require(holds: bool, what: str) -> None:
    """Raise unless a condition on the content holds."""
    if not holds:
        raise BadModelFile(what)


def text(value: Any) -> str:
    """Return a value as text; raise if it is not."""
    require(isinstance(value, str), "text")
    return str(value)


def _open(content: bytes, where: str) -> tuple[dict[str, Any], Tensors]:
    """Return header and arrays; raise unless these are the bytes of a safetensors file with our key."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    try:
        tensors = from_bytes(content)
        header = header_of(content)
    except (SafetensorError, *BROKEN):
        raise _no_model(where) from None
    return header, tensors


def _no_model(where: str) -> BadModelFile:
    return BadModelFile(wanted(where, "a tallybayes model", "something else, or only a part of one"))


def checksum(header: dict[str, Any], tensors: Tensors) -> str:
    """Return the SHA-256 of header and arrays, their types and shapes included."""
    digest = hashlib.sha256(_json(header).encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype.str} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
