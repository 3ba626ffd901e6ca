"""Wrappers of the text kernels: from strings to counts, scores and vectors.

Columns are pyarrow string arrays, read without a copy; slices and nulls are supported. A null document has no tokens.
Text that is not UTF-8 raises ``BadText``. Tokens are those of scikit-learn's ``CountVectorizer``, with the Unicode
version of this Python. ``tests/kernels/text_reference.py`` has the same in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from . import _native, text_python
from .text_normalise import prepare, take_apart
from .text_types import BadText, BadTokens, TextCounts, TextOptions, Tokenizer, Vectors
from .types import Floats

__all__ = [
    "BadText",
    "BadTokens",
    "Lookup",
    "TextCounts",
    "TextOptions",
    "Tokenizer",
    "Vectors",
    "count_text",
    "merge_vocabularies",
    "vectorise",
]

ANALYZERS = {"word": 0, "char": 1, "char_wb": 2}
SPILL = 2**32 - 1  # tokens, after which 32-bit counters could overflow
LONGEST = 2**40  # characters in an n-gram; more than any document has
DEFAULT = TextOptions()


def count_text(column: Any, classes: NDArray[np.int32], n_classes: int, options: TextOptions = DEFAULT) -> TextCounts:
    """Count the occurrences of each token per class, and the documents that have it.

    Examples
    --------
    >>> counts = count_text(pa.array(["To be, or not to be", "Be!", None]), np.array([0, 1, 1], np.int32), 2)
    >>> counts.vocabulary.to_pylist(), counts.missing.tolist()
    (['be', 'not', 'or', 'to'], [0, 1])
    >>> counts.starts.tolist(), counts.classes.tolist(), counts.tokens.tolist(), counts.documents.tolist()
    ([0, 2, 3, 4, 5], [0, 1, 0, 0, 0], [2, 1, 1, 1, 2], [1, 1, 1, 1, 1])
    """
    if _has_tokenizer(options):
        return text_python.count_text(column, classes, n_classes, options)
    parts, characters = prepare(column, options)
    counted = _native.text_count(parts, characters, _option_parts(options), classes, n_classes, SPILL)
    return TextCounts(_strings(counted[0]), *counted[1:])


class Lookup:
    """A vocabulary of distinct tokens, in any order, indexed for finding them; threads may share it.

    Examples
    --------
    >>> lookup, out = Lookup(pa.array(["be", "to"])), np.zeros((1, 1))
    >>> table, other = np.array([[1.0], [10.0]]), np.array([0.5])
    >>> length = lookup.score(pa.array(["To be, or not to be"]), table, out, unknown=other)
    >>> out.item(), length.item()
    (23.0, 6)
    """

    def __init__(self, vocabulary: Any, options: TextOptions = DEFAULT) -> None:
        if isinstance(vocabulary, pa.Array) and vocabulary.null_count:
            raise ValueError("vocabulary: wanted tokens, got null")
        self.options = options
        self.vocabulary = vocabulary
        self._python = text_python.PythonLookup(vocabulary) if _has_tokenizer(options) else None
        if self._python is None:
            self._lookup = _native.text_lookup(take_apart(vocabulary, "vocabulary"), _option_parts(options))

    def __len__(self) -> int:
        return len(self.vocabulary)

    def score(
        self, column: Any, table: Floats, out: Floats, *, unknown: Floats | None = None, distinct: bool = False
    ) -> NDArray[np.int64]:
        """Add the table rows of each document's tokens to ``out``; return the token counts.

        `unknown` (C,) is added for each token outside the vocabulary; without it such tokens add nothing. `distinct`
        counts each distinct token once. A document's count is of tokens that added something, -1 for null. Its scores
        depend on it alone, to the last bit: sums are in the order of the text.
        """
        if self._python is not None:
            return self._python.score(column, self.options, table, out, unknown, distinct)
        parts, characters = prepare(column, self.options)
        return _native.text_score(self._lookup, parts, characters, table, out, unknown, bool(distinct))

    def vectorise(self, column: Any) -> Vectors:
        """Return each document's token counts; columns are positions in the vocabulary."""
        if self._python is not None:
            return self._python.vectorise(column, self.options)
        parts, characters = prepare(column, self.options)
        indptr, indices, data, unknown = _native.text_find_vectors(parts, characters, self._lookup)
        return Vectors(indptr, indices, data, self.vocabulary, unknown)


def vectorise(column: Any, options: TextOptions = DEFAULT, vocabulary: Lookup | None = None) -> Vectors:
    """Return each document's token counts as a CSR matrix, as ``CountVectorizer`` does.

    By default columns are all tokens of the documents, sorted; otherwise those of a vocabulary with the same options.

    Examples
    --------
    >>> vectors = vectorise(pa.array(["be or not", "", "be be"]))
    >>> vectors.vocabulary.to_pylist(), vectors.indptr.tolist(), vectors.indices.tolist(), vectors.data.tolist()
    (['be', 'not', 'or'], [0, 3, 3, 4], [0, 1, 2, 0], [1, 1, 1, 2])
    """
    if vocabulary is not None:
        if vocabulary.options != options:
            raise ValueError(f"options: wanted those of the vocabulary, {vocabulary.options}, got {options}")
        return vocabulary.vectorise(column)
    if _has_tokenizer(options):
        return text_python.learn_vectors(column, options)
    parts, characters = prepare(column, options)
    strings, (indptr, indices, data, unknown) = _native.text_learn_vectors(parts, characters, _option_parts(options))
    return Vectors(indptr, indices, data, _strings(strings), unknown)


def merge_vocabularies(left: Any, right: Any) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Return the union of two vocabularies sorted by code point, and each side's positions in it.

    Examples
    --------
    >>> union, from_left, from_right = merge_vocabularies(pa.array(["be", "to"]), pa.array(["be", "or"]))
    >>> union.to_pylist(), from_left.tolist(), from_right.tolist()
    (['be', 'or', 'to'], [0, 2], [0, 1])
    """
    for name, side in (("left", left), ("right", right)):
        if isinstance(side, pa.Array) and side.null_count:
            raise ValueError(f"{name}: wanted tokens, got null")
    strings, from_left, from_right = _native.text_merge(take_apart(left, "left"), take_apart(right, "right"))
    return _strings(strings), from_left, from_right


def _has_tokenizer(options: TextOptions) -> bool:
    """Return whether a user's function makes the tokens."""
    return isinstance(options, TextOptions) and options.tokenizer is not None


def _option_parts(options: TextOptions) -> tuple[Any, ...]:
    if not isinstance(options, TextOptions):
        raise TypeError(f"options: wanted TextOptions, got {type(options).__name__}")
    least, greatest = (min(n, LONGEST) for n in options.ngram_range)
    # character n-grams have no stop words; a lone surrogate is in no UTF-8 text and matches nothing
    words = options.stop_words if options.analyzer == "word" else ()
    encoded = tuple(word.encode("utf-8", "surrogatepass") for word in words)
    return options.lowercase, ANALYZERS[options.analyzer], least, greatest, encoded


def _strings(parts: tuple[NDArray[np.int64], NDArray[np.uint8]]) -> Any:
    """Return strings from 64-bit offsets and bytes; a StringArray if 32-bit offsets suffice."""
    offsets, data = parts
    if offsets[-1] < 2**31:
        return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data))
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
