"""What several event models draw alike: how long a row of counts is, and texts of words.

How long a text is naive Bayes does not say: it compares classes given the words that are there. A text drawn is as
long as those of its class were on average, give or take what Poisson gives or takes. Its words then come up each at a
rate of their own, independent of each other, so that any of them may be held fixed without a thought for the rest.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.events.inputs import Floats

__all__ = ["LARGEST", "counted", "finite", "flipped_texts", "mean_length", "rolled_texts", "shortest"]

# Values are drawn no larger than this, which leaves room to add them up.
LARGEST = 1e300
# NumPy draws no Poisson numbers beyond what 64 bits hold.
_LARGEST_RATE = 1e18
# Words in more texts than this are tried text by text; rarer ones are thrown into texts.
_COMMON = 0.5


def mean_length(totals: Floats, n: Floats) -> Floats:  # (C,)
    """How long a row is on average in each class; where a class has none, as over all classes.

    Examples
    --------
    >>> mean_length(np.array([6.0, 0.0]), np.array([2.0, 0.0]))
    array([3., 3.])
    """
    overall = totals.sum() / n.sum() if n.sum() > 0 else 0.0
    return np.asarray(np.divide(totals, n, out=np.full(len(n), overall), where=n > 0))


def counted(rates: Floats, rng: np.random.Generator, size: int | None = None) -> npt.NDArray[np.int64]:
    """Counts at the given rates, (F,) for each of `size` rows or (size, F)."""
    shape = rates.shape if size is None else (size, *rates.shape)
    return np.asarray(rng.poisson(np.minimum(rates, _LARGEST_RATE), shape), np.int64)


def finite(values: Floats) -> Floats:
    """Values that are not beyond what can be added up: a heavy tail may reach there, and no column holds infinity."""
    return np.asarray(np.clip(values, -LARGEST, LARGEST))


def rolled_texts(
    words: pa.Array, shares: Floats, length: float, size: int, rng: np.random.Generator, between: str = " "
) -> pa.Array:
    """Texts whose words are rolls of a die: as many as Poisson says, each by its share.

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
    """Texts that have each word or not, by a coin of its own; their order, which no bag knows, is by chance.

    Examples
    --------
    >>> flipped_texts(pa.array(["never", "ever"]), np.array([0.0, 1.0]), 2, np.random.default_rng(0)).to_pylist()
    ['ever', 'ever']
    """
    common = np.flatnonzero(p > _COMMON)
    which, texts = np.nonzero(rng.random((len(common), size)) < p[common, None])
    word, text = _thrown(np.where(p > _COMMON, 0.0, p), size, rng)
    word, text = np.concatenate([common[which], word]), np.concatenate([texts, text])
    order = rng.permutation(len(text))
    order = order[np.argsort(text[order], kind="stable")]
    return _texts(words, np.bincount(text, minlength=size), word[order], between)


def shortest(tokens: pa.Array, ngrams: tuple[int, int], *, words: bool) -> npt.NDArray[np.bool_]:  # (V,)
    """Of runs of words, or of characters, those that longer ones are made of.

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


def _thrown(
    p: Floats, size: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:  # words and texts, an entry for each word of each text
    """Which of `size` texts have which word, at the cost of what is there and not of all that might be.

    Each word is thrown into texts at random, −log(1 − p) times per text on average: how often a text is hit is then
    Poisson distributed, text by text, and that it is hit at all has probability p.
    """
    times = rng.poisson(-np.log1p(-p) * size)
    word = np.repeat(np.arange(len(p)), times)
    cells = np.unique(word * size + rng.integers(size, size=len(word))) if size else word
    return cells // max(size, 1), cells % max(size, 1)


def _texts(words: pa.Array, lengths: npt.NDArray[np.int64], picked: npt.NDArray[np.int64], between: str) -> pa.Array:
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
    chosen = words.cast(pa.string()).take(pa.array(picked, pa.int64()))
    return pc.binary_join(pa.LargeListArray.from_arrays(offsets, chosen), between)
