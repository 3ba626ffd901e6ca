"""The text functions for a tokenizer given by the user, in Python.

The text is lowered and stripped of accents as the options say, then passed to the tokenizer. Stop words are removed
from the words it returns, and n-grams are made of the rest.
"""

from __future__ import annotations

import threading
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .scores import score_sparse
from .text_normalise import normalise
from .text_types import BadText, BadTokens, TextCounts, TextOptions, Vectors
from .types import Floats

# A Python function does not get faster with threads, and may not be thread-safe.
ONE_AT_A_TIME = threading.Lock()

Positions = dict[str, int]  # token -> column


def words_of(text: str, options: TextOptions, row: int) -> list[str]:
    """Return the words the tokenizer makes of a text, checked to be strings."""
    assert options.tokenizer is not None
    returned = options.tokenizer(normalise(text, options))
    if isinstance(returned, str | bytes) or not hasattr(returned, "__iter__"):
        raise BadTokens(row, returned)
    words = list(returned)
    for word in words:
        if not isinstance(word, str) or not (word.isascii() or _is_unicode(word)):
            raise BadTokens(row, word)
    return words


def _is_unicode(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def tokens_of(text: str, options: TextOptions, row: int) -> list[str]:
    """Return the n-grams of the words, without stop words."""
    words = words_of(text, options, row)
    if options.stop_words:
        words = [word for word in words if word not in options.stop_words]
    least, greatest = options.ngram_range
    if greatest == 1:
        return words
    lengths = range(least, min(greatest, len(words)) + 1)
    return [" ".join(words[i : i + n]) for n in lengths for i in range(len(words) - n + 1)]


def bags(column: Any, options: TextOptions) -> Iterator[Counter[str] | None]:
    """Count the tokens of each document; None for a null document."""
    for row, scalar in enumerate(column):
        if not scalar.is_valid:
            yield None
            continue
        try:
            text = str(scalar.as_buffer(), "utf-8")
        except UnicodeDecodeError as error:
            raise BadText(row, error.start) from None
        yield Counter(tokens_of(text, options, row))


class Rows:
    """A sparse matrix that grows by one row per document."""

    def __init__(self) -> None:
        self.indptr, self.indices, self.data = array("q", [0]), array("i"), array("q")
        self.unknown, self.distinct_unknown = array("q"), array("q")  # per row, tokens outside the vocabulary

    def add(self, bag: Counter[str] | None, positions: Positions, *, learn: bool) -> None:
        """Add one document; with `learn`, a new token gets the next position."""
        unknown = distinct_unknown = 0
        for token, count in (bag or {}).items():
            position = positions.setdefault(token, len(positions)) if learn else positions.get(token, -1)
            if position < 0:
                unknown, distinct_unknown = unknown + count, distinct_unknown + 1
                continue
            self.indices.append(position)
            self.data.append(count)
        self.indptr.append(len(self.indices))
        self.unknown.append(-1 if bag is None else unknown)
        self.distinct_unknown.append(-1 if bag is None else distinct_unknown)

    def vectors(self, names: NDArray[np.int32] | None, vocabulary: Any) -> Vectors:
        """Return the matrix with renumbered columns, sorted within each row."""
        indptr, data = np.array(self.indptr, np.int64), np.array(self.data, np.int64)
        indices = np.array(self.indices, np.int32)
        indices = indices if names is None else names[indices]
        order = np.lexsort((indices, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))))
        return Vectors(indptr, indices[order], data[order], vocabulary, np.array(self.unknown, np.int64))


def _rows(column: Any, options: TextOptions, positions: Positions, *, learn: bool) -> Rows:
    rows = Rows()
    with ONE_AT_A_TIME:
        for bag in bags(column, options):
            rows.add(bag, positions, learn=learn)
    return rows


def learn_vectors(column: Any, options: TextOptions) -> Vectors:
    """Vectorise as ``text.vectorise`` does without a vocabulary."""
    positions: Positions = {}
    rows = _rows(column, options, positions, learn=True)
    tokens = sorted(positions)
    names = np.empty(len(tokens), np.int32)
    names[[positions[token] for token in tokens]] = np.arange(len(tokens))
    return rows.vectors(names, pa.array(tokens, pa.string()))


def count_text(column: Any, classes: NDArray[np.int32], n_classes: int, options: TextOptions) -> TextCounts:
    """Count as ``text.count_text`` does."""
    found = learn_vectors(column, options)
    V = len(found.vocabulary)
    cells, which = np.unique(
        found.indices.astype(np.int64) * n_classes + np.repeat(classes, np.diff(found.indptr)), return_inverse=True
    )
    tokens = np.zeros(len(cells), np.int64)
    np.add.at(tokens, which, found.data)
    documents = np.bincount(which, minlength=len(cells))
    starts = np.searchsorted(cells, np.arange(V + 1) * n_classes)
    where = (cells % max(n_classes, 1)).astype(np.int32)
    missing = np.bincount(classes[found.unknown < 0], minlength=n_classes)
    return TextCounts(found.vocabulary, starts, where, tokens, documents, missing)


class PythonLookup:
    """A vocabulary for texts that a Python tokenizer splits; twin of the compiled lookup."""

    def __init__(self, vocabulary: Any) -> None:
        self.vocabulary = vocabulary
        self.positions: Positions = {token: v for v, token in enumerate(vocabulary.to_pylist())}
        if len(self.positions) < len(vocabulary):
            raise ValueError("vocabulary: wanted distinct tokens, got one twice")

    def score(
        self, column: Any, options: TextOptions, table: Floats, out: Floats, unknown: Floats | None, distinct: bool
    ) -> NDArray[np.int64]:
        """Score as ``text.Lookup.score`` does."""
        rows = _rows(column, options, self.positions, learn=False)
        found = rows.vectors(None, self.vocabulary)
        data = np.ones_like(found.data) if distinct else found.data
        n_unknown = np.array(rows.distinct_unknown if distinct else rows.unknown, np.int64)
        score_sparse(found.indptr, found.indices, data, table, out)
        if unknown is not None:
            some = n_unknown > 0
            out[some] += n_unknown[some, None] * unknown
        n_known = np.bincount(np.repeat(np.arange(len(n_unknown)), np.diff(found.indptr)), data, len(n_unknown))
        counted = n_known.astype(np.int64) + (0 if unknown is None else n_unknown)
        return np.where(n_unknown < 0, -1, counted)

    def vectorise(self, column: Any, options: TextOptions) -> Vectors:
        """Vectorise as ``text.Lookup.vectorise`` does."""
        return _rows(column, options, self.positions, learn=False).vectors(None, self.vocabulary)
