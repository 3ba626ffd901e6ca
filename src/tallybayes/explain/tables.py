"""Tables of the model: counts and probabilities, or parameters, by column and class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from tallybayes.cached_property import cached_property
from tallybayes.display.number_format import NumberFormat
from tallybayes.display.tables import Grid, Result, Sheet, number, plain
from tallybayes.errors import BadOption, did_you_mean, wanted
from tallybayes.events.inputs import Floats, as_number
from tallybayes.events.interaction import Interaction
from tallybayes.events.likelihood import Profile
from tallybayes.events.one_dependence import OneDependence
from tallybayes.explain.number_axis import NumberAxis
from tallybayes.model import Model

_SHOWN_VALUES, _SHOWN_WORDS, _SHOWN_COLUMNS = 40, 10, 50
_BITS_OF_PAIRS = "Bits that the values of two columns share in the rows of a class."
_DRAWN_VALUES = 120  # points of a curve; more would not be seen


@dataclass(frozen=True, eq=False, repr=False)
class Table(Result):
    """The table of one column: a row per value or parameter, a column per class.

    Attributes
    ----------
    column, event : str
        The column, and its event model.
    rows : tuple
        The names of the rows: values, or parameters such as "mean".
    classes : tuple
        The names of the classes.
    counts : ndarray, shape (rows, C), or None
        The weight of training rows with each value; None for parameters.
    values : ndarray, shape (rows, C)
        Probabilities, or parameters; for an interaction, how many times as probable as if its parts were independent.
    profile : Profile
        The log-probability of each value in each class: a density if the rows are parameters.
    format : NumberFormat or None
        How its numbers are written, if not plainly: as dates or times.
    axis : NumberAxis or None
        The axis of its chart, if a plain one would not do.
    """

    column: str
    event: str
    rows: tuple[Any, ...]
    classes: tuple[Any, ...]
    counts: Floats | None
    values: Floats
    profile: Profile = field(repr=False)
    format: NumberFormat | None = field(default=None, kw_only=True)
    axis: NumberAxis | None = field(default=None, kw_only=True)

    @property
    def density(self) -> Floats:  # (K, C)
        """The probability, or density, of each value of `profile` in each class."""
        return np.exp(self.profile.log)

    @cached_property
    def totals(self) -> Floats | None:  # (C,)
        """The sum of the counts of each class."""
        return None if self.counts is None else self.counts.sum(axis=0)

    def of_classes(self, keep: Sequence[Any]) -> Self:
        """Return the table of some of the classes."""
        at = [self.classes.index(name) for name in keep]
        cut: dict[str, Any] = {name: part[:, at] for name, part in self._parts().items()}
        return replace(self, classes=tuple(keep), profile=replace(self.profile, log=self.profile.log[:, at]), **cut)

    def frequent(self, most: int) -> Self:
        """Return the table of the most frequent values, in order; a table of parameters is unchanged."""
        if self.counts is None or len(self.rows) <= most or self.rows != tuple(self.profile.values):
            return self
        at = np.sort(np.argsort(-self.counts.sum(axis=1), kind="stable")[:most])
        rows = tuple(self.rows[k] for k in at)
        cut: dict[str, Any] = {name: part[at] for name, part in self._parts().items()}
        return replace(self, rows=rows, profile=replace(self.profile, values=rows, log=self.profile.log[at]), **cut)

    def _parts(self) -> dict[str, Floats]:
        """Return the arrays with a row for each value and a column for each class."""
        return {"values": self.values} | ({} if self.counts is None else {"counts": self.counts})

    def _columns(self) -> dict[str, Any]:
        parts = {"n": self.counts, "P": self.values} if self.counts is not None else {"value": self.values}
        return {"value": self.rows} | {
            f"{what}({name})": of[:, c] for what, of in parts.items() for c, name in enumerate(self.classes)
        }

    def shown(self) -> Grid | Sheet:
        """Return a table of counts and probabilities, or parameters, by class."""
        names = tuple(map(str, self.classes))
        title, more = f"{self.column} ({self.event})", len(self.rows) - _SHOWN_VALUES
        notes = (f"and {more} more",) if more > 0 else ()
        if self.counts is None:
            cells = [(str(row), *map(number, self.values[k])) for k, row in enumerate(self.rows[:_SHOWN_VALUES])]
            more_notes = (_BITS_OF_PAIRS,) if self.event == OneDependence.name else ()
            return Grid(title, ("", *names), tuple(cells), notes + more_notes)
        meaning = "× independent | {}" if self.event == Interaction.name else "P(· | {})"
        heads = ("", *(f"count {name}" for name in names), *(meaning.format(name) for name in names))
        cells = [
            (str(row), *map(number, self.counts[k]), *(f"{p:.4f}" for p in self.values[k]))
            for k, row in enumerate(self.rows[:_SHOWN_VALUES])
        ]
        return Grid(title, heads, tuple(cells), notes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return self._named("column", "event", "rows", "classes", "counts", "values")

    def points(self) -> list[dict[str, Any]]:
        """Return the records that the chart draws: one for each value and class."""
        density, format_ = self.density, self.format
        if self.axis is not None:
            density = density * self.axis.stretch(np.asarray(self.profile.values, np.float64))[:, None]
        words = [{} if format_ is None else {"label": format_.text(as_number(value))} for value in self.profile.values]
        return [
            {"value": plain(value), "class": str(name), "probability": plain(density[k, c]), **words[k]}
            for k, value in enumerate(self.profile.values)
            for c, name in enumerate(self.classes)
        ]

    def chart(self) -> Any:
        """Return an Altair chart: a bar for each value and class, or a curve for each class."""
        from tallybayes.display.charts.column import column_chart

        names, format_ = list(map(str, self.classes)), self.format
        return column_chart(self.points(), self.column, names, self.profile.kind, format_=format_)


class TopWord(NamedTuple):
    """A word that raises the probability of a class."""

    word: str
    # the log-odds of one occurrence for the class, against the average of the others (weighted by their priors)
    log_odds: float
    # counts, documents: the number of occurrences and of texts in each class
    counts: tuple[float, ...]
    documents: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class WordTable(Table):
    """The table of a text column: a row per word.

    Attributes
    ----------
    documents : ndarray, shape (rows, C)
        The number of texts of each class in which each word occurred.
    log_odds : ndarray, shape (rows, C)
        The log-odds of one occurrence for each class, against the average of the others (weighted by their priors).
    """

    documents: Floats
    log_odds: Floats

    def _parts(self) -> dict[str, Floats]:
        return super()._parts() | {"documents": self.documents, "log_odds": self.log_odds}

    def top_words(self, most: int = _SHOWN_WORDS) -> dict[Any, list[TopWord]]:
        """Return the words with the highest log-odds for each class.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit(["cheap pills", "cheap cheap watches", "lunch today"], ["spam", "spam", "ham"])
        >>> [word.word for word in model.table("text").top_words(1)["spam"]]
        ['cheap']
        """
        assert self.counts is not None
        found = {}
        for c, name in enumerate(self.classes):
            best = np.argsort(-self.log_odds[:, c], kind="stable")[:most]
            best = best[self.log_odds[best, c] > 0]
            found[name] = [
                TopWord(
                    self.rows[k],
                    float(self.log_odds[k, c]),
                    tuple(self.counts[k].tolist()),
                    tuple(self.documents[k].tolist()),
                )
                for k in best
            ]
        return found

    def shown(self) -> Sheet:
        """Return tables of the most telling words of each class."""
        grids = tuple(
            Grid(
                f"for {name}",
                ("word", "log-odds", *(f"in {other}" for other in self.classes[:4]), "texts"),
                tuple(
                    (w.word, f"{w.log_odds:.2f}", *map(number, w.counts[:4]), number(sum(w.documents))) for w in words
                ),
            )
            for name, words in self.top_words().items()
        )
        return Sheet(f"{self.column} ({self.event}): {len(self.rows)} words, the most telling", grids)

    def points(self) -> list[dict[str, Any]]:
        """Return the records that the chart draws: the most telling words of each class."""
        return [
            {"class": str(name), "word": word.word, "log-odds": plain(word.log_odds), "texts": sum(word.documents)}
            for name, words in self.top_words(15).items()
            for word in words
        ]

    def chart(self) -> Any:
        """Return an Altair chart of the most telling words of each class."""
        from tallybayes.display.charts.column import words_chart

        return words_chart(self.points(), self.column, list(map(str, self.classes)))


@dataclass(frozen=True, eq=False, repr=False)
class Prior(Result):
    """The class prior.

    Attributes
    ----------
    label : str
        The column that the model predicts.
    classes : tuple
        Its classes.
    rows : ndarray, shape (C,)
        The weight of each class in training.
    shares : ndarray, shape (C,)
        The prior probability of each class.
    """

    label: str
    classes: tuple[Any, ...]
    rows: Floats
    shares: Floats

    def _columns(self) -> dict[str, Any]:
        return {"class": list(map(str, self.classes)), "rows": self.rows, "P": self.shares}

    def shown(self) -> Grid:
        """Return a table with one row per class."""
        cells = zip(self.classes, self.rows, self.shares, strict=True)
        rows = tuple((str(name), number(n), f"{p:.4f}") for name, n, p in cells)
        return Grid(self.label, ("", "rows", "P"), rows)


@dataclass(frozen=True, eq=False, repr=False)
class Tables(Result):
    """The prior and the tables of all columns."""

    prior: Prior
    columns: tuple[Table, ...]

    def __getitem__(self, column: str) -> Table:
        for one in self.columns:
            if one.column == column:
                return one
        names = [one.column for one in self.columns]
        raise BadOption(wanted("column", "a column of the model", repr(column), did_you_mean(column, names)))

    def _columns(self) -> dict[str, Any]:
        lines = [
            (one.column, value, str(name), None if one.counts is None else one.counts[k, c], one.values[k, c])
            for one in self.columns
            for k, value in enumerate(one.rows)
            for c, name in enumerate(one.classes)
        ]
        names = ("column", "value", "class", "n", "P")
        return dict(zip(names, zip(*lines, strict=True) if lines else ((),) * 5, strict=True))

    def shown(self) -> Sheet:
        """Return all tables, one below the other."""
        grids: list[Grid] = [self.prior.shown()]
        for one in self.columns[:_SHOWN_COLUMNS]:
            shown = one.shown()
            grids += [shown] if isinstance(shown, Grid) else list(shown.grids)
        more = len(self.columns) - _SHOWN_COLUMNS
        return Sheet("", tuple(grids), (f"and {more} more columns",) if more > 0 else ())


def table(
    model: Model, column: str, within: tuple[float, float] | None = None, axis: NumberAxis | None = None
) -> Table:
    """Return the table of one column; its density is drawn within a range or on an axis, if given."""
    b, f = model.schema.place(column)
    event, likelihood = model.schema.blocks[b].event, model.belief.likelihoods[b]
    rows, counts, values = likelihood.table(f)
    profile = likelihood.profile(f)
    axis = axis if profile.kind == "numbers" else None
    if axis is not None:
        profile = likelihood.profile(f, axis.points())
    elif within is not None and profile.kind in ("numbers", "counts"):
        profile = likelihood.profile(f, _inside(profile, *within))
    if profile.kind != "words":
        format_ = model.schema.number_format(column)
        rows = rows if format_ is None else tuple(format_.of_range(str(row)) for row in rows)
        return Table(column, event.name, rows, model.classes, counts, values, profile, format=format_, axis=axis)
    statistic = likelihood.statistic
    place = statistic.values_of(f)[statistic.labels[f].find(pa.array(profile.values, pa.string()))]
    documents = statistic.sums["documents"].take(place, axis=1).to_float().T
    odds = _odds_against_others(profile.log, np.exp(model.belief.log_prior))
    return WordTable(column, event.name, rows, model.classes, counts, values, profile, documents, odds)


def _inside(profile: Profile, low: float, high: float) -> tuple[float, ...]:
    """Return the values of a profile within a range, with its ends; more of them if few are left."""
    values = list(map(as_number, profile.values))
    if profile.kind == "counts":
        return tuple(int(value) for value in values if low <= value <= high) or (int(low),)
    inside = {low, high, *(value for value in values if low < value < high)}
    more = np.linspace(low, high, _DRAWN_VALUES).tolist() if len(inside) < _DRAWN_VALUES // 2 else ()
    return tuple(sorted(inside.union(more)))


def _odds_against_others(log: Floats, prior: Floats) -> Floats:  # (K, C)
    """Return each class's log-probabilities minus the others' average, weighted by their priors."""
    finite = np.where(np.isneginf(log), np.log(np.finfo(float).tiny), log)
    whole = (finite * prior).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = (whole - finite * prior) / (1 - prior)
    return np.asarray(finite - np.where(prior < 1, others, 0.0))


def prior_table(model: Model) -> Prior:
    """Return the class prior."""
    rows, shares = model.evidence.rows.to_float(), np.exp(model.belief.log_prior)
    return Prior(model.schema.label, model.classes, rows, shares)


def tables(model: Model) -> Tables:
    """Return the prior and the tables of all columns."""
    return Tables(prior_table(model), tuple(table(model, name) for name in model.schema.terms))
