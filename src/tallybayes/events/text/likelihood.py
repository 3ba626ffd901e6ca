"""The likelihood of texts: log-probabilities of the tokens of each column, and their variances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tallybayes.cached_property import cached_property
from tallybayes.events.families.dirichlet import LEAST_ALPHA
from tallybayes.events.families.sampling import flipped_texts, mean_length, rolled_texts, shortest
from tallybayes.events.families.variance import minus_variance
from tallybayes.events.inputs import Floats, Texts, Value
from tallybayes.events.likelihood import Drawn, Likelihood, Profile, Table, weigh
from tallybayes.events.plain_terms import TokenTable
from tallybayes.events.text.column import Column, columns_of
from tallybayes.events.text.variance import TokenVariance
from tallybayes.events.text.vocabulary import Words
from tallybayes.kernels.text import BadText, BadTokens

if TYPE_CHECKING:
    from tallybayes.events.text.text import Text
    from tallybayes.events.text.token_cells import TokenWeights
    from tallybayes.events.text.weighted_likelihood import WeightedTextLikelihood

__all__ = ["TextLikelihood", "refused_of"]


@dataclass(frozen=True, eq=False)
class TextLikelihood(Likelihood[Texts]):
    """Log-probabilities of the tokens of each column of texts."""

    event: Text
    columns: tuple[Words, ...]  # (F,)

    def add_variance(self, data: Texts, out: Floats) -> None:
        """Add the variance of the tokens' sum in each text."""
        if self.event.bag == "bernoulli":
            minus = np.zeros_like(out)
            self._minus_variances.add_log_prob(data, minus)
            out -= minus
            return
        for f, (words, column) in enumerate(zip(self._variances, data.columns, strict=True)):
            with refused_of(f):
                words.add(column, out)

    @cached_property
    def _minus_variances(self) -> TextLikelihood:
        """Minus the variance in place of each log-probability of presence."""
        pairs = zip(columns_of(self.statistic), self.options.alpha, strict=True)
        columns = (self.event._words(part, self.options, alpha, minus_variance) for part, alpha in pairs)
        return replace(self, columns=tuple(columns))

    @cached_property
    def _variances(self) -> tuple[TokenVariance, ...]:
        """The variances of the tokens' shares, column by column."""
        parts = zip(columns_of(self.statistic), self.columns, self.options.alpha, strict=True)
        return tuple(self._variance(part, words, alpha) for part, words, alpha in parts)

    def _variance(self, part: Column, words: Words, alpha: float) -> TokenVariance:
        counts = self.event._counts(part).take(part.labels.find(words.vocabulary.array), axis=1)
        if self.event.bag == "complement":
            counts, alpha = counts.others(), max(alpha, LEAST_ALPHA)
        smooth = self.event.unknown == "smooth"
        return TokenVariance.of(words.lookup, counts, alpha, distinct=words.distinct, smooth=smooth)

    def add_log_prob(self, data: Texts, out: Floats) -> Floats:
        """Look up each token's log-probability, and return the number of tokens of each text."""
        sizes = np.zeros(len(data))
        for f, (words, column) in enumerate(zip(self.columns, data.columns, strict=True)):
            with refused_of(f):
                length = words.lookup.score(column, words.table, out, unknown=words.unknown, distinct=words.distinct)
            sizes += np.maximum(length, 0)
            present = ~column.is_null().to_numpy(zero_copy_only=False)
            if words.base.any():
                out[present] += words.base
            if words.needed is not None:
                hits = np.zeros_like(out)
                words.lookup.score(column, words.needed.astype(np.float64), hits, distinct=True)
                out[present[:, None] & (hits < words.needed.sum(axis=0))] = -np.inf
        return sizes

    def add_terms(self, data: Texts, weights: Floats, out: Floats) -> None:
        """Add the score of each column's whole text, weighted."""
        for f, (words, column) in enumerate(zip(self.columns, data.columns, strict=True)):
            scores = np.zeros_like(weights)
            replace(self, columns=(words,)).add_log_prob(Texts((column,)), scores)
            out[:, f] += weigh(scores, weights)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the amount that each token adds to the score of a text that has it."""
        words = self.columns[f]
        if at is None:
            return Profile("words", words.vocabulary.values, words.table, words.base)
        found = words.vocabulary.find(pa.array(at, pa.string()))
        unknown = np.zeros(words.table.shape[1]) if words.unknown is None else words.unknown
        log = np.tile(unknown, (len(found), 1))
        log[found >= 0] = words.table[found[found >= 0]]
        return Profile("words", tuple(at), log, words.base)

    def profile_in(self, f: int, at: Sequence[Value] | None, length: float) -> Profile:
        """Return the `profile` in a text of some number of tokens; only weights depend on it."""
        return self.profile(f, at)

    def of_cell(self, f: int, value: Value) -> tuple[Floats, float]:
        """Return the log-probability of one text of column f under each class, and its number of tokens."""
        scores = np.zeros((1, len(self.columns[f].base)))
        lengths = replace(self, columns=(self.columns[f],)).add_log_prob(
            Texts((pa.array([value], pa.string()),)), scores
        )
        return scores[0], float(lengths[0])

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw texts of words by their probabilities, of the mean length of the class.

        Under bernoulli and binary each word is present or absent on its own; otherwise words are rolls of a die.
        Complement has no shares inside a class, so it draws by the counts there. Of n-grams only the shortest are
        drawn, side by side; longer ones follow by chance.
        """
        pairs = zip(columns_of(self.statistic), self.columns, strict=True)
        return [self._draw(part, words, c, n, rng) for part, words in pairs]

    def _draw(self, part: Column, words: Words, c: int, n: int, rng: np.random.Generator) -> pa.Array:
        vocabulary, between = words.vocabulary.array.cast(pa.string()), " " if self.event.analyzer == "word" else ""
        short = shortest(vocabulary, self.event.ngrams, words=self.event.analyzer == "word")
        drawable = vocabulary.filter(pa.array(short))
        if self.event.bag == "bernoulli":
            return flipped_texts(drawable, words.present[short, c], n, rng, between)
        kept = part.labels.find(words.vocabulary.array)
        counts = self.event._counts(part).take(kept, axis=1).to_float()  # (C, V)
        shares = counts[c] if self.event.bag == "complement" else np.exp(words.table[:, c])
        # An n-gram takes the place of n words.
        length = mean_length(counts[:, short].sum(axis=1), part.present.to_float())[c] / self.event.ngrams[0]
        if self.event.bag == "binary":
            whole = max(float(shares[short].sum()), 1e-300)
            return flipped_texts(drawable, np.minimum(length * shares[short] / whole, 1.0), n, rng, between)
        return rolled_texts(drawable, shares[short], length, n, rng, between)

    def table(self, f: int) -> Table:
        """Return a row per token: occurrences (or documents) beside probabilities."""
        part, words = list(columns_of(self.statistic))[f], self.columns[f]
        kept = part.labels.find(words.vocabulary.array)
        counts = self.event._counts(part).take(kept, axis=1)
        if self.event.bag == "bernoulli":
            values = words.present
        else:
            values = np.exp(words.table if self.event.bag != "complement" else -words.table)
        return words.vocabulary.values, counts.to_float().T, values

    def weighted(self, weights: TokenWeights) -> WeightedTextLikelihood:
        """Return the likelihood of one column with weights for its tokens: scores to be tempered by them."""
        from tallybayes.events.text.weighted_likelihood import weighted

        return weighted(self, weights)

    def to_plain(self) -> tuple[TokenTable, ...]:
        """Return the table of each column's tokens."""
        return tuple(
            TokenTable(self.event.tokens, one.vocabulary, one.table, one.base, one.unknown, one.distinct, one.needed)
            for one in self.columns
        )

    def contrasted(self) -> TextLikelihood:
        """Return each token's log-shares less the largest."""
        return replace(self, columns=tuple(words.contrast() for words in self.columns))

    @property
    def n_parameters(self) -> int:
        """The number of words in the vocabulary; one less where they are the faces of one die."""
        shared = 0 if self.event.bag == "bernoulli" else 1
        return sum(max(len(words.vocabulary) - shared, 0) for words in self.columns)


@contextmanager
def refused_of(f: int) -> Iterator[None]:
    """Add the column's index to errors that the kernels raise."""
    try:
        yield
    except (BadText, BadTokens) as bad:
        bad.column = f
        raise
