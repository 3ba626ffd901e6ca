"""A nomogram: points per value, and a scale from the sum of points to a probability.

Points are log-odds of one class against another, shifted so that the lowest of a column is 0 and scaled so that the
column with the widest span reaches 100. Nothing is rounded: the sum of points gives the probability of
`predict_proba`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import expit, logit

from tallybayes.cached_property import cached_property
from tallybayes.display.number_format import NumberFormat
from tallybayes.display.tables import Grid, Result, Sheet, number
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.families.bag import BagEvent
from tallybayes.events.inputs import Floats
from tallybayes.events.options import is_finite, shown
from tallybayes.events.product import Product
from tallybayes.explain.contrast import ClassContrast
from tallybayes.explain.number_axis import NumberAxis
from tallybayes.inference.estimate import Belief
from tallybayes.inference.weights import share_of_others
from tallybayes.model import Model

# Values of a density are shown if their density is at least this share of the highest in either class.
_RARE = 0.01
_TICKS, _WORDS, _SHOWN = 9, 12, 15
_ENDS = 50  # values with the most points, and with the fewest, in a table: nobody adds up others by hand
_FEWEST = 3  # powers of ten that make a scale
_LARGE = 1e5  # numbers from here on are easier to read with separators
# Characters that fit along the longest line of the chart, and marks side by side in the room of one.
_LETTERS, _MARKS = 90, 4
_PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True, eq=False)
class Scale:
    """The points of one column."""

    column: str
    # all values; some values of a scale; counts; or the words with the largest log-odds, whose points all add up
    kind: str
    values: tuple[Any, ...]  # the values (K,)
    points: Floats  # (K,): the points of each value
    missing: float  # the points of a missing value
    format: NumberFormat | None = None  # how its values are written, if not plainly

    @property
    def labels(self) -> tuple[str, ...]:
        """The values in words."""
        return tuple(_cell(value) if self.format is None else self.format.text(value) for value in self.values)

    def reach(self, sign: float) -> float:
        """Return the most points of one row in the direction of `sign`; only words add up."""
        points = np.maximum(sign * self.points, 0.0)
        return float(points.sum() if self.kind == "words" else points.max(initial=0.0))

    def ends(self, most: int) -> list[int]:
        """Return the places of the values with the fewest and the most points, in order; all if they are not more."""
        order = np.argsort(self.points, kind="stable")
        return sorted(order.tolist() if len(order) <= 2 * most else [*order[:most].tolist(), *order[-most:].tolist()])

    @property
    def span(self) -> float:
        """The range of the points, including 0, the points of an absent word."""
        return float(np.ptp([0.0, *self.points]))


@dataclass(frozen=True, eq=False, repr=False)
class Nomogram(Result):
    """Points per column and value, and the scale from their sum to a probability.

    Attributes
    ----------
    of, against : object
        The class whose probability is given, and the other.
    scales : tuple of Scale
        One per column, the widest first.
    start : float
        The log-odds of 0 points, before a temperature is applied.
    per_point : float
        The rise of the log-odds per point.
    """

    of: Any
    against: Any
    scales: tuple[Scale, ...]
    start: float
    per_point: float
    _odds: _Odds = field(repr=False)
    _least: Mapping[str, float] = field(repr=False)

    def points(self, column: str, value: Any) -> float:
        """Return the points of a value, on the scale or not; None is missing.

        A text gets the sum of its words.

        Examples
        --------
        >>> import tallybayes as tb
        >>> chart = tb.fit({"x": list("ppqq"), "y": ["no", "no", "yes", "yes"]}, "y").nomogram()
        >>> chart.points("x", "q"), chart.points("x", "p"), chart.points("x", None)
        (100.0, 0.0, 50.0)
        """
        if not isinstance(value, Hashable):
            raise BadOption(wanted(f"column {column!r}", "one value", shown(value)))
        log_odds = self._odds.of_missing(column) if _is_missing(value) else self._odds.of_value(column, value)
        return (log_odds - self._least[column]) / self.per_point

    def total(self, row: Mapping[str, Any]) -> float:
        """Return the points of a row; columns not named are missing.

        The points of a whole row are the sum of its values' points. In a row with missing columns the weights of the
        others change, and so do their points.
        """
        for name in row:
            self._odds.check(name)
        given = {name: value for name, value in row.items() if not _is_missing(value)}
        values = given | self._odds.cells(given)
        whole = sum(self.points(column, values.get(column)) for column in self._least)
        if len(given) == len(self._odds.model.schema.columns):
            return whole
        odds = self._odds.of_part(values, len(given), self.start + self.per_point * whole)
        return (odds - self.start) / self.per_point

    def size(self, row: Mapping[str, Any]) -> float:
        """Return the size of a row, by which log-odds are tempered: its values, and words of texts."""
        return sum(self._odds.size_of(name, value) for name, value in row.items() if not _is_missing(value))

    def probability(self, total: float, size: float | None = None) -> float:
        """Return the probability for a sum of points; `size` is that of the row, by default the number of columns."""
        if not is_finite(total) or not (size is None or is_finite(size)):
            raise BadOption(wanted("probability", "a number of points, and one of values", shown((total, size))))
        return float(expit(self._odds.tempered(self.start + self.per_point * total, size)))

    def points_of(self, probability: float) -> float:
        """Return the sum of points for a probability."""
        return float((logit(probability) / self._odds.tempered(1.0, None) - self.start) / self.per_point)

    @property
    def most(self) -> float:
        """The highest possible sum of points; texts count all words shown for the class."""
        return float(sum(scale.reach(1.0) for scale in self.scales))

    @property
    def fewest(self) -> float:
        """The lowest possible sum of points."""
        return -float(sum(scale.reach(-1.0) for scale in self.scales))

    def _columns(self) -> dict[str, Any]:
        shown = ((one, one.values if one.format is None else one.labels) for one in self.scales)
        lines = [(one.column, v, p) for one, values in shown for v, p in zip(values, one.points, strict=True)]
        return dict(zip(("column", "value", "points"), zip(*lines, strict=True) if lines else ((),) * 3, strict=True))

    def shown(self) -> Sheet:
        """Return tables of points per value, and of probabilities per sum of points."""
        rows = []
        for scale in self.scales[:_SHOWN]:
            labels, ends = scale.labels, scale.ends(_ENDS)
            for k, at in enumerate(ends):
                rows.append((scale.column if k == 0 else "", labels[at], number(scale.points[at], 1)))
            if len(ends) < len(labels):
                rows.append(("", f"and {len(labels) - len(ends):,} more values between", ""))
        ticks = self.probabilities()
        below = tuple((number(tick["points"], 1), f"{tick['probability']:g}") for tick in ticks)
        other = len(self.scales) - _SHOWN
        notes = (f"and {other} more columns, with fewer points",) if other > 0 else ()
        return Sheet(
            f"Points for {self.of} against {self.against}",
            (
                Grid("", ("column", "value", "points"), tuple(rows), notes),
                Grid("Added up, they stand for", ("points", f"P({self.of})"), below),
            ),
        )

    def probabilities(self) -> list[dict[str, float]]:
        """Return round probabilities and their points, within the range of points."""
        low = self.fewest
        found = [{"probability": p, "points": self.points_of(p)} for p in _PROBABILITIES]
        inside = [tick for tick in found if low <= tick["points"] <= self.most]
        return inside or [
            {"probability": self.probability(total), "points": total}
            for total in (low, (low + self.most) / 2, self.most)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the scales, and the numbers that turn points into a probability."""
        return self._named("of", "against", "scales", "start", "per_point", probabilities=self.probabilities())

    def chart(self) -> Any:
        """Return an Altair chart: a line of points per column, and the scale of the sum."""
        from tallybayes.display.charts.nomogram import nomogram_chart

        shown = self.scales[:_SHOWN]
        ends = [float(end) for scale in shown if len(scale.points) for end in (scale.points.min(), scale.points.max())]
        room = (max(ends) - min(ends)) / _LETTERS if ends else 0.0
        ticks = [tick for scale in shown for tick in _ticks(scale, room)]
        title = f"{self.of} against {self.against}"
        return nomogram_chart(ticks, self.probabilities(), title, str(self.of))


