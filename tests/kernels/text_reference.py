"""The text kernels in plain Python, with ``re`` and ``Counter``: slow and obvious, their specification.

``tokens`` defines what a token is. Everything else is counting.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tallybayes.kernels.text_types import BadText, TextCounts, TextOptions, Vectors
from tallybayes.kernels.types import Floats

DEFAULT = TextOptions()


def tokens(text: str, options: TextOptions = DEFAULT) -> list[str]:
    """Return a document's tokens in the order of scikit-learn's ``CountVectorizer``."""
    if options.lowercase:
        text = text.lower()
    if options.strip_accents:
        text = strip_accents(text, to_ascii=options.strip_accents == "ascii")
    least, greatest = options.ngram_range
    if options.analyzer == "char":
        text = re.sub(r"\s\s+", " ", text)
        return [gram for n in range(least, min(greatest, len(text)) + 1) for gram in ngrams(text, n)]
    if options.analyzer == "char_wb":
        return [gram for word in text.split() for gram in padded_ngrams(f" {word} ", least, greatest)]
    found = options.tokenizer(text) if options.tokenizer else re.findall(r"(?u)\b\w\w+\b", text)
    words = [word for word in found if word not in options.stop_words]
    lengths = range(least, min(greatest, len(words)) + 1)
    return [" ".join(words[i : i + n]) for n in lengths for i in range(len(words) - n + 1)]


def strip_accents(text: str, *, to_ascii: bool) -> str:
    """Decompose the text and drop combining marks, or all characters that are not ASCII."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text)
    if to_ascii:
        return text.encode("ascii", "ignore").decode("ascii")
    return "".join(c for c in text if not unicodedata.combining(c))


def ngrams(text: str, n: int) -> list[str]:
    """Return every substring of length n."""
    return [text[i : i + n] for i in range(len(text) - n + 1)]


def padded_ngrams(word: str, least: int, greatest: int) -> list[str]:
    """Return the substrings of each length; last, and once, the whole word if it is no longer than n."""
    out: list[str] = []
    for n in range(least, greatest + 1):
        if n >= len(word):
            return [*out, word]
        out += ngrams(word, n)
    return out


def read(column: Any) -> list[str | None]:
    """Return the documents of a column; None for null."""
    out: list[str | None] = []
    for row, scalar in enumerate(column):
        try:
            out.append(str(scalar.as_buffer().to_pybytes(), "utf-8") if scalar.is_valid else None)
        except UnicodeDecodeError as error:
            raise BadText(row, error.start) from None
    return out


def bags(column: Any, options: TextOptions) -> list[Counter[str]]:
    """Count the tokens of each document."""
    return [Counter(tokens(text, options) if text is not None else []) for text in read(column)]


def count_text(column: Any, classes: NDArray[np.int32], n_classes: int, options: TextOptions = DEFAULT) -> TextCounts:
    """Count as ``text.count_text`` does."""
    documents = bags(column, options)
    places = {token: v for v, token in enumerate(sorted(set().union(*documents)))}
    occurrences, holding = np.zeros((2, len(places), n_classes), np.int64)
    missing = np.zeros(n_classes, np.int64)
    for c, bag, scalar in zip(classes, documents, column, strict=True):
        missing[c] += not scalar.is_valid
        for token, count in bag.items():
            occurrences[places[token], c] += count
            holding[places[token], c] += 1
    present = holding > 0
    starts, entry_classes = np.cumsum([0, *present.sum(axis=1)], dtype=np.int64), present.nonzero()[1].astype(np.int32)
    vocabulary = pa.array(list(places), pa.string())
    return TextCounts(vocabulary, starts, entry_classes, occurrences[present], holding[present], missing)


class Lookup:
    """A vocabulary; twin of ``text.Lookup``."""

    def __init__(self, vocabulary: Any, options: TextOptions = DEFAULT) -> None:
        self.options = options
        self.vocabulary = vocabulary
        self.places = {token: v for v, token in enumerate(vocabulary.to_pylist())}

    def score(
        self, column: Any, table: Floats, out: Floats, *, unknown: Floats | None = None, distinct: bool = False
    ) -> NDArray[np.int64]:
        """Score as ``text.Lookup.score`` does."""
        lengths = np.zeros(len(column), np.int64)
        for i, (bag, scalar) in enumerate(zip(bags(column, self.options), column, strict=True)):
            for token, count in bag.items():
                times = 1 if distinct else count
                if token in self.places:
                    out[i] += times * table[self.places[token]]
                elif unknown is not None:
                    out[i] += times * unknown
                else:
                    continue
                lengths[i] += times
            if not scalar.is_valid:
                lengths[i] = -1
        return lengths


def vectorise(column: Any, options: TextOptions = DEFAULT, vocabulary: Lookup | None = None) -> Vectors:
    """Vectorise as ``text.vectorise`` does."""
    documents = bags(column, options)
    if vocabulary is None:
        vocabulary = Lookup(pa.array(sorted(set().union(*documents)), pa.string()), options)
    indptr, indices, data, unknown = [0], [], [], []
    for bag, scalar in zip(documents, column, strict=True):
        row = sorted((vocabulary.places[token], count) for token, count in bag.items() if token in vocabulary.places)
        indices += [v for v, _ in row]
        data += [count for _, count in row]
        indptr.append(len(indices))
        unknown.append(bag.total() - sum(count for _, count in row) if scalar.is_valid else -1)
    return Vectors(
        np.array(indptr, np.int64),
        np.array(indices, np.int32),
        np.array(data, np.int64),
        vocabulary.vocabulary,
        np.array(unknown, np.int64),
    )


def merge_vocabularies(left: Any, right: Any) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Merge as ``text.merge_vocabularies`` does."""
    union = sorted({*left.to_pylist(), *right.to_pylist()})
    places = {token: v for v, token in enumerate(union)}
    from_left, from_right = ([places[token] for token in side.to_pylist()] for side in (left, right))
    return pa.array(union, pa.string()), np.array(from_left, np.int64), np.array(from_right, np.int64)
