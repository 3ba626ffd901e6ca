"""The importance of columns: mutual information, and the rise of leave-one-out loss without them.

Dropping a column is dropping a term. So leave-one-out scores are computed once, column by column, and the score of any
set of columns is a sum of some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.arguments import listed, shown
from tallybayes.cached_property import cached_property
from tallybayes.display.tables import Grid, Result, number, plain
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.event import as_event
from tallybayes.events.families.bag import BagEvent
from tallybayes.events.inputs import Floats
from tallybayes.events.product import Product
from tallybayes.evidence.evidence import Evidence, class_codes, row_weights
from tallybayes.explain.choose_columns import choose_columns
from tallybayes.explain.mutual_information import information
from tallybayes.inference.estimate import estimate
from tallybayes.inference.leave_one_out import LeftOutRows
from tallybayes.inference.posterior import Tempering
from tallybayes.inference.sample_size import rows_to_weigh
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.inference.weight_one import at_weight_one
from tallybayes.inference.weights import share_of_others
from tallybayes.kernels import log_softmax
from tallybayes.methods.rows import sample_rows
from tallybayes.model import Model
from tallybayes.schema.schema import Block

_SHOWN = 30
# Leave-one-out scores are kept for every column: a limit on numbers (256 MB), and on rows, as more do not help.
_MOST_NUMBERS, _MOST_ROWS, _FEWEST_ROWS = 1 << 25, 20_000, 500
_LARGEST_LOSS = 1e8


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Result):
    """How much each column matters.

    Attributes
    ----------
    columns : sequence of str
        The columns of the model.
    information : ndarray, shape (F,)
        The mutual information with the class under the model, in bits; for a bag of counts or a text, that of one word.
    change : ndarray, shape (F,), or None
        The rise of the leave-one-out log-loss when the column is dropped, all columns of one bag together; below 0 the
        model is better without it. None if no rows were given.
    error : ndarray, shape (F,), or None
        The standard error of `change`.
    loss : float or None
        The leave-one-out log-loss with all columns.
    rows : int
        The number of rows that were left out in turn.
    """

    columns: Sequence[str]
    information: Floats
    change: Floats | None = None
    error: Floats | None = None
    loss: float | None = None
    rows: int = 0

    def ranking(self) -> list[str]:
        """Return the columns, most important first.

        First those without which the loss rises by more than its error, by `change`; then the others, by `information`.
        """
        if self.change is None or self.error is None:
            return [self.columns[f] for f in np.argsort(-self.information, kind="stable")]
        needed = np.where(self.change > self.error, self.change, 0.0)
        return [self.columns[f] for f in np.lexsort((-self.information, -needed))]

    def _columns(self) -> dict[str, Any]:
        left_out = {} if self.change is None else {"change": self.change, "error": self.error}
        return {"column": list(self.columns), "information": self.information, **left_out}

    def shown(self) -> Grid:
        """Return a table with one row per column, most important first."""
        place = {name: f for f, name in enumerate(self.columns)}
        rows = []
        for name in self.ranking()[:_SHOWN]:
            f = place[name]
            cells = [name, number(self.information[f], 4)]
            if self.change is not None and self.error is not None:
                cells += [f"{self.change[f]:+.4f}".replace("-", "−"), f"± {self.error[f]:.4f}"]
            rows.append(tuple(cells))
        heads = ("column", "bits") if self.change is None else ("column", "bits", "loss without it", "")
        notes = [f"and {len(self.columns) - _SHOWN} more columns"] if len(self.columns) > _SHOWN else []
        if self.loss is not None:
            notes.append(f"Log-loss with all columns {self.loss:.4f}, leave-one-out on {self.rows} rows.")
        return Grid("How much each column matters", heads, tuple(rows), tuple(notes))

    def points(self) -> list[dict[str, Any]]:
        """Return one plain record per column, most important first."""
        place = {name: f for f, name in enumerate(self.columns)}
        points = []
        for name in self.ranking()[:_SHOWN]:
            f = place[name]
            point: dict[str, Any] = {"column": name, "bits": plain(self.information[f])}
            if self.change is not None and self.error is not None:
                change, error = self.change[f], self.error[f]
                point |= plain({"change": change, "low": change - error, "high": change + error})
            points.append(point)
        return points

    def chart(self) -> Any:
        """Return an Altair chart with one bar per column."""
        from tallybayes.display.charts.importance import importance_chart

        return importance_chart(self.points(), left_out=self.change is not None)


def importance(model: Model, rows: Any, label: Any, weights: Any) -> Importance:
    """Return the importance of each column: see `Model.importance`."""
    bits = information(model)
    if rows is None:
        return Importance(model.schema.terms, bits)
    left = _LeftOut.of(model, _Rows.of(model, rows, label, weights))
    temperature = model._calibrated_belief.temperature
    whole = left.losses(left.scores(), left.sizes(), temperature)
    change, error = np.zeros(len(bits)), np.zeros(len(bits))
    place = {name: f for f, name in enumerate(model.schema.terms)}
    for u, names in enumerate(left.units):
        without = left.losses(left.scores(without=u), left.sizes(without=u), temperature)
        mean, spread = left.mean(without - whole)
        for name in names:
            change[place[name]], error[place[name]] = mean, spread
    return Importance(model.schema.terms, bits, change, error, left.mean(whole)[0], len(left.classes))


def select(model: Model, columns: Any, rows: Any, label: Any, weights: Any) -> Model:
    """Return the model of some of the columns: see `Model.select`."""
    if columns is None and rows is None:
        want = "how many columns, their names, or rows to choose by"
        raise BadOption(wanted("select", want, "none of them"))
    if rows is not None:
        columns = _by_rows(model, columns, _Rows.of(model, rows, label, weights))
    elif isinstance(columns, int) and not isinstance(columns, bool):
        ranking = Importance(model.schema.terms, information(model)).ranking()
        own = [name for name in ranking if name in model.schema.columns]
        columns = own[: _number(columns, len(own))]
    elif isinstance(columns, str):
        columns = [columns]
    columns = listed("select", columns, "a whole number or names of columns")
    if not all(isinstance(one, str) for one in columns):
        raise BadOption(wanted("select", "names of columns", shown(columns)))
    if not columns:
        raise BadOption(wanted("select", "at least one column", "none"))
    columns = [*columns, *_products_of(model, columns)]
    stale = None if model.calibration is None else model.calibration.outdated()
    evidence = _with_fewer_pairs(model.evidence, model.evidence.select(columns))
    choices = _choices_for(model, columns)
    return replace(model, evidence=evidence, choices=choices, calibration=stale, validation=None)


def _with_fewer_pairs(whole: Evidence, some: Evidence) -> Evidence:
    """Return the evidence of some columns with all of their pairs, where the whole evidence has all of its own."""
    for block, statistic in zip(whole.schema.blocks, whole.statistics, strict=True):
        if not isinstance(block.event, Product) or block in some.schema.blocks:
            continue
        kept = [f for f, name in enumerate(block.event.columns) if name in some.schema.columns]
        found = block.event.of_parts(statistic, kept) if len(kept) > 1 else None
        if found is not None:
            event, fewer = found
            schema = some.schema.with_products([replace(block, event=as_event(event))])
            some = replace(some, schema=schema, statistics=(*some.statistics, fewer))
    return some


def _products_of(model: Model, columns: Sequence[str]) -> list[str]:
    """Return the products whose parts are all among some columns."""
    kept = set(columns)
    found: list[str] = []
    for block in model.schema.products:
        if parts_of(block) <= kept and not kept.issuperset(block.columns):
            found += block.columns
    return found


def parts_of(block: Block) -> set[str]:
    """Return the columns that a block's column is made of; none for a column of the source."""
    return set(block.event.columns) if isinstance(block.event, Product) else set()


