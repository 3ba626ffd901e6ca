"""Counterfactuals: the fewest changes that change the predicted class.

The margin of a class over a rival is a sum over columns, so the effect of changing one column does not depend on the
others, and taking the largest effects first needs the fewest changes. Done for every rival, this finds the minimum
number of changes, not just a small one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tallybayes.display.tables import Column, Grid, Result, number
from tallybayes.events.inputs import Encoded, Floats
from tallybayes.explain.contrast import ClassContrast, ContrastWeights
from tallybayes.explain.contributions import add_terms, ask, column_places
from tallybayes.explain.words import TextContributions
from tallybayes.model import Model


class Change(NamedTuple):
    """One changed value, or one removed word."""

    column: str
    word: str | None
    old: Any
    new: Any
    worth: float  # how far it moves the log-odds toward the new class


@dataclass(frozen=True, repr=False)
class Counterfactual(Result):
    """The fewest changes that change the predicted class.

    Attributes
    ----------
    old, new : object
        The class before and after.
    changes : tuple of Change
        The changes, largest effect first.
    margin : float
        The margin of the old class over the new one, in calibrated log-odds.
    """

    old: Any
    new: Any
    changes: tuple[Change, ...]
    margin: float

    def _columns(self) -> dict[str, Any]:
        return {name: [getattr(one, name) for one in self.changes] for name in Change._fields}

    def shown(self) -> Grid:
        """Return a table with one row per change."""
        rows = tuple(
            (
                change.column if change.word is None else f"“{change.word}”",
                _shown(change.old),
                "removed" if change.word is not None else _shown(change.new),
                number(change.worth, 3),
            )
            for change in self.changes
        )
        heads = (Column("what", right=False), Column("from", right=False), Column("to", right=False), "log-odds")
        title = f"{self.new} instead of {self.old}: {len(rows)} change{'s' if len(rows) != 1 else ''}"
        return Grid(title, heads, rows, (f"{self.old} is ahead of {self.new} by {number(self.margin, 3)}.",))

    def to_dict(self) -> dict[str, Any]:
        """Return the classes, the margin and every change."""
        return self._named("old", "new", "margin", "changes")


def _shown(value: Any) -> str:
    return "missing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def smallest(
    model: Model, blocks: list[Encoded], values: Sequence[Any], texts: tuple[TextContributions, ...]
) -> Counterfactual | None:
    """Return the fewest changes of the first row that give another class, or None.

    A number is changed to the other class's most likely value, a count in a bag to 0, a category to any value; words
    of a text are removed.
    """
    if model.schema.products:
        return None
    C = len(model.classes)
    asked, scores = ask(model, ClassContrast(None, None), blocks), np.empty((1, C))
    model._calibrated_belief.score(blocks, scores)
    own = int(scores[0].argmax())
    terms = np.stack([_terms_of(model, blocks, asked, c) for c in range(C)], axis=1)  # (F, C)
    options = list(_options(model, asked, terms, values, texts))
    best: Counterfactual | None = None
    for rival in range(C):
        margin = float(scores[0, own] - scores[0, rival])
        if rival == own or not np.isfinite(margin):
            continue
        changes = _fewest([option.best(own, rival) for option in options], margin, strictly=rival > own)
        if changes is not None and (best is None or len(changes) < len(best.changes)):
            named = tuple(_written(model, change) for change in changes)
            best = Counterfactual(model.classes[own], model.classes[rival], named, margin)
    return best


def _written(model: Model, change: Change) -> Change:
    old, new = (model.schema.write(change.column, value) for value in (change.old, change.new))
    return change._replace(old=old, new=new)


def _terms_of(model: Model, blocks: list[Encoded], asked: ContrastWeights, c: int) -> Floats:  # (F,)
    factors, out = np.zeros((1, len(model.classes))), np.zeros((1, len(model.schema.columns)))
    factors[0, c] = 1.0
    add_terms(model, blocks, replace(asked, factors=factors), out)
    return np.asarray(out[0])


@dataclass(frozen=True)
class _Option:
    """A column or word that may be changed: its terms now, and those of other values."""

    column: str
    word: str | None
    old: Any
    now: Floats  # (C,)
    values: Sequence[Any]
    log: Floats  # (K, C)
    any_value: bool

    def best(self, own: int, rival: int) -> Change:
        """Return the change that moves the log-odds furthest toward the rival."""
        if not len(self.values):
            return Change(self.column, self.word, self.old, None, -np.inf)
        with np.errstate(invalid="ignore"):
            worth = (self.log[:, rival] - self.log[:, own]) - (self.now[rival] - self.now[own])
        worth = np.where(np.isnan(worth), -np.inf, worth)
        k = int(worth.argmax()) if self.any_value else int(self.log[:, rival].argmax())
        return Change(self.column, self.word, self.old, self.values[k], float(worth[k]))


def _options(
    model: Model, asked: ContrastWeights, terms: Floats, values: Sequence[Any], texts: tuple[TextContributions, ...]
) -> Iterator[_Option]:
    places, belief = column_places(model.schema), model._calibrated_belief
    plain, weighted = float(asked.plain[0]), float(asked.weighted[0])
    for b, block in enumerate(model.schema.blocks):
        if block.event.input == "text":
            continue
        for f, name in enumerate(block.columns):
            at = f if places[b] is None else int(places[b][f])  # type: ignore[index]
            if belief.weighted is not None and values[at] is None:
                continue  # a further value would change the weights of all others
            profile = model.belief.likelihoods[b].profile(f)
            log = plain * profile.log
            if belief.weighted is not None:
                log = log + weighted * belief.weighted.likelihoods[b].profile(f, profile.values).log
            yield _Option(name, None, values[at], terms[at], profile.values, log, profile.kind == "values")
    for text in texts:
        for k, word in enumerate(text.words):
            nothing = np.zeros((1, text.log.shape[1]))
            yield _Option(text.column, word, text.times[k].item(), plain * text.log[k], (0,), nothing, True)


def _fewest(changes: list[Change], margin: float, *, strictly: bool) -> tuple[Change, ...] | None:
    """Return the largest changes that together exceed the margin (or reach it, if not `strictly`)."""
    taken, left = [], margin
    for change in sorted(changes, key=lambda one: -one.worth):
        if not change.worth > 0:
            return None
        taken.append(change)
        left -= change.worth
        if left < 0 or (left == 0 and not strictly):
            return tuple(taken)
    return None
