"""Contributions: log-odds of each column in each row, which add up to those of the prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from tallybayes import engines
from tallybayes.cached_property import cached_property
from tallybayes.display.number_of import number_of
from tallybayes.display.tables import Grid, Result, number
from tallybayes.encoding import open_rows
from tallybayes.encoding.encode_rows import encode_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.events.inputs import Encoded, Floats
from tallybayes.explain.contrast import ClassContrast, ContrastWeights
from tallybayes.inference.estimate import Belief
from tallybayes.inference.score import map_rows, rows_at_a_time
from tallybayes.methods.rows import rows_to_score
from tallybayes.model import Model
from tallybayes.schema.schema import Schema

_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Result):
    """The contributions of each column in each row.

    ``prior + terms.sum(axis=1) + split`` are the log-odds of `of` against the others (or `against`), calibrated.
    They are the log-odds of the probability that the model predicts.

    Attributes
    ----------
    classes : tuple
        The classes of the model.
    columns : sequence of str
        The columns of the model.
    of : ndarray of int, shape (n,)
        The position of the class that is explained in each row.
    against : int or None
        The class that it is compared with; None: all others.
    prior : ndarray, shape (n,)
        The contribution of the class prior.
    terms : ndarray, shape (n, F)
        The contribution of each column; 0 where it is missing.
    split : ndarray, shape (n,)
        What the class loses because it has several rivals; 0 if it has one.
    """

    classes: tuple[Any, ...]
    columns: Sequence[str]
    of: npt.NDArray[np.intp]
    against: int | None
    prior: Floats
    terms: Floats
    split: Floats

    def __len__(self) -> int:
        return len(self.of)

    @cached_property
    def log_odds(self) -> Floats:  # (n,)
        """The log-odds of each row: the sum of all contributions."""
        return np.asarray(self.prior + self.terms.sum(axis=1) + self.split)

    @property
    def probability(self) -> Floats:  # (n,)
        """The probability of the explained class against the others."""
        return np.asarray(expit(self.log_odds))

    @cached_property
    def strength(self) -> Floats:  # (F,)
        """The mean absolute contribution of each column."""
        return np.abs(self.terms).mean(axis=0) if len(self) else np.zeros(len(self.columns))

    def _columns(self) -> dict[str, Any]:
        terms = {f"term({name})": self.terms[:, f] for f, name in enumerate(self.columns)}
        of = [str(self.classes[c]) for c in self.of]
        return {"of": of, "prior": self.prior, **terms, "split": self.split, "log_odds": self.log_odds}

    def shown(self) -> Grid:
        """Return a table of the columns with the largest contributions."""
        best = np.argsort(-self.strength, kind="stable")[:_SHOWN]
        rows = tuple((self.columns[f], number(self.strength[f], 3), number(self.means[f], 3)) for f in best)
        more = len(self.columns) - len(best)
        notes = (f"and {more} more columns with smaller contributions",) if more > 0 else ()
        title = (
            f"Contributions of {number_of(len(self.columns), 'column')} in {number_of(len(self), 'row')}, in log-odds"
        )
        return Grid(title, ("column", "mean size", "mean"), rows, notes)

    @cached_property
    def means(self) -> Floats:  # (F,)
        """The mean contribution of each column."""
        return self.terms.mean(axis=0) if len(self) else np.zeros(len(self.columns))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, with the names of columns and classes."""
        against = None if self.against is None else self.classes[self.against]
        classes = self._named("columns", of=[self.classes[c] for c in self.of], against=against)
        return classes | self._named("prior", "terms", "split", "log_odds")


@dataclass(frozen=True, eq=False, repr=False)
class Shapley(Result):
    """Shapley values: how far each column moves a row's log-odds from those of the background.

    A score is a sum over columns, so no average over coalitions is needed: the value of a column is its contribution in
    the row minus its mean contribution in the background.

    Attributes
    ----------
    columns : sequence of str
        The columns of the model.
    values : ndarray, shape (n, F)
        The Shapley values.
    base : ndarray, shape (n,)
        The log-odds if every column had its mean contribution: ``base + values.sum(axis=1)`` are the row's.
    """

    columns: Sequence[str]
    values: Floats
    base: Floats

    @cached_property
    def log_odds(self) -> Floats:  # (n,)
        """The log-odds of the rows."""
        return np.asarray(self.base + self.values.sum(axis=1))

    @cached_property
    def strength(self) -> Floats:  # (F,)
        """The mean absolute Shapley value of each column."""
        return np.abs(self.values).mean(axis=0) if len(self.values) else np.zeros(len(self.columns))

    def _columns(self) -> dict[str, Any]:
        values = {f"value({name})": self.values[:, f] for f, name in enumerate(self.columns)}
        return {"base": self.base, **values, "log_odds": self.log_odds}

    def shown(self) -> Grid:
        """Return a table of the columns with the largest Shapley values."""
        best = np.argsort(-self.strength, kind="stable")[:_SHOWN]
        rows = tuple((self.columns[f], number(self.strength[f], 3)) for f in best)
        return Grid(f"Shapley values of {len(self.values)} rows, in log-odds", ("column", "mean size"), rows)


Ask: TypeAlias = Callable[[list[Encoded], RowBatch | None], ContrastWeights]


