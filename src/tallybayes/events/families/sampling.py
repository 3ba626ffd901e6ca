"""Draws that several event models share: counts, and texts made of words.

Naive Bayes does not model the length of a text. A drawn text has a Poisson length about the mean of its class. Each
word then has its own rate, independent of the others, so that any word can be held fixed without changing the rest.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.events.inputs import Floats

__all__ = ["LARGEST", "counted", "finite", "flipped_texts", "mean_length", "rolled_texts", "shortest"]

# The largest value drawn: it leaves room to add values up.
LARGEST = 1e300
# NumPy cannot draw Poisson numbers that exceed 64 bits.
_LARGEST_RATE = 1e18
# Words in a larger share of the texts are tried text by text; rarer ones are assigned to random texts.
_COMMON = 0.5


def mean_length(totals: Floats, n: Floats) -> Floats:  # (C,)
    """Return the mean length of each class's rows; for a class without rows, that over all classes.

    Examples
    --------
    >>> mean_length(np.array([6.0, 0.0]), np.array([2.0, 0.0]))
    array([3., 3.])
    """
    overall = totals.sum() / n.sum() if n.sum() > 0 else 0.0
    return np.asarray(np.divide(totals, n, out=np.full(len(n), overall), where=n > 0))


def counted(rates: Floats, rng: np.random.Generator, size: int | None = None) -> npt.NDArray[np.int64]:
    """Draw counts at rates (F,) for each of `size` rows, or at rates (size, F)."""
    shape = rates.shape if size is None else (size, *rates.shape)
    return np.asarray(rng.poisson(np.minimum(rates, _LARGEST_RATE), shape), np.int64)


def finite(values: Floats) -> Floats:
    """Clip values to ±1e300: a heavy tail can exceed it, and columns must be finite."""
    return np.asarray(np.clip(values, -LARGEST, LARGEST))


def rolled_texts(
    words: pa.Array, shares: Floats, length: float, size: int, rng: np.random.Generator, between: str = " "
) -> pa.Array:
    """Draw texts of Poisson length whose words are rolls of a die.

    Examples
    --------
    >>> rolled_texts(pa.array(["ha"]), np.ones(1), 3.0, 3, np.random.default_rng(3)).to_pylist()
    ['ha', 'ha ha', 'ha ha']
    """
    if not len(words) or not shares.sum() > 0:
        return _texts(words, np.zeros(size, np.int64), np.zeros(0, np.int64), between)
    lengths = counted(np.full(size, length), rng)
    return _texts(words, lengths, rng.choice(len(words), int(lengths.sum()), p=shares / shares.sum()), between)


def flipped_texts(words: pa.Array, p: Floats, size: int, rng: np.random.Generator, between: str = " ") -> pa.Array:
    """Draw texts that contain each word with its own probability, in random order.

    Examples
    --------
    >>> flipped_texts(pa.array(["never", "ever"]), np.array([0.0, 1.0]), 2, np.random.default_rng(0)).to_pylist()
    ['ever', 'ever']
    """
    common = np.flatnonzero(p > _COMMON)
    which, texts = np.nonzero(rng.random((len(common), size)) < p[common, None])
    word, text = _scatter(np.where(p > _COMMON, 0.0, p), size, rng)
    word, text = np.concatenate([common[which], word]), np.concatenate([texts, text])
    order = rng.permutation(len(text))
    order = order[np.argsort(text[order], kind="stable")]
    return _texts(words, np.bincount(text, minlength=size), word[order], between)


def shortest(tokens: pa.Array, ngrams: tuple[int, int], *, words: bool) -> npt.NDArray[np.bool_]:  # (V,)
    """Return a mask of the shortest n-grams of words or characters: longer ones consist of them.

    Examples
    --------
    >>> shortest(pa.array(["cheap", "cheap pills", "pills"]), (1, 2), words=True).tolist()
    [True, False, True]
    """
    if ngrams[0] == ngrams[1]:
        return np.ones(len(tokens), bool)
    sizes = pc.count_substring(tokens, " ") if words else pc.utf8_length(tokens)
    found = np.asarray(sizes.to_numpy(zero_copy_only=False))
    return np.asarray(found == found.min(initial=np.iinfo(np.int32).max))


def _scatter(
    p: Floats, size: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:  # words and texts, an entry for each word of each text
    """Draw which of `size` texts have which word, in time proportional to the words drawn.

    Each word is assigned to random texts, −log(1 − p) times per text on average: the number of times that a text gets
    it is Poisson distributed, and it is above zero with probability p.
    """
    times = rng.poisson(-np.log1p(-p) * size)
    word = np.repeat(np.arange(len(p)), times)
    cells = np.unique(word * size + rng.integers(size, size=len(word))) if size else word
    return cells // max(size, 1), cells % max(size, 1)


def _texts(words: pa.Array, lengths: npt.NDArray[np.int64], picked: npt.NDArray[np.int64], between: str) -> pa.Array:
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
    tokens = words.cast(pa.string()).take(pa.array(picked, pa.int64()))
    return pc.binary_join(pa.LargeListArray.from_arrays(offsets, tokens), between)
