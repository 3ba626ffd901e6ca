"""Text: a column of prose, as a bag of its words.

Remembered: how often each token occurs in each class, and in how many documents; the vocabulary is whatever was seen.
Believed, by choice of `bag`: word counts (multinomial), word presence (bernoulli), what all other classes say
(complement), or word counts that count a word once per document (binary). Pruning by document frequency is a view
taken when belief is made: what is remembered stays exact, and another view needs no second look at the data.

Notation: V tokens of a column, α the pseudo-count of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.event import ClassCodes, Counted, Event, LeftOut, Weights
from tallybayes.events.families.dirichlet import log_share
from tallybayes.events.families.empirical_bayes import empirical_bayes_alpha
from tallybayes.events.families.sampling import flipped_texts, mean_length, rolled_texts, shortest
from tallybayes.events.families.variance import minus_doubt
from tallybayes.events.inputs import Floats, Sparse, Texts
from tallybayes.events.likelihood import Drawn, EstimateOptions, Profile, weigh
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.events.text.column import Column, columns_of
from tallybayes.events.text.counting import count_column
from tallybayes.events.text.leave_one_out import Entries, OwnCounts, outside_scores, presence_scores
from tallybayes.events.text.variance import WordsDoubt
from tallybayes.events.text.vocabulary import Words, log_shares
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact
from tallybayes.kernels.text import BadText, BadTokens, Lookup, TextOptions, Tokenizer, vectorise

__all__ = ["Bag", "Text", "name_of"]

Bag = Literal["multinomial", "bernoulli", "complement", "binary"]
_BAGS: tuple[Bag, ...] = ("multinomial", "bernoulli", "complement", "binary")
_LEAST_ALPHA = 1e-10


@dataclass(frozen=True)
class Text(Event):
    """A bag of the words of a text, in each class with probabilities of its own.

    Parameters
    ----------
    bag : {"multinomial", "bernoulli", "complement", "binary"}
        Whether a word counts as often as it occurs, by being there or not, by how the other classes use it, or once
        per document.
    ngrams : tuple of int
        The shortest and the longest run of words (or characters) that is a token.
    analyzer : {"word", "char", "char_wb"}
        Tokens are words, runs of characters, or runs of characters within words.
    lowercase : bool
        Whether "The" is "the".
    strip_accents : {None, "unicode", "ascii"}
        Whether "é" is "e".
    stop_words : tuple of str
        Words to leave out; none by default.
    min_df, max_df : int or float
        Tokens in fewer or more documents than this (a number, or a share of all) are not believed in.
    max_features : int, optional
        At most so many tokens are believed in, the most frequent.
    unknown : {"skip", "smooth"}
        Whether a token that is not believed in says nothing, or is one more token with a count of zero.
    tokenizer : callable, optional
        What makes words of a text, instead of the pattern: given the text (lowered and stripped as said above), it
        returns them in a list. Written down, as in a model file, only its name is left: a file holds no code.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit(["cheap pills", "cheap cheap watches", "lunch today"], ["spam", "spam", "ham"])
    >>> model.predict(["cheap lunch, cheap watches"]).tolist()
    ['spam']
    >>> model.table("text").rows[:2]
    ('cheap', 'lunch')
    """

    bag: Bag = "multinomial"
    ngrams: tuple[int, int] = (1, 1)
    analyzer: Literal["word", "char", "char_wb"] = "word"
    lowercase: bool = True
    strip_accents: Literal["unicode", "ascii"] | None = None
    stop_words: tuple[str, ...] = ()
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    unknown: Literal["skip", "smooth"] = "skip"
    tokenizer: Tokenizer | str | None = field(default=None, hash=False)

    name: ClassVar[str] = "text"
    input: ClassVar[Any] = "text"
    domain: ClassVar[str] = "text"
    sums: ClassVar[dict[str, Sum]] = {
        "tokens": Sum("value", sparse=True),
        "documents": Sum("value", sparse=True),
        "missing": Sum("column"),
    }

    def __post_init__(self) -> None:
        if self.bag not in _BAGS:
            raise BadOption(wanted("text bag", f"one of {', '.join(_BAGS)}", repr(self.bag)))
        if self.unknown not in ("skip", "smooth"):
            raise BadOption(wanted("text unknown", "'skip' or 'smooth'", repr(self.unknown)))
        if not isinstance(self.ngrams, tuple | list) or len(self.ngrams) != 2:
            raise BadOption(wanted("text ngrams", "two whole numbers, such as (1, 2)", repr(self.ngrams)))
        if not isinstance(self.stop_words, tuple | list | set | frozenset):
            raise BadOption(wanted("text stop_words", "a tuple of words", repr(self.stop_words)))
        object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        object.__setattr__(self, "ngrams", tuple(self.ngrams))
        if self.tokenizer is not None and not callable(self.tokenizer) and not isinstance(self.tokenizer, str):
            raise BadOption(wanted("text tokenizer", "a function", repr(self.tokenizer)))
        try:
            _ = self._options(None if isinstance(self.tokenizer, str) else self.tokenizer)
        except (TypeError, ValueError) as error:
            raise BadOption(wanted("text", "options that make tokens", str(error))) from None

    @classmethod
    def test_variants(cls) -> list[Event]:
        """Each kind of bag, one with pairs of words and a pruned vocabulary, and one whose words a function makes."""
        pairs = cls(ngrams=(1, 2), min_df=2, unknown="smooth")
        return [*(cls(bag=bag) for bag in _BAGS), pairs, cls(bag="binary", unknown="smooth", tokenizer=str.split)]

    def options(self) -> dict[str, Any]:
        """The options that differ from their default; a tokenizer by its name."""
        given = super().options()
        if callable(self.tokenizer):
            given["tokenizer"] = name_of(self.tokenizer)
        return given

    @cached_property
    def tokens(self) -> TextOptions:
        """How text becomes tokens."""
        if isinstance(self.tokenizer, str):
            want, do = f"the function {self.tokenizer!r} itself", "Pass it to tb.load, or to tb.fit: tokenizer=..."
            raise BadOption(wanted("text tokenizer", want, "its name alone, since a file holds no code", do))
        return self._options(self.tokenizer)

    def _options(self, tokenizer: Tokenizer | None) -> TextOptions:
        return TextOptions(
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            analyzer=self.analyzer,
            ngram_range=self.ngrams,
            stop_words=self.stop_words,
            tokenizer=tokenizer,
        )

    def count(self, data: Texts, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Occurrences and document frequencies of every token, and the weight of missing texts."""
        found = []
        for f, column in enumerate(data.columns):
            with _refused_of(f):
                found.append(count_column(column, classes, n_classes, weights, self.tokens))
        absent = tuple(column.is_null().to_numpy(zero_copy_only=False).astype(np.float64) for column in data.columns)
        missing = kernels.power_sums(absent, classes, n_classes, order=1, weights=weights).first
        sums = {
            "tokens": SparseExact.side_by_side([one.tokens for one in found]),
            "documents": SparseExact.side_by_side([one.documents for one in found]),
            "missing": Exact.from_limbs(missing),
        }
        return sums, tuple(one.labels for one in found)

    def parameters(self, statistic: Statistic, options: EstimateOptions) -> tuple[Words, ...]:
        """The log-share of each token, smoothed, column by column."""
        pairs = zip(columns_of(statistic), options.alpha, strict=True)
        return tuple(self._words(part, options, alpha) for part, alpha in pairs)

    def _words(
        self, part: Column, options: EstimateOptions, alpha: float, share: Callable[..., Floats] = log_share
    ) -> Words:
        kept = self._view(part)
        if not kept.any() and len(kept):
            got = f"none (min_df={self.min_df}, max_df={self.max_df})"
            raise BadData(wanted("text", "tokens left after pruning", got, "Loosen min_df or max_df"))
        labels = part.labels.take(kept)
        V = int(kept.sum())
        counts = self._counts(part).take(kept, axis=1)
        base, unknown = np.zeros(counts.shape[0]), None
        if self.bag == "bernoulli":
            return self._presence(labels, part, kept, alpha, share)
        sign = 1.0
        if self.bag == "complement":
            counts, sign, alpha = counts.others(), -1.0, max(alpha, _LEAST_ALPHA)
        totals = counts.sum(axis=1).to_float()
        table = sign * log_shares(counts, totals, alpha, max(V, 1))
        if self.unknown == "smooth":
            unknown = sign * log_share(0.0, totals, alpha, V + 1)
        return Words(labels, np.ascontiguousarray(table), base, unknown, self.bag == "binary", self)

    def _presence(
        self, labels: Categories, part: Column, kept: npt.NDArray[np.bool_], alpha: float, share: Callable[..., Floats]
    ) -> Words:
        """Every token absent, and the difference for those present."""
        n = part.present.to_float()
        zeros, ones = (counts.take(kept, axis=1).to_float().T for counts in (part.lacking(), part.documents))
        log_zero = share(zeros, n, alpha, 2.0)
        log_one = share(ones, n, alpha, 2.0)
        needed = np.ascontiguousarray(
            np.isneginf(log_zero)
        )  # without smoothing: every text of the class has it, so one without is impossible
        log_zero[needed] = 0.0
        table = np.ascontiguousarray(log_one - log_zero)
        return Words(labels, table, log_zero.sum(axis=0), None, True, self, needed if needed.any() else None)

    def _view(self, part: Column) -> npt.NDArray[np.bool_]:
        """The tokens believed in."""
        kept = self._kept(part.documents.sum(axis=0).to_float(), float(part.present.sum().to_float()))
        return self._most_frequent(kept, part.tokens)

    def _kept(self, documents: Floats, n: float) -> npt.NDArray[np.bool_]:
        """The tokens believed in, by the documents that have them and the number of all documents."""
        least = self.min_df * n if isinstance(self.min_df, float) else self.min_df
        most = self.max_df * n if isinstance(self.max_df, float) else self.max_df
        # A document may weigh less than 1: a token that was seen at all is in one document.
        return np.asarray((documents > 0) & ((documents >= least) | (least <= 1)) & (documents <= most))

    def _most_frequent(self, kept: npt.NDArray[np.bool_], tokens: Exact) -> npt.NDArray[np.bool_]:
        if self.max_features is None or kept.sum() <= self.max_features:
            return kept
        total = np.where(kept, tokens.sum(axis=0).to_float(), -1.0)
        best = np.zeros_like(kept)
        best[np.argsort(-total, kind="stable")[: self.max_features]] = True
        return best

    def n_parameters(self, statistic: Statistic, parameters: tuple[Words, ...]) -> int:
        """The words believed in: each has its own probability of being there, or all share one die."""
        shared = 0 if self.bag == "bernoulli" else 1
        return sum(max(len(words.vocabulary) - shared, 0) for words in parameters)

    def contrast(self, parameters: tuple[Words, ...]) -> tuple[Words, ...]:
        """Each token's log-shares less the largest."""
        return tuple(words.contrast() for words in parameters)

    def score(self, parameters: tuple[Words, ...], data: Texts, out: Floats) -> Floats:
        """Look up each token's log-probability, straight from the text; how many tokens each has."""
        sizes = np.zeros(len(data))
        for f, (words, column) in enumerate(zip(parameters, data.columns, strict=True)):
            with _refused_of(f):
                length = words.lookup.score(column, words.table, out, unknown=words.unknown, distinct=words.distinct)
            sizes += np.maximum(length, 0)
            here = ~column.is_null().to_numpy(zero_copy_only=False)
            if words.base.any():
                out[here] += words.base
            if words.needed is not None:
                hits = np.zeros_like(out)
                words.lookup.score(column, words.needed.astype(np.float64), hits, distinct=True)
                out[here[:, None] & (hits < words.needed.sum(axis=0))] = -np.inf
        return sizes

    def terms(self, parameters: tuple[Words, ...], data: Texts, asked: Floats, out: Floats) -> None:
        """What each column's text says as a whole; `said` tells its tokens apart."""
        for f, (words, column) in enumerate(zip(parameters, data.columns, strict=True)):
            scores = np.zeros_like(asked)
            self.score((words,), Texts((column,)), scores)
            out[:, f] += weigh(scores, asked)

    def of_cell(self, parameters: tuple[Words, ...], f: int, value: Any) -> tuple[Floats, float]:
        """Return the log-probability of one text of column f under each class, and how many tokens it has."""
        scores = np.zeros((1, len(parameters[f].base)))
        lengths = self.score((parameters[f],), Texts((pa.array([value], pa.string()),)), scores)
        return scores[0], float(lengths[0])

    def profile(self, parameters: tuple[Words, ...], f: int, at: Sequence[Any] | None = None) -> Profile:
        """What each token adds to the score of a text that has it."""
        words = parameters[f]
        if at is None:
            return Profile("words", words.vocabulary.values, words.table, words.base)
        found = words.vocabulary.find(pa.array(at, pa.string()))
        nothing = np.zeros(words.table.shape[1]) if words.unknown is None else words.unknown
        said = np.tile(nothing, (len(found), 1))
        said[found >= 0] = words.table[found[found >= 0]]
        return Profile("words", tuple(at), said, words.base)

    def leave_one_out(
        self,
        statistic: Statistic,
        options: EstimateOptions,
        data: Texts,
        classes: ClassCodes,
        weights: Weights,
        out: Floats,
    ) -> None:
        """As `score`, without the text's own tokens in its class, and in the vocabulary where only it had them."""
        self.without_rows(statistic, data, classes, weights).add(options, out)

    def without_rows(self, statistic: Statistic, data: Texts, classes: ClassCodes, weights: Weights) -> LeftOut:
        """The texts' tokens found once, whatever smoothings are tried."""
        parts: list[tuple[int, npt.NDArray[np.intp], Callable[[float], Floats]]] = []
        sizes = np.zeros(len(data))
        for f, (part, column) in enumerate(zip(columns_of(statistic), data.columns, strict=True)):
            here = np.flatnonzero(~column.is_null().to_numpy(zero_copy_only=False))
            weight = np.ones(len(here)) if weights is None else weights[here]
            lookup = Lookup(part.labels.array.cast(pa.string()), self.tokens)
            for one in np.unique(weight):
                rows = here[weight == one]
                texts = vectorise(column.take(pa.array(rows)), self.tokens, lookup)
                sparse = Sparse(texts.indptr, texts.indices, texts.data, len(part.labels))
                entries = Entries(part, sparse, classes[rows], float(one), self._kept)
                sizes[rows] += entries.heard(once=self.bag in ("binary", "bernoulli"), smooth=self.unknown == "smooth")
                parts.append((f, rows, self._without(entries, part)))

        def add(options: EstimateOptions, out: Floats) -> None:
            for f, rows, scores in parts:
                out[rows] += scores(float(options.alpha[f]))

        return LeftOut(add, lambda: sizes)

    def _without(self, entries: Entries, part: Column) -> Callable[[float], Floats]:
        """From a smoothing to the scores of texts that were never read."""
        smooth = self.unknown == "smooth"
        if self.bag == "bernoulli":
            return lambda alpha: presence_scores(entries, part, alpha)
        if self.bag == "complement":
            outside = part.tokens.others()
            return lambda alpha: -outside_scores(entries, outside, max(alpha, _LEAST_ALPHA), smooth=smooth)
        once = self.bag == "binary"
        return OwnCounts(entries, part.documents if once else part.tokens, once=once, smooth=smooth).scores

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats:
        """The smoothing under which each column's counts of tokens are most probable."""
        return np.array([self._evident(part) for part in columns_of(statistic)])

    def _evident(self, part: Column) -> float:
        kept = self._view(part)
        if self.bag != "bernoulli":
            counts = part.documents if self.bag == "binary" else part.tokens
            return empirical_bayes_alpha(counts.take(kept, axis=1).to_float())
        ones, n = part.documents.take(kept, axis=1).to_float(), part.present.to_float()
        return empirical_bayes_alpha(np.stack([ones, n[:, None] - ones], axis=-1).reshape(-1, 2))

    def variance(self, statistic: Statistic, options: EstimateOptions) -> tuple[Words, ...] | tuple[WordsDoubt, ...]:
        """What is not known of the tokens' shares, column by column."""
        pairs = list(zip(columns_of(statistic), options.alpha, strict=True))
        if self.bag == "bernoulli":
            return tuple(self._words(part, options, alpha, minus_doubt) for part, alpha in pairs)
        return tuple(self._words_doubt(self._words(part, options, alpha), part, alpha) for part, alpha in pairs)

    def _words_doubt(self, words: Words, part: Column, alpha: float) -> WordsDoubt:
        counts = self._counts(part).take(part.labels.find(words.vocabulary.array), axis=1)
        if self.bag == "complement":
            counts, alpha = counts.others(), max(alpha, _LEAST_ALPHA)
        return WordsDoubt.of(words.lookup, counts, alpha, distinct=words.distinct, smooth=self.unknown == "smooth")

    def add_variance(self, doubts: Any, data: Texts, out: Floats) -> None:
        """Add the variance of what the tokens of each text say."""
        if self.bag == "bernoulli":
            super().add_variance(doubts, data, out)
            return
        for f, (words, column) in enumerate(zip(doubts, data.columns, strict=True)):
            with _refused_of(f):
                words.add(column, out)

    def _counts(self, part: Column) -> SparseExact:
        """What the shares are shares of: occurrences, or documents."""
        return part.tokens if self.bag in ("multinomial", "complement") else part.documents

    def sample(
        self, statistic: Statistic, parameters: tuple[Words, ...], c: int, size: int, rng: np.random.Generator
    ) -> Drawn:
        """Texts of words drawn by their probabilities, as long as those of the class were on average.

        Each word or not, by a coin of its own (bernoulli, binary), or one roll of a die after another; for complement,
        which says nothing of what is inside a class, by the shares counted there. Of runs of words or characters only
        the shortest are drawn, side by side: longer ones come about as they may.
        """
        pairs = zip(columns_of(statistic), parameters, strict=True)
        return [self._drawn(part, words, c, size, rng) for part, words in pairs]

    def _drawn(self, part: Column, words: Words, c: int, size: int, rng: np.random.Generator) -> pa.Array:
        vocabulary, between = words.vocabulary.array.cast(pa.string()), " " if self.analyzer == "word" else ""
        short = shortest(vocabulary, self.ngrams, words=self.analyzer == "word")
        drawable = vocabulary.filter(pa.array(short))
        if self.bag == "bernoulli":
            return flipped_texts(drawable, words.present[short, c], size, rng, between)
        kept = part.labels.find(words.vocabulary.array)
        counts = self._counts(part).take(kept, axis=1).to_float()  # (C, V)
        shares = counts[c] if self.bag == "complement" else np.exp(words.table[:, c])
        # A run of n words takes the place of n of them.
        length = mean_length(counts[:, short].sum(axis=1), part.present.to_float())[c] / self.ngrams[0]
        if self.bag == "binary":
            whole = max(float(shares[short].sum()), 1e-300)
            return flipped_texts(drawable, np.minimum(length * shares[short] / whole, 1.0), size, rng, between)
        return rolled_texts(drawable, shares[short], length, size, rng, between)

    def table(
        self, statistic: Statistic, parameters: tuple[Words, ...], f: int
    ) -> tuple[tuple[Any, ...], Floats | None, Floats]:
        """A row per token: occurrences (or documents) beside probabilities."""
        part, words = list(columns_of(statistic))[f], parameters[f]
        kept = part.labels.find(words.vocabulary.array)
        counts = self._counts(part).take(kept, axis=1)
        if self.bag == "bernoulli":
            values = words.present
        else:
            values = np.exp(words.table if self.bag != "complement" else -words.table)
        return words.vocabulary.values, counts.to_float().T, values


@contextmanager
def _refused_of(f: int) -> Iterator[None]:
    """Tell of what the kernels refuse in which column it is."""
    try:
        yield
    except (BadText, BadTokens) as bad:
        bad.column = f
        raise


def name_of(tokenizer: Tokenizer) -> str:
    """What a function is called, for those who read of it.

    Examples
    --------
    >>> name_of(str.split)
    'str.split'
    """
    return str(getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__))