def _by_rows(model: Model, most: Any, rows: _Rows) -> list[str]:
    """Return the columns that rows left out ask for: the rest of an elimination under weights, else forward."""
    if model._weights is None:
        left = _LeftOut.of(model, rows)
        return [name for u in left.forward(_number(most, len(left.units))) for name in left.units[u]]
    rows = rows.head(rows_to_weigh(len(model.schema.columns), len(model.classes)))
    own = model.evidence.select(model.schema.columns) if model.schema.products else model.evidence
    joined = {name for block in model.schema.products for name in parts_of(block)}  # may tell only together
    choices, sampled = model._resolved_choices, SampledRows(rows.part, rows.classes, rows.weights)
    return choose_columns(
        own, choices, sampled, None if most is None else _number(most, len(own.schema.columns)), joined
    )


def _number(most: Any, available: int) -> int:
    if most is None:
        return available
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise BadOption(wanted("select", "how many columns to keep, at least 1", repr(most)))
    return min(most, available)


def _choices_for(model: Model, columns: Sequence[str]) -> Any:
    """Return the choices without those for dropped columns."""
    alpha = model.choices.alpha
    if not isinstance(alpha, dict):
        return model.choices
    kept = {name: value for name, value in alpha.items() if name in columns}
    return replace(model.choices, alpha=kept or "auto")


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows to be left out one at a time, with their classes and weights."""

    part: RowBatch
    classes: npt.NDArray[np.int32]  # (n,)
    weights: Floats | None
    one: Floats | None  # what is left out of each row: one copy of it, or all if it weighs less

    @classmethod
    def of(cls, model: Model, rows: Any, label: Any, weights: Any) -> _Rows:
        sample = sample_rows(model, rows, label, weights=weights)
        batch = sample.rows()
        if batch is None:
            raise BadData(wanted("importance", "rows that the model has learned", "none"))
        most = max(_FEWEST_ROWS, _MOST_NUMBERS // (len(_units(model)) * len(model.classes)))
        batch = batch.slice(0, min(_MOST_ROWS, most))  # in the order of content hashes: a random sample
        part = RowBatch(batch, 0, sample.schema.missing)
        codes, found = class_codes(part, sample.schema.label)
        classes = model.evidence.classes.find(found.array).astype(np.int32)[codes]
        if (classes < 0).any():
            raise BadData(wanted("importance", "rows that the model has learned", "a class that it has not"))
        weight = row_weights(part, sample.schema.weight)
        one = None if weight is None or (weight >= 1).all() else np.minimum(weight, 1.0)
        return cls(part, classes, weight, one)

    def head(self, n: int) -> _Rows:
        """Return the first n rows."""
        weights, one = (None if part is None else part[:n] for part in (self.weights, self.one))
        return _Rows(RowBatch(self.part.batch.slice(0, n), 0, self.part.missing), self.classes[:n], weights, one)


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """Leave-one-out terms of rows, unit by unit.

    `terms` (U, n, C) are of units: a column, or all columns of one bag, which share a sum.
    """

    units: list[tuple[str, ...]]
    classes: npt.NDArray[np.int32]  # (n,)
    weights: Floats | None
    prior: Floats  # (n, C)
    terms: Floats  # 0 where a class is impossible
    impossible: npt.NDArray[np.bool_] | None  # (U, n, C)
    unit_sizes: Floats  # (U, n) see Event.length
    products: Mapping[int, set[str]]  # the columns that some units are made of
    weighted: Floats | None = None  # (U, n, C) what weights add to the terms of whole rows
    bias: Floats | None = None  # (C,)
    fading: int = 1

    @classmethod
    def of(cls, model: Model, rows: _Rows) -> _LeftOut:
        units, part, classes, one = _units(model), rows.part, rows.classes, rows.one
        prior = LeftOutRows(model._viewed.select(()), part, classes, one).scores(model._resolved_choices)
        unknown = np.isneginf(prior)  # a class that only this row had
        terms, unit_sizes = np.empty((len(units), *prior.shape)), np.empty((len(units), len(prior)))
        offset, products = np.ones((len(units), 1, 1)), {}
        for u, names in enumerate(units):
            offset[u], alone = at_weight_one(model._viewed.select(names))
            if made_of := parts_of(alone.schema.blocks[0]):
                products[u] = made_of
            left = LeftOutRows(alone, part, classes, one)
            scores = left.scores(model._resolved_choices, model._token_weights)
            terms[u] = np.where(unknown, 0.0, scores - np.where(unknown, 0.0, prior))
            unit_sizes[u] = left.sizes
        impossible = np.isneginf(terms)
        terms[impossible] = 0.0
        weights = model._weights
        lost = impossible if impossible.any() else None
        left_out = cls(units, classes, rows.weights, prior, offset * terms, lost, unit_sizes, products)
        if weights is None:
            return left_out
        each = (model.evidence.select(names) for names in units)
        more = np.stack(
            [weights.corrections(estimate(one, model._resolved_choices), model.choices, one, part) for one in each]
        )
        more -= weights.bias_of(model.evidence.classes)
        more += (weights.of([name for [name] in units])[:, None, None] - offset) * terms
        return replace(left_out, weighted=more, bias=weights.bias_of(model.evidence.classes), fading=weights.fading)

    @cached_property
    def _total(self) -> tuple[Floats, npt.NDArray[np.intp] | int]:
        """The sum of finite terms, and by how many units each class is impossible."""
        lost = 0 if self.impossible is None else self.impossible.sum(axis=0)
        return self.prior + self.terms.sum(axis=0), lost

    def scores(self, without: int | None = None) -> Floats:  # (n, C)
        """Return the scores of all units, or of all but one."""
        total, lost = self._total
        gone = [] if without is None else self._with_products(without)
        for u in gone:
            total = total - self.terms[u]
            lost = lost if self.impossible is None else lost - self.impossible[u]
        if self.weighted is not None and self.bias is not None:
            more = self._more - self.weighted[gone].sum(axis=0) if gone else self._more
            columns = len(self.units) - len(self.products)
            total = total + share_of_others(self.sizes(without), columns, self.fading)[:, None] * (self.bias + more)
        return np.where(np.greater(lost, 0), -np.inf, total)

    def _with_products(self, u: int) -> list[int]:
        """Return a unit and the products that are made of it."""
        return [u, *(k for k, parts in self.products.items() if not parts.isdisjoint(self.units[u]))]

    @cached_property
    def _more(self) -> Floats:  # (n, C)
        assert self.weighted is not None
        return np.asarray(self.weighted.sum(axis=0))

    def of_unit(self, u: int) -> Floats:  # (n, C)
        """Return the terms of one unit."""
        return self.terms[u] if self.impossible is None else np.where(self.impossible[u], -np.inf, self.terms[u])

    def sizes(self, without: int | None = None) -> Floats:  # (n,)
        """Return the sizes of the rows, by which scores are tempered."""
        return np.asarray(self.unit_sizes.sum(axis=0) - (0.0 if without is None else self.unit_sizes[without]))

    def losses(self, scores: Floats, sizes: Floats, temperature: Tempering | None) -> Floats:  # (n,)
        """Return the log-loss of each row, tempered like the model's predictions."""
        scores = scores.copy() if temperature is None else scores * temperature.at(sizes)[:, None]
        log_softmax(scores)
        own = scores[np.arange(len(scores)), self.classes]
        return np.minimum(np.where(np.isnan(own), _LARGEST_LOSS, -own), _LARGEST_LOSS)

    def mean(self, values: Floats) -> tuple[float, float]:
        """Return the mean and its standard error."""
        w = np.ones(len(values)) if self.weights is None else self.weights
        mean = float((w * values).sum() / w.sum())
        spread = float((w * (values - mean) ** 2).sum() / w.sum())
        return mean, float(np.sqrt(spread / w.sum()))

    def forward(self, most: int) -> list[int]:
        """Select units greedily: add the one that lowers the loss most, while the gain exceeds its standard error.

        Losses are not tempered: a column that repeats another makes them worse, and is not selected.
        """
        scores = self.prior.copy()
        taken: list[int] = []
        now = self.losses(scores, np.zeros(len(scores)), None)
        while len(taken) < most:
            best = None
            for u in range(len(self.units)):
                if u in taken or u in self.products:
                    continue
                losses = self.losses(scores + self.of_unit(u), np.zeros(len(scores)), None)
                gain, error = self.mean(now - losses)
                if best is None or gain > best[0]:
                    best = gain, error, u, losses
            if best is None or (taken and best[0] <= best[1]):
                break
            _, _, u, now = best
            scores = scores + self.of_unit(u)
            taken.append(u)
        return taken


def _units(model: Model) -> list[tuple[str, ...]]:
    units: list[tuple[str, ...]] = []
    for block in model.schema.blocks:
        units += [tuple(block.columns)] if isinstance(block.event, BagEvent) else [(name,) for name in block.columns]
    return units
