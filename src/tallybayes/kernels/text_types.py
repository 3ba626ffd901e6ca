"""Types of the text kernels: options, counts, vectors and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tokenizer: TypeAlias = Callable[[str], Iterable[str]]

MOST_WORDS = 16  # words in an n-gram; each length needs its own table


@dataclass(frozen=True)
class TextOptions:
    r"""Options of tokenization, with the names and defaults of scikit-learn's ``CountVectorizer``.

    Examples
    --------
    >>> TextOptions(ngram_range=(1, 2)).analyzer
    'word'
    """

    lowercase: bool = True  # convert the text with ``str.lower()`` first
    # then decompose characters and drop combining marks ("unicode") or all characters that are not ASCII ("ascii")
    strip_accents: Literal["unicode", "ascii"] | None = None
    # words as ``re.findall(r"(?u)\b\w\w+\b", text)`` finds them; n-grams of characters; or n-grams of characters within
    # words, each padded with a space on both sides
    analyzer: Literal["word", "char", "char_wb"] = "word"
    # the least and the greatest number of words (at most 16) or characters in a token; words are joined by a space
    ngram_range: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] = ()  # words to leave out before n-grams are made. Not used for characters.
    # function that splits a text (lowered and stripped as above) into words. It is slower than the default pattern.
    tokenizer: Tokenizer | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.lowercase, bool):
            raise TypeError(f"lowercase: wanted True or False, got {self.lowercase!r}")
        if self.strip_accents not in (None, "unicode", "ascii"):
            raise ValueError(f"strip_accents: wanted None, 'unicode' or 'ascii', got {self.strip_accents!r}")
        if self.analyzer not in ("word", "char", "char_wb"):
            raise ValueError(f"analyzer: wanted 'word', 'char' or 'char_wb', got {self.analyzer!r}")
        if not isinstance(self.stop_words, tuple) or not all(isinstance(word, str) for word in self.stop_words):
            raise TypeError(f"stop_words: wanted a tuple of str, got {self.stop_words!r}")
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise TypeError(f"tokenizer: wanted a function, got {self.tokenizer!r}")
        if self.tokenizer is not None and self.analyzer != "word":
            raise ValueError(f"tokenizer: wanted none for characters, got one for analyzer {self.analyzer!r}")
        self._check_ngram_range()

    def _check_ngram_range(self) -> None:
        lengths: Any = self.ngram_range
        if not (isinstance(lengths, tuple) and len(lengths) == 2 and all(type(n) is int for n in lengths)):
            raise TypeError(f"ngram_range: wanted two whole numbers, got {lengths!r}")
        if not 1 <= lengths[0] <= lengths[1]:
            raise ValueError(f"ngram_range: wanted 1 <= least <= greatest, got {lengths!r}")
        if self.analyzer == "word" and lengths[1] > MOST_WORDS:
            raise ValueError(f"ngram_range: wanted at most {MOST_WORDS} words, got {lengths!r}")


class TextCounts(NamedTuple):
    """Token counts, with one entry per token and class it occurs in."""

    vocabulary: Any  # StringArray (V,), sorted by code point; a LargeStringArray if it takes more than 2 GiB
    starts: NDArray[np.int64]  # (V + 1,): where the entries of each token begin
    classes: NDArray[np.int32]  # (entries,): the class, increasing within a token
    tokens: NDArray[np.int64]  # (entries,): occurrences of the token in the class
    documents: NDArray[np.int64]  # (entries,): documents of the class that have the token
    missing: NDArray[np.int64]  # (C,): null documents


class Vectors(NamedTuple):
    """Documents as a compressed sparse row matrix of token counts."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (entries,): positions in the vocabulary, increasing within each row
    data: NDArray[np.int64]  # (entries,)
    vocabulary: Any  # StringArray (V,)
    unknown: NDArray[np.int64]  # (n,): tokens outside a given vocabulary; -1 for a null document


class BadText(ValueError):
    """A document that is not UTF-8: its row, and the first bad byte in it."""

    column = 0  # set by callers that read several columns

    def __init__(self, row: int, byte: int) -> None:
        super().__init__(f"row {row}: wanted UTF-8 text, got other bytes (first at byte {byte})")
        self.row, self.byte = row, byte

    def __reduce__(self) -> tuple[type[BadText], tuple[int, int]]:
        return type(self), (self.row, self.byte)


class BadTokens(TypeError):
    """A tokenizer's result that is not a list of strings: its row, and the result."""

    column = 0

    def __init__(self, row: int, got: Any) -> None:
        super().__init__(f"row {row}: wanted a list of texts from the tokenizer, got {got!r}")
        self.row, self.got = row, got

    def __reduce__(self) -> tuple[type[BadTokens], tuple[int, Any]]:
        return type(self), (self.row, self.got)