def contributions(model: Model, rows: Any, of: Any, against: Any, threads: int | None) -> Contributions:
    """Return the contributions of each column: see `Model.contributions`."""
    question = ClassContrast.about(of, against, model.classes)
    weights, terms = weigh_rows(model, rows, lambda *part: ask(model, question, *part), threads)
    return Contributions(
        model.classes, model.schema.terms, weights.of, question.against, weights.prior, terms, weights.split
    )


def shapley(model: Model, rows: Any, background: Any, of: Any, against: Any, threads: int | None) -> Shapley:
    """Return Shapley values: see `Model.shapley`."""
    question = ClassContrast.about(of, against, model.classes)
    weights, terms = weigh_rows(model, rows, lambda *part: ask(model, question, *part), threads)
    means = np.stack(
        [_mean_terms(model, rows if background is None else background, c, threads) for c in range(len(model.classes))]
    )  # (C, F)
    if not np.isfinite(means).all():
        got = "a value that is impossible under a class"
        raise BadData(wanted("shapley", "columns whose terms have a mean", got, "Smooth (alpha above 0)"))
    base = weights.prior + weights.split + (weights.factors @ means).sum(axis=1)
    return Shapley(model.schema.terms, terms - weights.factors @ means, base)


def _mean_terms(model: Model, rows: Any, c: int, threads: int | None) -> Floats:  # (F,)
    """Return the mean term of each column for class c."""

    def of_class(blocks: list[Encoded], rows: RowBatch | None) -> ContrastWeights:
        asked = ask(model, ClassContrast(None, None), blocks, rows)
        factors = np.zeros_like(asked.factors)
        factors[:, c] = 1.0
        return replace(asked, factors=factors)

    return np.asarray(weigh_rows(model, rows, of_class, threads)[1].mean(axis=0))


def ask(model: Model, question: ClassContrast, blocks: list[Encoded], rows: RowBatch | None = None) -> ContrastWeights:
    """Return the contrast weights of encoded rows; `rows` name bad values in error messages."""
    belief, n = model._calibrated_belief, len(blocks[0])
    scores = np.empty((n, len(model.classes)))
    mixture = belief.score(blocks, scores, rows)
    return question.ask(scores, mixture, belief.prior(mixture), belief.plain.log_prior)


def add_terms(model: Model, blocks: list[Encoded], asked: ContrastWeights, out: Floats) -> None:
    """Add each column's contribution to `out` (n, F), in the order of the model's columns."""
    calibrated = model._calibrated_belief
    for belief, share in ((calibrated.plain, asked.plain), (calibrated.weighted, asked.weighted)):
        if belief is not None and share.any():
            _add_terms(model.schema, belief, blocks, asked.factors * share[:, None], out)


def _add_terms(schema: Schema, belief: Belief, blocks: list[Encoded], factors: Floats, out: Floats) -> None:
    for block, likelihood, data, places in zip(
        schema.blocks, belief.likelihoods, blocks, column_places(schema), strict=True
    ):
        if places is None:
            likelihood.add_terms(data, factors, out)
            continue
        part = np.zeros((len(factors), len(block.columns)))
        likelihood.add_terms(data, factors, part)
        with np.errstate(invalid="ignore"):  # infinite terms, of a value that a class rules out, may cancel
            out[:, places] += part


def column_places(schema: Schema) -> list[npt.NDArray[np.intp] | None]:
    """Return the positions of each block's columns among all terms; None if one block has them all, in order."""
    if len(schema.blocks) == 1:
        return [None]
    place = {name: f for f, name in enumerate(schema.terms)}
    return [np.array([place[name] for name in block.columns], np.intp) for block in schema.blocks]


def weigh_rows(model: Model, rows: Any, asking: Ask, threads: int | None) -> tuple[ContrastWeights, Floats]:
    """Return the contrast weights and contributions (n, F) of all rows, by slices on threads."""
    rows = open_rows.one_row(rows, model.schema)
    few = encoded_rows(model, rows)
    if few is not None:
        weights = asking(few, None)
        terms = np.zeros((len(rows), len(model.schema.terms)))
        add_terms(model, few, weights, terms)
        return weights, terms
    workers = engines.default_threads(threads)

    def read(types: open_rows.Types | None) -> tuple[ContrastWeights, Floats]:
        weights: list[ContrastWeights] = []
        terms, first = [np.zeros((0, len(model.schema.terms)))], 0
        for batch in rows_to_score(model, rows, types):
            out = np.zeros((batch.num_rows, len(model.schema.terms)))

            def work(part: RowBatch, out: Floats) -> ContrastWeights:
                blocks = list(model._calibrated_belief.encode(part))
                answer = asking(blocks, part)
                add_terms(model, blocks, answer, out)
                return answer

            missing, partial = model.schema.missing, open_rows.may_lack(batch.schema)
            size = rows_at_a_time(batch.num_rows, len(model.schema.terms), workers)
            weights += map_rows(
                batch, work, out, threads=workers, missing=missing, first=first, partial=partial, rows=size
            )
            terms.append(out)
            first += batch.num_rows
        return ContrastWeights.joined(weights, len(model.classes)), terms[1] if len(terms) == 2 else np.concatenate(
            terms
        )

    return open_rows.reading(read)


def encoded_rows(model: Model, rows: Any) -> list[Encoded] | None:
    """Return a few plain rows, encoded without Arrow; None for other input."""
    blocks = encode_rows(rows, model.schema, model._calibrated_belief.plain.likelihoods, model.choices.unseen)
    return None if blocks is None else list(blocks)
