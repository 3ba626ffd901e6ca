"""Tokens made by a function that the user gives: the slow door, for what no pattern of ours can find.

The text is lowered and stripped of accents as the options say, then handed to the function; stop words and n-grams are
made of what it returns. ``text_reference`` has the same in fewer words.
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

# A function in Python gains nothing from threads, and may not be made for being called by two at a time.
ONE_AT_A_TIME = threading.Lock()

SparsityPattern = dict[str, int]


def words_of(text: str, options: TextOptions, row: int) -> list[str]:
    """What the function makes of a text, checked to be texts."""
    assert options.tokenizer is not None
    made = options.tokenizer(normalise(text, options))
    if isinstance(made, str | bytes) or not hasattr(made, "__iter__"):
        raise BadTokens(row, made)
    words = list(made)
    for word in words:
        if not isinstance(word, str) or not (word.isascii() or _is_unicode(word)):
            raise BadTokens(row, word)
    return words


def _is_unicode(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:  # half a character
        return False
    return True


def tokens_of(text: str, options: TextOptions, row: int) -> list[str]:
    """The words that are no stop words, and their n-grams."""
    words = words_of(text, options, row)
    if options.stop_words:
        words = [word for word in words if word not in options.stop_words]
    least, greatest = options.ngram_range
    if greatest == 1:
        return words
    lengths = range(least, min(greatest, len(words)) + 1)
    return [" ".join(words[i : i + n]) for n in lengths for i in range(len(words) - n + 1)]


def bags(column: Any, options: TextOptions) -> Iterator[Counter[str] | None]:
    """The tokens of each document, counted; None for a null document."""
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
    """A sparse matrix as it grows by documents."""

    def __init__(self) -> None:
        self.indptr, self.indices, self.data = array("q", [0]), array("i"), array("q")
        self.unknown, self.strange = array("q"), array("q")  # occurrences, and distinct tokens, outside the vocabulary

    def add(self, bag: Counter[str] | None, places: SparsityPattern, *, learn: bool) -> None:
        """One more document; with `learn`, tokens without a place get the next."""
        unknown = strange = 0
        for token, count in (bag or {}).items():
            place = places.setdefault(token, len(places)) if learn else places.get(token, -1)
            if place < 0:
                unknown, strange = unknown + count, strange + 1
                continue
            self.indices.append(place)
            self.data.append(count)
        self.indptr.append(len(self.indices))
        self.unknown.append(-1 if bag is None else unknown)
        self.strange.append(-1 if bag is None else strange)

    def vectors(self, names: NDArray[np.int32] | None, vocabulary: Any) -> Vectors:
        """The matrix with its columns renamed, and sorted within each row."""
        indptr, data = np.array(self.indptr, np.int64), np.array(self.data, np.int64)
        indices = np.array(self.indices, np.int32)
        indices = indices if names is None else names[indices]
        order = np.lexsort((indices, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))))
        return Vectors(indptr, indices[order], data[order], vocabulary, np.array(self.unknown, np.int64))


def _rows(column: Any, options: TextOptions, places: SparsityPattern, *, learn: bool) -> Rows:
    rows = Rows()
    with ONE_AT_A_TIME:
        for bag in bags(column, options):
            rows.add(bag, places, learn=learn)
    return rows


def learn_vectors(column: Any, options: TextOptions) -> Vectors:
    """As ``text.vectorise`` without a vocabulary."""
    places: SparsityPattern = {}
    rows = _rows(column, options, places, learn=True)
    tokens = sorted(places)
    names = np.empty(len(tokens), np.int32)
    names[[places[token] for token in tokens]] = np.arange(len(tokens))
    return rows.vectors(names, pa.array(tokens, pa.string()))


def count_text(column: Any, classes: NDArray[np.int32], n_classes: int, options: TextOptions) -> TextCounts:
    """As ``text.count_text``."""
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


class GivenLookup:
    """As the compiled lookup: a vocabulary, found in what the function makes of texts."""

    def __init__(self, vocabulary: Any) -> None:
        self.vocabulary = vocabulary
        self.places: SparsityPattern = {token: v for v, token in enumerate(vocabulary.to_pylist())}
        if len(self.places) < len(vocabulary):
            raise ValueError("vocabulary: wanted distinct tokens, got one twice")

    def score(
        self, column: Any, options: TextOptions, table: Floats, out: Floats, unknown: Floats | None, distinct: bool
    ) -> NDArray[np.int64]:
        """As ``text.Lookup.score``."""
        rows = _rows(column, options, self.places, learn=False)
        found = rows.vectors(None, self.vocabulary)
        data = np.ones_like(found.data) if distinct else found.data
        strange = np.array(rows.strange if distinct else rows.unknown, np.int64)
        score_sparse(found.indptr, found.indices, data, table, out)
        if unknown is not None:
            some = strange > 0
            out[some] += strange[some, None] * unknown
        known = np.bincount(np.repeat(np.arange(len(strange)), np.diff(found.indptr)), data, len(strange))
        heard = known.astype(np.int64) + (0 if unknown is None else strange)
        return np.where(strange < 0, -1, heard)

    def vectorise(self, column: Any, options: TextOptions) -> Vectors:
        """As ``text.Lookup.vectorise``."""
        return _rows(column, options, self.places, learn=False).vectors(None, self.vocabulary)
