"""Contributions: what each column says of each row, as log-odds that add up to those of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from tallybayes import engines
from tallybayes.display.tables import Grid, Result, number, plain
from tallybayes.encoding import open_rows
from tallybayes.encoding.encode_rows import encode_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.events.inputs import Encoded, Floats
from tallybayes.explain.contrast import ClassContrast, ContrastWeights
from tallybayes.inference.score import add_encoded, encoded, map_rows
from tallybayes.model import Model
from tallybayes.schema.schema import Schema

__all__ = ["Contributions", "Shapley", "add_terms", "ask", "contributions", "encoded_rows", "shapley"]

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Contributions(Result):
    """What each column says of each row.

    ``prior + terms.sum(axis=1) + split`` are the log-odds of `of` against the others (or `against`), after tempering:
    those of the probability that the model answers.

    Attributes
    ----------
    classes : tuple
        The classes of the model.
    columns : sequence of str
        The columns of the model.
    of : ndarray of int, shape (n,)
        The class that is spoken for in each row, as a place among the classes.
    against : int or None
        The class that is spoken against; None: all others.
    prior : ndarray, shape (n,)
        What the class prior says.
    terms : ndarray, shape (n, F)
        What each column says; 0 where it is missing.
    split : ndarray, shape (n,)
        What the class loses by the others' being several; 0 where there is one.
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
        """All of it."""
        return np.asarray(self.prior + self.terms.sum(axis=1) + self.split)

    @property
    def probability(self) -> Floats:  # (n,)
        """Of the class that is spoken for, against the others."""
        return np.asarray(expit(self.log_odds))

    @cached_property
    def strength(self) -> Floats:  # (F,)
        """How much each column says, for or against, in the mean of the rows."""
        return np.abs(self.terms).mean(axis=0) if len(self) else np.zeros(len(self.columns))

    def shown(self) -> Grid:
        """The columns that say most."""
        best = np.argsort(-self.strength, kind="stable")[:_SHOWN]
        rows = tuple((self.columns[f], number(self.strength[f], 3), number(self.means[f], 3)) for f in best)
        more = len(self.columns) - len(best)
        notes = (f"and {more} more columns that say less",) if more > 0 else ()
        title = f"What {len(self.columns)} columns say of {len(self)} rows, in log-odds"
        return Grid(title, ("column", "mean size", "mean"), rows, notes)

    @cached_property
    def means(self) -> Floats:  # (F,)
        """What each column says in the mean of the rows."""
        return self.terms.mean(axis=0) if len(self) else np.zeros(len(self.columns))

    def to_dict(self) -> dict[str, Any]:
        """All numbers, and the columns and classes that they belong to."""
        return {
            "columns": list(self.columns),
            "of": plain([self.classes[c] for c in self.of]),
            "against": None if self.against is None else plain(self.classes[self.against]),
            "prior": plain(self.prior),
            "terms": plain(self.terms),
            "split": plain(self.split),
            "log_odds": plain(self.log_odds),
        }


@dataclass(frozen=True, eq=False)
class Shapley(Result):
    """Shapley values: how far each column moves a row's log-odds from those of the background.

    A score is a sum over columns, so that the value of a column needs no average over coalitions: it is what the column
    says of the row less what it says in the mean of the background.

    Attributes
    ----------
    columns : sequence of str
        The columns of the model.
    values : ndarray, shape (n, F)
        The Shapley values.
    base : ndarray, shape (n,)
        The log-odds where every column says what it does in the mean: ``base + values.sum(axis=1)`` are the row's.
    """

    columns: Sequence[str]
    values: Floats
    base: Floats

    @cached_property
    def log_odds(self) -> Floats:  # (n,)
        """Those of the rows."""
        return np.asarray(self.base + self.values.sum(axis=1))

    @cached_property
    def strength(self) -> Floats:  # (F,)
        """How far each column moves log-odds, either way, in the mean of the rows."""
        return np.abs(self.values).mean(axis=0) if len(self.values) else np.zeros(len(self.columns))

    def shown(self) -> Grid:
        """The columns that move most."""
        best = np.argsort(-self.strength, kind="stable")[:_SHOWN]
        rows = tuple((self.columns[f], number(self.strength[f], 3)) for f in best)
        return Grid(f"Shapley values of {len(self.values)} rows, in log-odds", ("column", "mean size"), rows)

    def to_dict(self) -> dict[str, Any]:
        """All numbers, and the columns that they belong to."""
        return {"columns": list(self.columns), "values": plain(self.values), "base": plain(self.base)}


Ask: TypeAlias = Callable[[list[Encoded], RowBatch | None], ContrastWeights]


def contributions(model: Model, rows: Any, of: Any, against: Any, threads: int | None) -> Contributions:
    """What each column says of each row: see `Model.contributions`."""
    question = ClassContrast.about(of, against, model.classes)
    asked, terms = weigh_rows(model, rows, lambda *part: ask(model, question, *part), threads)
    return Contributions(
        model.classes, model.schema.columns, asked.of, question.against, asked.prior, terms, asked.split
    )


