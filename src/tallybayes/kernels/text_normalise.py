"""Documents that Python itself must prepare, since the kernel cannot: accents to be stripped, and capital sigmas.

The lower case of a sigma depends on whether a word ends there, and stripping accents needs decompositions. Both are
rare enough to be left to ``str`` and ``unicodedata``, which cannot disagree with what users know.
"""

from __future__ import annotations

import unicodedata
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from . import _native
from .text_types import TextOptions
from .text_unicode import characters

Parts: TypeAlias = tuple[Any, ...]  # a column taken apart: validity, offsets, data, first, n, wide, patch


def take_apart(column: Any, name: str) -> Parts:
    """The buffers of a string column, as the compiled module takes them."""
    if not isinstance(column, (pa.StringArray, pa.LargeStringArray)):
        kind = f"{type(column).__name__} of {column.type}" if hasattr(column, "type") else type(column).__name__
        raise TypeError(f"{name}: wanted a pyarrow StringArray or LargeStringArray, got {kind}")
    validity, offsets, data = column.buffers()
    wide = isinstance(column, pa.LargeStringArray)
    return validity if column.null_count else None, offsets, data, column.offset, len(column), wide, None


def prepare(column: Any, options: TextOptions) -> tuple[Parts, Any]:
    """A column taken apart, with documents replaced where need be, and the tables of characters if they are needed."""
    if not isinstance(options, TextOptions):
        raise TypeError(f"options: wanted TextOptions, got {type(options).__name__}")
    parts = take_apart(column, "column")
    what = 2 if options.strip_accents else 1 if options.lowercase else 0
    plain, rows = _native.text_survey(parts, what)
    if not len(rows):
        return parts, None if plain else characters()
    kept, texts = [], []
    for row in rows.tolist():
        text = document(column, row)
        if text is not None:
            kept.append(row)
            texts.append(normalise(text, options).encode())
    offsets = np.zeros(len(kept) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    patch = np.array(kept, np.int64), offsets, b"".join(texts)
    return (*parts[:-1], patch), characters()


def document(column: Any, row: int) -> str | None:
    """One document; None if it is not UTF-8, which the kernel will say in the order of rows."""
    try:
        return str(column[row].as_buffer().to_pybytes(), "utf-8")
    except UnicodeDecodeError:
        return None


def normalise(text: str, options: TextOptions) -> str:
    """Lower case, then without accents, as the options say."""
    if options.lowercase:
        text = text.lower()
    if options.strip_accents and not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        if options.strip_accents == "ascii":
            return text.encode("ascii", "ignore").decode("ascii")
        text = "".join([c for c in text if not unicodedata.combining(c)])
    return text
