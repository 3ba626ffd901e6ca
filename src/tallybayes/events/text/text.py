"""Text: a column of prose, as a bag of its words.

Counted: how often each token occurs in each class, and in how many documents; the vocabulary is every token seen.
Estimated, by choice of `bag`: word counts (multinomial), word presence (bernoulli), word counts of all other classes
(complement), or word counts that count a word once per document (binary). Pruning by document frequency is a view
taken at estimation: the counts stay exact, and another view needs no second pass over the data.

Notation: V tokens of a column, α the pseudo-count of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.event import AddSlice, ClassCodes, Counted, Event, InputKind, LeftOut, OverSlices, Weights
from tallybayes.events.families.bag_counts import OutsideCounts, OwnCounts
from tallybayes.events.families.bag_presence import Presence
from tallybayes.events.families.bag_rows import BagRows, row_blocks
from tallybayes.events.families.dirichlet import LEAST_ALPHA, log_share
from tallybayes.events.families.empirical_bayes import empirical_bayes_alpha
from tallybayes.events.inputs import Floats, Sparse, Texts
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.options import Option, is_number
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.events.text.column import Column, columns_of
from tallybayes.events.text.counting import count_column
from tallybayes.events.text.likelihood import TextLikelihood, refused_of
from tallybayes.events.text.token_cells import orders
from tallybayes.events.text.vocabulary import Words, log_shares, log_shares_outside
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact
from tallybayes.kernels.text import Lookup, TextOptions, Tokenizer, Vectors, vectorise

__all__ = ["Bag", "Text", "name_of"]

Bag = Literal["multinomial", "bernoulli", "complement", "binary", "auto"]
_BAGS: tuple[Bag, ...] = ("multinomial", "bernoulli", "complement", "binary")


@dataclass(frozen=True)
class Text(Event[Texts]):
    """A bag of the words of a text, with their own probabilities in each class.

    Parameters
    ----------
    bag : {"multinomial", "bernoulli", "complement", "binary", "auto"}
        Whether a word counts as often as it occurs, by its presence or absence, by its use in the other classes, or
        once per document. "auto" counts words and pairs, and chooses between "multinomial" and "binary", with and
        without the pairs, by the documents that calibrate the model.
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
        Tokens in fewer or more documents than this (a number, or a share of all) are left out of the vocabulary.
    max_features : int, optional
        The size of the vocabulary at most; the most frequent tokens stay.
    unknown : {"skip", "smooth"}
        Whether a token outside the vocabulary is skipped, or is one more token with a count of zero.
    tokenizer : callable, optional
        A function that replaces the pattern: given a text (lowercased and stripped as above), it returns a list of
        words. A model file stores only its name, since a file holds no code.

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
    tokenizer: Tokenizer | str | None = field(default=None, hash=False, metadata={"by_name": True})

    name: ClassVar[str] = "text"
    input: ClassVar[InputKind] = "text"
    domain: ClassVar[str] = "text"
    sums: ClassVar[dict[str, Sum]] = {
        "tokens": Sum("value", sparse=True),
        "documents": Sum("value", sparse=True),
        "missing": Sum("column"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bag not in (*_BAGS, "auto"):
            raise BadOption(wanted("text bag", f"one of {', '.join(_BAGS)}, auto", repr(self.bag)))
        if self.unknown not in ("skip", "smooth"):
            raise BadOption(wanted("text unknown", "'skip' or 'smooth'", repr(self.unknown)))
        if not isinstance(self.ngrams, tuple) or len(self.ngrams) != 2:
            raise BadOption(wanted("text ngrams", "two whole numbers, such as (1, 2)", repr(self.ngrams)))
        if not isinstance(self.stop_words, tuple) or not all(isinstance(word, str) for word in self.stop_words):
            raise BadOption(wanted("text stop_words", "a tuple of words", repr(self.stop_words)))
        object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        for name in ("min_df", "max_df"):
            if not is_number(getattr(self, name)):
                want = "a number of documents, or a share of them"
                raise BadOption(wanted(f"text {name}", want, repr(getattr(self, name))))
        if self.max_features is not None and (not isinstance(self.max_features, int) or self.max_features < 1):
            raise BadOption(wanted("text max_features", "a whole number above 0, or None", repr(self.max_features)))
        least, most = self.ngrams
        widened = (least, most + 1) if self.bag == "auto" and least == most else (least, most)
        object.__setattr__(self, "ngrams", widened)
        if self.tokenizer is not None and not callable(self.tokenizer) and not isinstance(self.tokenizer, str):
            raise BadOption(wanted("text tokenizer", "a function", repr(self.tokenizer)))
        try:
            _ = self._options(None if isinstance(self.tokenizer, str) else self.tokenizer)
        except (TypeError, ValueError) as error:
            raise BadOption(wanted("text", "options that make tokens", str(error))) from None

    @classmethod
    def test_variants(cls) -> list[Self]:
        """Return each kind of bag, one with a pruned vocabulary of word pairs, and one with a tokenizer."""
        pairs = cls(ngrams=(1, 2), min_df=2, unknown="smooth")
        return [*(cls(bag=bag) for bag in _BAGS), pairs, cls(bag="binary", unknown="smooth", tokenizer=str.split)]

    def views(self) -> tuple[Text, ...]:
        """Return the event models that "auto" chooses from, the first by default; only this one for other bags."""
        if self.bag != "auto":
            return (self,)
        bags: tuple[Bag, ...] = ("multinomial", "binary")
        return tuple(replace(self, bag=bag, ngrams=(self.ngrams[0], most)) for most in self.ngrams for bag in bags)

    def viewed(self, statistic: Statistic, view: Text) -> Statistic:
        """Return the sums that one of `views` would have counted."""
        words, most = self.analyzer == "word", view.ngrams[1] - view.ngrams[0]
        lengths = [orders(labels.array, self.ngrams, words=words) for labels in statistic.labels]
        return statistic.of_values(np.concatenate(lengths) <= most)

    def options(self) -> dict[str, Option]:
        """Return the options that differ from their default; a tokenizer by its name."""
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
        """Count occurrences and document frequencies of every token, and the weight of missing texts."""
        found = []
        for f, column in enumerate(data.columns):
            with refused_of(f):
                found.append(count_column(column, classes, n_classes, weights, self.tokens))
        absent = tuple(column.is_null().to_numpy(zero_copy_only=False).astype(np.float64) for column in data.columns)
        missing = kernels.power_sums(absent, classes, n_classes, order=1, weights=weights).first
        sums = {
            "tokens": SparseExact.side_by_side([one.tokens for one in found]),
            "documents": SparseExact.side_by_side([one.documents for one in found]),
            "missing": Exact.from_limbs(missing),
        }
        return sums, tuple(one.labels for one in found)

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> TextLikelihood:
        """Return the log-share of each token, smoothed, column by column."""
        pairs = zip(columns_of(statistic), options.alpha, strict=True)
        columns = tuple(self._words(part, options, alpha) for part, alpha in pairs)
        return TextLikelihood(statistic, options, self, columns)

    def _words(
        self, part: Column, options: EstimateOptions, alpha: float, share: Callable[..., Floats] = log_share
    ) -> Words:
        kept = self._view(part)
        if not kept.any() and len(kept):
            got = f"none (min_df={self.min_df}, max_df={self.max_df})"
            raise BadData(wanted("text", "tokens left after pruning", got, "Loosen min_df or max_df"))
        labels = part.labels.take(kept)
        V = int(kept.sum())
        if self.bag == "bernoulli":
            return self._presence(labels, part, kept, alpha, share)
        counts = self._counts(part).columns(np.flatnonzero(kept))
        totals, sign = counts.sum(axis=1), 1.0
        if self.bag == "complement":
            totals, sign, alpha = totals.others(), -1.0, max(alpha, LEAST_ALPHA)
        shares = log_shares_outside if self.bag == "complement" else log_shares
        table = sign * shares(counts, totals.to_float(), alpha, max(V, 1))
        unknown = sign * log_share(0.0, totals.to_float(), alpha, V + 1) if self.unknown == "smooth" else None
        return Words(labels, table, np.zeros(len(table.T)), unknown, self.bag == "binary", self)

    def _presence(
        self, labels: Categories, part: Column, kept: npt.NDArray[np.bool_], alpha: float, share: Callable[..., Floats]
    ) -> Words:
        """Return the words of a bernoulli bag: all tokens absent, and the difference for each that is present."""
        n, ones = part.present.to_float(), part.documents.columns(np.flatnonzero(kept))
        rows, columns = ones.places.rows, ones.places.columns()
        log_zero, log_one = (np.tile(share(count, n, alpha, 2.0), (len(labels), 1)) for count in (n, np.zeros_like(n)))
        log_zero[columns, rows] = share((part.present.take(rows) - ones.values).to_float(), n[rows], alpha, 2.0)
        log_one[columns, rows] = share(ones.values.to_float(), n[rows], alpha, 2.0)
        needed = np.ascontiguousarray(
            np.isneginf(log_zero)
        )  # without smoothing: every text of the class has it, so one without is impossible
        log_zero[needed] = 0.0
        table = np.ascontiguousarray(log_one - log_zero)
        return Words(labels, table, log_zero.sum(axis=0), None, True, self, needed if needed.any() else None)

    def _view(self, part: Column) -> npt.NDArray[np.bool_]:
        """Return a mask of the tokens in the vocabulary after pruning."""
        kept = self._kept(part.documents.sum(axis=0).to_float(), float(part.present.sum().to_float()))
        return self._most_frequent(kept, part.tokens)

    def _kept(self, documents: Floats, n: float) -> npt.NDArray[np.bool_]:
        """Return a mask of the tokens within min_df and max_df, given their document counts and all documents."""
        least = self.min_df * n if isinstance(self.min_df, float) else self.min_df
        most = self.max_df * n if isinstance(self.max_df, float) else self.max_df
        # A document may weigh less than 1: a token seen at all is in one document.
        return np.asarray((documents > 0) & ((documents >= least) | (least <= 1)) & (documents <= most))

    def _most_frequent(self, kept: npt.NDArray[np.bool_], tokens: Exact) -> npt.NDArray[np.bool_]:
        if self.max_features is None or kept.sum() <= self.max_features:
            return kept
        total = np.where(kept, tokens.sum(axis=0).to_float(), -1.0)
        best = np.zeros_like(kept)
        best[np.argsort(-total, kind="stable")[: self.max_features]] = True
        return best

    def without_rows(self, statistic: Statistic, data: Texts, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the texts, each to be taken from its class, and from the vocabulary where only it has a token.

        Tokens are found once, however many smoothings are tried.
        """
        parts: list[tuple[int, npt.NDArray[np.intp], OwnCounts | OutsideCounts | Presence]] = []
        sizes = np.zeros(len(data))
        for f, (part, column) in enumerate(zip(columns_of(statistic), data.columns, strict=True)):
            present = np.flatnonzero(~column.is_null().to_numpy(zero_copy_only=False))
            weight = np.ones(len(present)) if weights is None else weights[present]
            lookup = Lookup(part.labels.array.cast(pa.string()), self.tokens)
            for one in np.unique(weight):
                rows = present[weight == one]
                bag = self._bag(vectorise(column.take(pa.array(rows)), self.tokens, lookup), len(part.labels))
                for block, texts in row_blocks(bag, part.tokens.shape[0]):
                    left_out = self._left_out(part, texts, classes[rows[block]], float(one))
                    sizes[rows[block]] += left_out.length + (left_out.strange if self.unknown == "smooth" else 0.0)
                    parts.append((f, rows[block], self._without(left_out, part)))

        def add(options: EstimateOptions, out: Floats) -> None:
            worth = None if options.weights is None else self._worth(statistic, options)
            for f, rows, left_out in parts:
                plain = left_out.scores(float(options.alpha[f]))
                if worth is None or options.weights is None:
                    out[rows] += plain
                else:
                    assert not isinstance(left_out, Presence)  # whose tokens have no weights
                    weighted = left_out.scores(float(options.alpha[f]), worth)
                    out[rows] += options.weights.blend(plain, weighted, sizes[rows])

        alone = parts[0][2] if len(parts) == 1 and len(parts[0][1]) == len(data) else None
        if not isinstance(alone, OwnCounts):
            return LeftOut(add, lambda: sizes)

        def under(options: EstimateOptions, _: OverSlices) -> AddSlice:
            alpha, weights = float(options.alpha[parts[0][0]]), options.weights
            plain = alone.under(alpha)
            weighted = plain if weights is None else alone.under(alpha, self._worth(statistic, options))

            def add_slice(rows: slice, out: Floats) -> None:
                found = plain(rows)
                out += found if weights is None else weights.blend(found, weighted(rows), sizes[rows])

            return add_slice

        return LeftOut(add, lambda: sizes, under=under)

    def _worth(self, statistic: Statistic, options: EstimateOptions) -> Floats:  # (V,)
        """Return the weight of each token of one column; 1 outside of the vocabulary."""
        assert options.weights is not None
        found = self.estimate(statistic, options).weighted(options.weights)
        labels = statistic.labels[0]
        worth = np.ones(len(labels))
        worth[labels.find(found.columns[0].vocabulary.array)] = found.worth
        return worth

    def _bag(self, texts: Vectors, n_tokens: int) -> Sparse:
        """Return the texts as a bag: each token times its occurrences, or once."""
        times = texts.data if self.bag in ("multinomial", "complement") else np.ones(len(texts.data))
        return Sparse(texts.indptr, texts.indices, times, n_tokens)

    def _left_out(self, part: Column, bag: Sparse, own: ClassCodes, weight: float) -> BagRows:
        """Return texts of one weight, with the tokens in the vocabulary without each."""
        documents, weights = part.documents.sum(axis=0), np.full(len(bag), weight)
        others = float(part.present.sum().reshape((1,)).less((np.zeros(1, np.intp),), weights[:1])[0])
        _, token, _ = bag.entries()
        after = self._kept(documents.less((token,), np.full(len(token), weight)), others)
        return BagRows(bag, own, weights, self._kept(documents.to_float(), others), after)

    def _without(self, rows: BagRows, part: Column) -> OwnCounts | OutsideCounts | Presence:
        """Return texts to be scored, under a smoothing and weights of tokens, as if each had never been counted."""
        smooth = self.unknown == "smooth"
        if self.bag == "bernoulli":
            return Presence(rows, part.documents, part.present)
        if self.bag == "complement":
            return OutsideCounts(rows, part.tokens, smooth=smooth)
        return OwnCounts(rows, self._counts(part), smooth=smooth)

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats:
        """Return the smoothing under which each column's counts of tokens are most probable."""
        return np.array([self._evident(part) for part in columns_of(statistic)])

    def _evident(self, part: Column) -> float:
        kept = self._view(part)
        if self.bag != "bernoulli":
            counts = part.documents if self.bag == "binary" else part.tokens
            return empirical_bayes_alpha(counts.take(kept, axis=1).to_float())
        ones, n = part.documents.take(kept, axis=1).to_float(), part.present.to_float()
        return empirical_bayes_alpha(np.stack([ones, n[:, None] - ones], axis=-1).reshape(-1, 2))

    def _counts(self, part: Column) -> SparseExact:
        """Return the counts behind the shares: occurrences, or documents."""
        return part.tokens if self.bag in ("multinomial", "complement") else part.documents


def name_of(tokenizer: Tokenizer) -> str:
    """Return the name of a function, for people to read.

    Examples
    --------
    >>> name_of(str.split)
    'str.split'
    """
    return str(getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__))