def shapley(model: Model, rows: Any, background: Any, of: Any, against: Any, threads: int | None) -> Shapley:
    """How far each column moves each row: see `Model.shapley`."""
    question = ClassContrast.about(of, against, model.classes)
    asked, terms = weigh_rows(model, rows, lambda *part: ask(model, question, *part), threads)
    means = np.stack(
        [_mean_terms(model, rows if background is None else background, c, threads) for c in range(len(model.classes))]
    )  # (C, F)
    if not np.isfinite(means).all():
        got = "a value that is impossible under a class"
        raise BadData(wanted("shapley", "columns whose terms have a mean", got, "Smooth (alpha above 0)"))
    base = asked.prior + asked.split + (asked.factors @ means).sum(axis=1)
    return Shapley(model.schema.columns, terms - asked.factors @ means, base)


def _mean_terms(model: Model, rows: Any, c: int, threads: int | None) -> Floats:  # (F,)
    """What each column says of class c in the mean of rows."""

    def of_class(blocks: list[Encoded], rows: RowBatch | None) -> ContrastWeights:
        n = len(blocks[0])
        factors = np.zeros((n, len(model.classes)))
        factors[:, c] = 1.0
        return ContrastWeights(np.full(n, c), factors, np.zeros(n), np.zeros(n))

    return np.asarray(weigh_rows(model, rows, of_class, threads)[1].mean(axis=0))


def ask(model: Model, question: ClassContrast, blocks: list[Encoded], rows: RowBatch | None = None) -> ContrastWeights:
    """What is asked of rows that are encoded; `rows` put what is refused of them into a sentence."""
    belief, temperature, n = model._contrast, model._temperature, len(blocks[0])
    scores, sizes = (
        np.empty((n, len(model.classes))),
        np.zeros(n) if temperature is not None and temperature.by_size else None,
    )
    add_encoded(model.schema, belief, blocks, scores, sizes, rows)
    factors = np.ones(n) if temperature is None else temperature.factors(scores, belief.log_prior, sizes)
    return question.ask(scores, factors, belief.log_prior)


def add_terms(model: Model, blocks: list[Encoded], factors: Floats, out: Floats) -> None:
    """Add what each column says to `out` (n, F), in the order of the model's columns."""
    schema, belief = model.schema, model._contrast
    for block, likelihood, data, places in zip(
        schema.blocks, belief.likelihoods, blocks, column_places(schema), strict=True
    ):
        if places is None:
            likelihood.add_terms(data, factors, out)
            continue
        part = np.zeros((len(factors), len(block.columns)))
        likelihood.add_terms(data, factors, part)
        out[:, places] += part


def column_places(schema: Schema) -> list[npt.NDArray[np.intp] | None]:
    """Where each block's columns stand among all; None where they are all, in order."""
    if len(schema.blocks) == 1:
        return [None]
    place = {name: f for f, name in enumerate(schema.columns)}
    return [np.array([place[name] for name in block.columns], np.intp) for block in schema.blocks]


def weigh_rows(model: Model, rows: Any, asking: Ask, threads: int | None) -> tuple[ContrastWeights, Floats]:
    """What is asked of all rows, and what each column answers (n, F), slice by slice on threads."""
    rows = open_rows.one_row(rows)
    few = encoded_rows(model, rows)
    if few is not None:
        asked = asking(few, None)
        terms = np.zeros((len(rows), len(model.schema.columns)))
        add_terms(model, few, asked.factors, terms)
        return asked, terms
    partial, workers = open_rows.are_named_cells(rows), engines.default_threads(threads)

    def read(types: open_rows.Types | None) -> tuple[ContrastWeights, Floats]:
        asked: list[ContrastWeights] = []
        terms, first = [np.zeros((0, len(model.schema.columns)))], 0
        for batch in open_rows.to_score(rows, model.schema, types):
            out = np.zeros((batch.num_rows, len(model.schema.columns)))

            def work(part: RowBatch, out: Floats) -> ContrastWeights:
                blocks = list(encoded(model.schema, model._contrast, model.choices, part))
                answer = asking(blocks, part)
                add_terms(model, blocks, answer.factors, out)
                return answer

            missing = model.schema.missing
            asked += map_rows(batch, work, out, threads=workers, missing=missing, first=first, partial=partial)
            terms.append(out)
            first += batch.num_rows
        return ContrastWeights.joined(asked, len(model.classes)), terms[1] if len(terms) == 2 else np.concatenate(terms)

    return open_rows.reading(read)


def encoded_rows(model: Model, rows: Any) -> list[Encoded] | None:
    """A few plain rows, encoded the short way; None for others."""
    blocks = encode_rows(rows, model.schema, model._contrast.likelihoods, model.choices.unseen)
    return None if blocks is None else list(blocks)
