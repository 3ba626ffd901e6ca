"""Probability queries on a model: of classes and values, given others.

A model is a joint distribution, P(c) Π P(x | c). Where columns are independent given the class, summing one out is
leaving it out: a query costs a product over the columns that it names and a sum over the classes. Where a tree, a joint
table or all pairs join columns, the others are summed out exactly (see `joint_distribution`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import logsumexp

from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.evaluation.proportions import LEVEL
from tallybayes.events import Event
from tallybayes.events.inputs import Floats
from tallybayes.explain.tables import table
from tallybayes.inference.uncertainty import z_of
from tallybayes.model import Model
from tallybayes.plain_values import kind
from tallybayes.queries.conditions import Mask, as_kind, holds
from tallybayes.queries.joint_distribution import JointDistribution, joint_distribution
from tallybayes.queries.language import Query, Term, parse
from tallybayes.queries.probability import Probability


def probability_from_model(
    model: Model, query: str, given: str | Mapping[str, Any] | None = None, *, level: float = LEVEL
) -> Probability:
    """Return the probability of a query under a model."""
    z_of(level)
    return _ModelQuery(model, parse(query, given)).answer(level)


@dataclass(frozen=True)
class _ModelQuery:
    """A query on a model."""

    model: Model
    query: Query

    def answer(self, level: float) -> Probability:
        """Return the ratio of two joint probabilities."""
        log_given = logsumexp(self._log_joint(self.given))
        if np.isneginf(log_given):
            given = ", ".join(map(str, self.given))
            do = "Smooth the model (estimate='bayes', alpha=1), or give fewer conditions"
            raise BadData(wanted(self.where, "a possible condition", f"{given}, of probability 0 in every class", do))
        probability = float(np.exp(logsumexp(self._log_joint(self.target + self.given)) - log_given))
        low, high = self._interval(level)
        return Probability(str(self.query), min(probability, 1.0), low=low, high=high, level=level, notes=self._notes())

    @property
    def where(self) -> str:
        """The name of the query in messages."""
        return f"query {str(self.query)!r}"

    @cached_property
    def target(self) -> tuple[Term, ...]:
        """The terms before the bar, each with its column."""
        terms = tuple(map(self._resolved, self.query.target))
        for term in terms:
            self._check_target(term)
        return terms

    @cached_property
    def given(self) -> tuple[Term, ...]:
        """The terms after the bar, each with its column."""
        return tuple(map(self._resolved, self.query.given))

    def _log_joint(self, terms: tuple[Term, ...]) -> Floats:  # (C,)
        """Return the log-probability of each class together with the terms."""
        total = self.model.belief.log_prior.copy()
        together: dict[str, Floats] = {}
        for column in dict.fromkeys(str(term.column) for term in terms):
            mine = [term for term in terms if term.column == column]
            if self.joint is not None and column in self.joint.parts:
                together[column] = self._in_slots(self.joint, column, mine)
            else:
                total += self._log_column(column, mine)
        return total if self.joint is None or not together else total + self.joint.log_probability(together)

    @cached_property
    def joint(self) -> JointDistribution | None:
        """The distribution of columns that depend on each other given the class."""
        return joint_distribution(self.model)

    def _in_slots(self, joint: JointDistribution, column: str, terms: list[Term]) -> Floats:  # (C, slots)
        """Return the probability in each class that all terms of a column hold, slot by slot."""
        event = self.model.schema.event(column)
        if event.input == "codes" and not any(map(self._is_unseen, terms)):
            values = table(self.model, column)
            holds_of = np.all([self._of_values(term, event, values.rows) for term in terms], axis=0)[:-1]
            return joint.grouped(column, values.values * holds_of[:, None])
        value = None if self._is_unseen(terms[0]) else self._cell(terms[0])
        return joint.at(column, self._log_column(column, terms), value)

    def _log_column(self, column: str, terms: list[Term]) -> Floats:  # (C,)
        """Return the log-probability in each class that all terms of a column hold."""
        if column == self.model.schema.label:
            holds_of = np.all([self._of_labels(term, self.model.evidence.classes) for term in terms], axis=0)
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(holds_of.astype(float)))
        event = self.model.schema.event(column)
        if not self._is_listed(column):
            return self._log_point(column, event, terms)
        values = table(self.model, column)
        possible = np.vstack([values.values, self._of_unseen(column, terms)])
        holds_of = np.all([self._of_values(term, event, values.rows) for term in terms], axis=0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(possible[holds_of].sum(axis=0)))

    def _of_labels(self, term: Term, labels: Categories) -> Mask:
        """Return for which labels a term holds; raise BadOption for a value that is not among them."""
        mask = holds(term, labels.array)
        value = as_kind(term.value, labels.array.type)
        if mask is None or (term.operator in ("=", "!=") and value is not None and value.as_py() not in labels.values):
            do = did_you_mean(term.value, map(str, labels.values))
            raise BadOption(wanted(self.where, f"a value of {term.column!r}", repr(term.value), do))
        return mask

    def _of_values(self, term: Term, event: Event, rows: tuple[Any, ...]) -> Mask:  # (V + 1,)
        """Return for which values a term holds; the last entry stands for unseen values."""
        if event.input != "codes":
            return np.append(self._of_listed(term, event), False)
        if self._is_unseen(term):
            return np.append(np.zeros(len(rows), bool), True)
        return np.append(self._of_labels(term, self._labels(str(term.column))), False)

    def _is_listed(self, column: str) -> bool:
        """Return whether a column takes one of a few values, each with a probability."""
        b, _ = self.model.schema.place(column)
        return self.model.schema.event(column).discrete and self.model.belief.likelihoods[b].n_values is not None

    def _of_listed(self, term: Term, event: Event) -> Mask:
        """Return for which listed numbers a term holds."""
        b, f = self.model.schema.place(str(term.column))
        likelihood, invalid = self.model.belief.likelihoods[b], event.invalid(np.array([0.5]))
        binary = invalid is not None and bool(invalid.any())
        value = as_kind(term.value, pa.bool_() if binary else pa.float64())
        if value is None or term.operator not in ("=", "!="):
            want = "= or != and 0 or 1" if binary else "= or != and a number"
            raise BadOption(wanted(f"query {str(term)!r}", f"{want} for {event.name}", str(term)))
        same = np.arange(len(likelihood.profile(f).values)) == likelihood.place(f, value.as_py())
        return np.asarray(same if term.operator == "=" else ~same)

    def _log_point(self, column: str, event: Event, terms: list[Term]) -> Floats:  # (C,)
        """Return the log-density of the one given value of a column of numbers or text."""
        if len(terms) > 1 or terms[0].operator != "=":
            want = f"one '=' for column {column!r} ({event.name})"
            raise BadOption(wanted(self.where, want, ", ".join(map(str, terms))))
        return self._scored({column: self._cell(terms[0])})

    def _of_unseen(self, column: str, terms: list[Term]) -> Floats:  # (C,)
        """Return the likelihood of a given unseen value: 1, or 0 if the model calls it impossible."""
        unseen = [term for term in terms if self._is_unseen(term)]
        possible = bool(unseen) and bool(np.isfinite(self._scored({column: self._cell(unseen[0])})).any())
        return np.full(len(self.model.classes), float(possible))

    def _scored(self, row: dict[str, Any]) -> Floats:  # (C,)
        return np.asarray(self.model.log_joint([row])[0] - self.model.belief.log_prior)

    def _is_unseen(self, term: Term) -> bool:
        """Return whether a term gives a value that a categorical column has never had."""
        if term not in self.given or term.operator != "=" or term.column == self.model.schema.label:
            return False
        if self.model.schema.event(str(term.column)).input != "codes":
            return False
        labels = self._labels(str(term.column))
        value = as_kind(term.value, labels.array.type)
        return value is not None and value.as_py() not in labels.values

    def _labels(self, column: str) -> Categories:
        b, f = self.model.schema.place(column)
        labels: Categories = self.model.evidence.statistics[b].labels[f]
        return labels

    def _cell(self, term: Term) -> Any:
        """Return the value of a term in the type of its column."""
        event = self.model.schema.event(str(term.column))
        if event.input == "text":
            return term.value
        type_ = self._labels(str(term.column)).array.type if event.input == "codes" else pa.float64()
        value = as_kind(term.value, type_)
        if value is None:
            want = f"{kind(type_)} for column {term.column!r}"
            raise BadOption(wanted(self.where, want, repr(term.value)))
        return value.as_py()

    def _resolved(self, term: Term) -> Term:
        """Return the term with its column."""
        schema = self.model.schema
        if term.operator == "~":
            raise BadOption(wanted(self.where, "= and text for a model", str(term), "Query the rows: tb.probability"))
        if term.column is not None:
            if term.column != schema.label and term.column not in schema.columns:
                near = did_you_mean(term.column, [schema.label, *schema.columns])
                raise BadOption(wanted(self.where, "columns of the model", repr(term.column), near))
            return term
        labels_of = {schema.label: self.model.evidence.classes}
        labels_of |= {name: self._labels(name) for name in schema.columns if schema.event(name).input == "codes"}
        found = [name for name, labels in labels_of.items() if _among(term.value, labels)]
        if not found:
            near = did_you_mean(term.value, sorted({str(v) for labels in labels_of.values() for v in labels.values}))
            raise BadOption(wanted(self.where, "a value of some column", repr(term.value), near))
        if len(found) > 1:
            named = " or ".join(repr(str(Term(name, "=", term.value))) for name in found)
            want, got = f"{term.value!r} in one column", f"it in {len(found)}"
            raise BadOption(wanted(self.where, want, got, f"Write {named}"))
        return replace(term, column=found[0])

    def _check_target(self, term: Term) -> None:
        """Raise BadOption if the term has a density instead of a probability."""
        if term.column == self.model.schema.label:
            return
        event = self.model.schema.event(str(term.column))
        if self._is_listed(str(term.column)) or (event.discrete and term.operator == "="):
            return
        got = f"{term.column!r}, which is {event.name}"
        do = "Put it after '|', or query the rows: tb.probability"
        raise BadOption(wanted(self.where, "a class or columns of values before '|'", got, do))

    def _interval(self, level: float) -> tuple[float | None, float | None]:
        """Return an interval for a class given values, from parameter uncertainty; None for other queries."""
        if self._row is None or self.joint is not None:  # a score leaves a missing column out, unsummed
            return None, None
        found = replace(self.model, calibration=None).predict_interval([self._row], level=level)
        return float(found.low[0, self._class]), float(found.high[0, self._class])

    @cached_property
    def _row(self) -> dict[str, Any] | None:
        """The given values, if the query is for one class given values only; else None."""
        label = self.model.schema.label
        one_class = len(self.target) == 1 and self.target[0].column == label and self.target[0].operator == "="
        given = [term for term in self.given if not self._is_unseen(term)]
        points = {str(term.column): term for term in given if term.operator == "=" and term.column != label}
        if not one_class or not points or len(points) < len(given):
            return None
        return {column: self._cell(term) for column, term in points.items()}

    @property
    def _class(self) -> int:
        return int(np.argmax(self._of_labels(self.target[0], self.model.evidence.classes)))

    def _notes(self) -> tuple[str, ...]:
        unseen = [term for term in self.given if self._is_unseen(term)]
        notes = [f"{term} was never seen: treated as missing." for term in unseen]
        if self.joint is None and self.model.schema.products:
            notes.append("Pairs of columns are weighed by calibration alone, and are no part of this answer.")
        if self._row is not None and self.model._has_calibrated_scores:
            calibrated = self.model.predict_proba([self._row])[0, self._class]
            notes.append(f"Calibrated, as in predict_proba: {calibrated:.4f}.")
        return tuple(notes)


def _among(text: str, labels: Categories) -> bool:
    value = as_kind(text, labels.array.type)
    return value is not None and value.as_py() in labels.values
