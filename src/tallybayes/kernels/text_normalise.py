"""Documents that Python prepares for the kernel: those with accents to strip or capital sigmas.

The lower case of a sigma depends on whether a word ends there, and stripping accents needs decompositions. Both are
rare, so ``str`` and ``unicodedata`` do them, with the results that users of Python expect.
"""

from __future__ import annotations

import unicodedata
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from . import _native
from .text_types import TextOptions
from .text_unicode import characters

Parts: TypeAlias = tuple[Any, ...]  # the parts of a column: validity, offsets, data, first, n, wide, patch


def take_apart(column: Any, name: str) -> Parts:
    """Return the buffers of a string column in the form the compiled module reads."""
    if not isinstance(column, (pa.StringArray, pa.LargeStringArray)):
        kind = f"{type(column).__name__} of {column.type}" if hasattr(column, "type") else type(column).__name__
        raise TypeError(f"{name}: wanted a pyarrow StringArray or LargeStringArray, got {kind}")
    validity, offsets, data = column.buffers()
    wide = isinstance(column, pa.LargeStringArray)
    return validity if column.null_count else None, offsets, data, column.offset, len(column), wide, None


def prepare(column: Any, options: TextOptions) -> tuple[Parts, Any]:
    """Return a column's parts, with prepared documents, and the character tables if needed."""
    if not isinstance(options, TextOptions):
        raise TypeError(f"options: wanted TextOptions, got {type(options).__name__}")
    parts = take_apart(column, "column")
    prepared = 2 if options.strip_accents else 1 if options.lowercase else 0
    plain, rows = _native.text_survey(parts, prepared)
    if not len(rows):
        return parts, None if plain else characters()
    replaced, texts = [], []
    for row in rows.tolist():
        text = document(column, row)
        if text is not None:
            replaced.append(row)
            texts.append(normalise(text, options).encode())
    offsets = np.zeros(len(replaced) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    patch = np.array(replaced, np.int64), offsets, b"".join(texts)
    return (*parts[:-1], patch), characters()


def document(column: Any, row: int) -> str | None:
    """Return one document, or None if it is not UTF-8: the kernel reports that, in row order."""
    try:
        return str(column[row].as_buffer().to_pybytes(), "utf-8")
    except UnicodeDecodeError:
        return None


def normalise(text: str, options: TextOptions) -> str:
    """Return the text in lower case and without accents, as the options say."""
    if options.lowercase:
        text = text.lower()
    if options.strip_accents and not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        if options.strip_accents == "ascii":
            return text.encode("ascii", "ignore").decode("ascii")
        text = "".join([c for c in text if not unicodedata.combining(c)])
    return text
