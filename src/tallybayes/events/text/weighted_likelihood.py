"""The likelihood of texts whose tokens are weighted: see `token_cells`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.cached_property import cached_property
from tallybayes.events.inputs import Floats, Sparse, Texts, Value
from tallybayes.events.likelihood import Profile
from tallybayes.events.plain_terms import TokenTable
from tallybayes.events.text.column import columns_of
from tallybayes.events.text.likelihood import TextLikelihood, refused_of
from tallybayes.events.text.token_cells import TokenWeights, cells, orders

__all__ = ["WeightedTextLikelihood", "weighted"]


@dataclass(frozen=True, eq=False)
class WeightedTextLikelihood(TextLikelihood):
    """Log-probabilities of the tokens of one column of texts, each times a weight, before tempering."""

    weights: TokenWeights
    worth: Floats  # (V,) of each token
    worth_unknown: float

    def add_log_prob(self, data: Texts, out: Floats) -> Floats:
        """Look up each token's log-probability twice, plain and weighted, and blend their sums by length."""
        [words], [column], C = self.columns, data.columns, out.shape[1]
        both = np.zeros((len(out), 2 * C))
        with refused_of(0):
            found = words.lookup.score(column, self._tables, both, unknown=self._unknown, distinct=words.distinct)
        lengths = np.maximum(found, 0.0)
        out += self.weights.blend(both[:, :C], both[:, C:], lengths)
        return lengths

    @cached_property
    def _tables(self) -> Floats:  # (V, 2C)
        """Log-probabilities of tokens, plain and weighted, side by side: one look-up finds both."""
        table = self.columns[0].table
        return np.concatenate([table, table * self.worth[:, None]], axis=1)

    @cached_property
    def _unknown(self) -> Floats | None:  # (2C,)
        unknown = self.columns[0].unknown
        return None if unknown is None else np.concatenate([unknown, unknown * self.worth_unknown])

    def add_variance(self, data: Texts, out: Floats) -> None:
        """Add the variance of the weighted sum of the tokens in each text."""
        with refused_of(0):
            self._variances[0].add(data.columns[0], out, self._weigh)

    def _weigh(self, texts: Sparse, lengths: Floats) -> Sparse:
        row, token, times = texts.entries()
        plain, weighted = self.weights.parts(lengths)
        return replace(texts, data=times * (plain[row] + weighted[row] * self.worth[token]))

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the amount that each token adds in a text of typical length."""
        return self.profile_in(f, at, self.weights.typical - 1.0)

    def profile_in(self, f: int, at: Sequence[Value] | None, length: float) -> Profile:
        """Return the amount that each token adds in a text of some length."""
        found, vocabulary = super().profile(f, at), self.columns[f].vocabulary
        worth = self.worth
        if at is not None:
            place = vocabulary.find(pa.array(at, pa.string()))
            worth = np.where(place >= 0, np.append(worth, 0.0)[place], self.worth_unknown)
        plain, weighted = self.weights.parts(np.array([length]))
        return replace(found, log=found.log * (plain + weighted * worth)[:, None])

    def to_plain(self) -> tuple[TokenTable, ...]:
        """Return the table of the column's tokens with their weights."""
        [table] = super().to_plain()
        return (replace(table, worth=self.worth, worth_unknown=self.worth_unknown),)


def weighted(likelihood: TextLikelihood, weights: TokenWeights) -> WeightedTextLikelihood:
    """Return the likelihood of one column of texts with weights for its tokens, by the cells of all counts."""
    event, [words] = likelihood.event, likelihood.columns
    part = next(columns_of(likelihood.statistic))
    kept = part.labels.find(words.vocabulary.array)
    seen = event._counts(part).columns(kept).sum(axis=0).to_float()
    order = orders(words.vocabulary.array, event.ngrams, words=event.analyzer == "word")
    unknown = (
        1.0 if words.unknown is None else float(_worth(weights, order[:1] * 0, np.zeros(1), words.unknown[None])[0])
    )
    worth = _worth(weights, order, seen, words.table)
    fields = likelihood.statistic, likelihood.options, event, likelihood.columns
    return WeightedTextLikelihood(*fields, weights, worth, unknown)


def _worth(weights: TokenWeights, order: Any, seen: Floats, log: Floats) -> Floats:  # (V,)
    """Return the weight of each token; 1 where it is impossible in a class, which no weight changes."""
    possible = np.asarray(np.isfinite(log).all(axis=1))
    found = cells(order, seen, np.where(possible[:, None], log, 0.0))
    return np.where(possible, np.array(weights.cells)[found], 1.0)