@dataclass(frozen=True)
class _Odds:
    """Log-odds of one class against another, value by value."""

    model: Model
    of: int
    against: int

    def check(self, column: str) -> None:
        self.model.schema.place(column)

    @property
    def plain(self) -> Belief:
        """The belief of rows of one column, with the weights of tokens, if the model has them."""
        return self.model._token_belief

    @cached_property
    def belief(self) -> Belief:
        """The belief of whole rows: with the weights of columns, if the model has them."""
        weights = self.model._weights
        return (
            self.plain if weights is None else weights.apply(self.plain, self.model.schema, self.model.evidence.classes)
        )

    def of_value(self, column: str, value: Any, belief: Belief | None = None) -> float:
        b, f = self.model.schema.place(column)
        try:
            terms = (belief or self.belief).likelihoods[b].of_cell(f, value)[0]
        except (TypeError, ValueError, ArithmeticError):
            raise BadOption(wanted(f"column {column!r}", "a value of its kind", shown(value))) from None
        return float(self.difference(terms[None, :])[0])

    def of_missing(self, column: str) -> float:
        b, f = self.model.schema.place(column)
        return float(self.difference(self.belief.likelihoods[b].missing_term(f)[None, :])[0])

    def cells(self, given: Mapping[str, Any]) -> dict[str, Hashable]:
        """Return the values of the products whose parts are all given."""
        schema, cells = self.model.schema, {}
        if not schema.products or not given:
            return {}
        rows = RowBatch(pa.RecordBatch.from_pylist([dict(given)]), 0, schema.missing, partial=True)
        for block in schema.products:
            value = block.event.value(rows.encode(block)) if isinstance(block.event, Product) else None
            if value is not None:
                cells[block.columns[0]] = value
        return cells

    def of_part(self, values: Mapping[str, Any], columns: int, whole: float) -> float:
        """Return the log-odds of a row that has some columns, given what whole rows' weights make of it."""
        plain = self.plain
        if self.belief is plain:
            return whole
        odds = float(self.difference(plain.log_prior[None, :])[0])
        odds += sum(self.of_value(name, value, plain) for name, value in values.items())
        fading = 1 if self.model._weights is None else self.model._weights.fading
        share = float(share_of_others(np.array([float(columns)]), len(self.model.schema.columns), fading)[0])
        return (1 - share) * odds + share * whole

    def difference(self, log: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # impossible under both: NaN, which cannot be drawn
            return np.asarray(log[:, self.of] - log[:, self.against])

    def size_of(self, column: str, value: Any) -> float:
        b, f = self.model.schema.place(column)
        return self.plain.likelihoods[b].of_cell(f, value)[1]

    def tempered(self, log_odds: float, size: float | None) -> float:
        temperature = self.model._calibrated_belief.temperature
        if temperature is None:
            return log_odds
        size = float(len(self.model.schema.columns)) if size is None else size
        return log_odds * float(temperature.at(np.array([size]))[0])


def nomogram(
    model: Model,
    of: Any,
    against: Any,
    observed: Mapping[str, tuple[float, float]] | None = None,
    axes: Mapping[str, NumberAxis] | None = None,
) -> Nomogram:
    """Return a nomogram of one class against another: see `Model.nomogram`.

    Scales of numbers stay within the observed ranges, where given, and have the values of a logarithmic axis.
    """
    if any(isinstance(block.event, Product) and block.event.partial for block in model.schema.products):
        want, do = "a score that is a sum of scales", "Fit with structure 'pairs' or 'tan'"
        raise BadOption(wanted("nomogram", want, "structure 'aode', a mean over parents", do))
    question = ClassContrast.about(of, against, model.classes)
    if len(model.classes) > 2 and (question.of is None or question.against is None):
        want = "two of the model's classes, as in nomogram('a', 'b')"
        raise BadOption(wanted("nomogram", want, f"a model of {len(model.classes)}", "Name both"))
    one = question.of if question.of is not None else len(model.classes) - 1 - (question.against == 1)
    odds = _Odds(model, one, 1 - one if question.against is None else question.against)
    least, raw, start = {}, [], odds.difference(odds.belief.log_prior[None, :])[0].item()
    for name in model.schema.terms:
        kind, values, log_odds, low = _column_odds(odds, name, (observed or {}).get(name), (axes or {}).get(name))
        if not np.isfinite(log_odds).all():
            got = f"a value of {name!r} that is impossible under one of them"
            raise BadData(wanted("nomogram", "values possible under both classes", got, "Smooth (alpha above 0)"))
        least[name] = low
        start += low
        raw.append((name, kind, values, log_odds if kind == "words" else log_odds - low))
    width = max((float(np.ptp([0.0, *log_odds])) for *_, log_odds in raw), default=0.0)
    per_point = width / 100 if width > 0 else 1.0
    scales = [
        Scale(name, kind, values, shifted / per_point, -least[name] / per_point, model.schema.number_format(name))
        for name, kind, values, shifted in raw
    ]
    ordered = tuple(sorted(scales, key=lambda scale: -scale.span))
    return Nomogram(model.classes[one], model.classes[odds.against], ordered, start, per_point, odds, least)


def _column_odds(
    odds: _Odds, column: str, observed: tuple[float, float] | None, axis: NumberAxis | None
) -> tuple[str, tuple[Any, ...], Floats, float]:
    """Return the kind of a column, values to show, their log-odds, and the shift that makes points start at 0."""
    model = odds.model
    b, f = model.schema.place(column)
    event, likelihood, plain = model.schema.blocks[b].event, odds.belief.likelihoods[b], odds.plain
    profile = plain.likelihoods[b].profile(f)
    weighted = profile if odds.belief is plain else likelihood.profile(f, profile.values)
    log_odds = odds.difference(weighted.log)
    if profile.base is not None:
        base = odds.difference(profile.base[None, :])[0].item()
        order = np.argsort(-log_odds, kind="stable")
        best = order if len(order) <= _WORDS else np.concatenate([order[: _WORDS // 2], order[-_WORDS // 2 :]])
        return "words", tuple(profile.values[k] for k in best), log_odds[best], base
    if isinstance(event, BagEvent):
        return "counts", tuple(profile.values), log_odds, 0.0
    if profile.kind == "values":
        return "values", tuple(profile.values), log_odds, float(log_odds.min(initial=0.0))
    both = profile.log[:, [odds.of, odds.against]]
    likely = np.flatnonzero(both.max(axis=1) >= both.max() + np.log(_RARE))
    low, high = float(profile.values[likely[0]]), float(profile.values[likely[-1]])
    if observed is not None:
        low, high = min(max(low, observed[0]), observed[1]), max(min(high, observed[1]), observed[0])
    format_ = model.schema.number_format(column)
    whole = profile.kind == "counts"
    values: tuple[Any, ...] = _on_axis(axis, whole=whole)
    if format_ is not None and high > low:
        values = format_.ticks(low, high, _TICKS)
    elif len(values) < _FEWEST:
        values = _round_values(low, high, whole=whole)
    log_odds = odds.difference(likelihood.profile(f, values).log)
    return profile.kind, values, log_odds, float(log_odds.min())


def _on_axis(axis: NumberAxis | None, *, whole: bool) -> tuple[Any, ...]:
    """Return the powers of ten that a logarithmic axis shows, and its most frequent number; none of a plain axis."""
    if axis is None or not axis.constant:
        return ()
    ticks = sorted({*axis.ticks(), *([] if axis.spike is None else [axis.spike])})
    return tuple(int(tick) if whole else tick for tick in ticks if not whole or tick == int(tick))


def _round_values(low: float, high: float, *, whole: bool) -> tuple[Any, ...]:
    """Return some round numbers from low to high."""
    if not high > low:
        return (low,)
    step = 10.0 ** np.floor(np.log10((high - low) / _TICKS))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= _TICKS)
    step = max(step, 1.0) if whole else step
    digits = max(0, int(np.ceil(-np.log10(step))))
    ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    return tuple(int(tick) if whole else round(float(tick), digits) + 0.0 for tick in ticks) or (low, high)


def _ticks(scale: Scale, room: float) -> list[dict[str, Any]]:
    """Return a record per value; neighbours are labelled on alternate sides where there is room.

    Of more values than the line has room for, those without a label that would cover another are left out.
    """
    free, last = [-np.inf, -np.inf], -np.inf  # the end of the last label on each side, and the last points
    ticks: list[dict[str, Any]] = []
    names = scale.labels
    apart = room / _MARKS if len(names) > _LETTERS * _MARKS else 0.0
    for k in np.argsort(scale.points, kind="stable").tolist():
        name, points, side = names[k], float(scale.points[k]), len(ticks) % 2
        half = (len(name) + 1) / 2 * room
        fits = points - half >= free[side]
        if not fits and points - last < apart:
            continue
        free[side], last = points + half if fits else free[side], points
        label = name if fits else ""
        ticks.append({"column": scale.column, "value": name, "points": points, "side": side, "label": label})
    return ticks


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _cell(value: Any) -> str:
    if isinstance(value, float) and abs(value) >= _LARGE and value == round(value):
        return f"{value:,.0f}"
    return f"{value:g}" if isinstance(value, float) else str(value)
