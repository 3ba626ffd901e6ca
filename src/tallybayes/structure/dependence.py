"""Dependence between columns: the pairs that violate the naive Bayes assumption.

`dependence` counts all pairs in one pass over the rows. The frozen `Dependence` lists its `Pair`s, strongest first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes import engines, sources
from tallybayes.arguments import between_0_and_1, index_of, listed, shown, whole_number
from tallybayes.cached_property import cached_property
from tallybayes.display.number_of import number_of
from tallybayes.display.tables import Column, Grid, Result, number
from tallybayes.encoding import open_rows
from tallybayes.encoding.bins import look
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.fitting import infer_rows
from tallybayes.inference.choices import Choices
from tallybayes.schema.infer import Events, SchemaOptions
from tallybayes.schema.schema import Missing, Schema
from tallybayes.sources import MissingValues
from tallybayes.structure.information import Figures, Pair, figures
from tallybayes.structure.pairs import PairCounts

LEVEL = 0.05
BINS, VALUES = 10, 32
# Pairs printed; `worst` returns more.
_SHOWN = 10
# An interaction below this share of `given` counts as none: knowing the class hardly changes the dependence.
_ALIKE = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class Dependence(Result):
    """How far every two columns depend on each other, strongest first.

    Attributes
    ----------
    schema : Schema
        What each column is.
    counts : PairCounts
        The counts from which everything else follows; they add and subtract.
    order : ndarray, shape (P, 2)
        The positions of each pair in `columns`, strongest pair first.
    figures : Figures
        The figures of all pairs as arrays, in the same order.
    left_out : tuple of str
        Text columns, which are not tested.

    Examples
    --------
    >>> import tallybayes as tb
    >>> xor = {"a": [0, 0, 1, 1] * 10, "b": [0, 1, 0, 1] * 10, "y": [0, 1, 1, 0] * 10}
    >>> print(tb.dependence(xor, "y"))
    Dependence given 'y', in bits
    pair   given y   chance   Holm's p   overall   Holm's p   interaction   rows
    ────────────────────────────────────────────────────────────────────────────
    a, b         1   0.0526    2.6e-09         0          1             1     40
    1 of 1 pair breaks independence given 'y' (Holm-corrected p ≤ 0.05).
    'a' and 'b' together say what neither says alone (1 bit of 'y'): naive Bayes cannot learn this.
    """

    schema: Schema
    counts: PairCounts
    order: npt.NDArray[np.intp]
    figures: Figures
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: Schema, counts: PairCounts, left_out: tuple[str, ...] = ()) -> Dependence:
        """Return the result that follows from the counts."""
        found = figures(counts)
        order = np.lexsort((found.given_p, -found.given, found.chance - found.given))
        return cls(schema, counts, counts.pairs[order], found.take(order), left_out)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that were tested."""
        return self.counts.columns

    @property
    def label(self) -> str:
        """The column that holds the class."""
        return self.schema.label

    @property
    def rows(self) -> float:
        """The weight of all rows."""
        return float(self.counts.rows.sum().to_float())

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[Pair]:
        return (self._pair(k) for k in range(len(self)))

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs, strongest first."""
        return tuple(self)

    def worst(self, k: int = 5) -> tuple[Pair, ...]:
        """Return the k pairs that depend most on each other given the class."""
        return tuple(self._pair(i) for i in range(min(whole_number("k", k), len(self))))

    def pair(self, first: str, second: str) -> Pair:
        """Return the figures of two columns."""
        for name in (first, second):
            if index_of(name, self.columns) is None:
                do = did_you_mean(name, self.columns)
                raise BadOption(wanted("pair", "two columns that were tested", repr(name), do))
        if first == second:
            raise BadOption(wanted("pair", "two different columns", f"{first!r} twice"))
        places = sorted((self.columns.index(first), self.columns.index(second)))
        return self._pair(int(np.flatnonzero((self.order == places).all(axis=1))[0]))

    def dependent(self, level: float = LEVEL) -> tuple[Pair, ...]:
        """Return the pairs that break conditional independence.

        The chance of any false alarm is at most `level`.
        """
        return tuple(
            self._pair(int(k)) for k in np.flatnonzero(self.figures.given_holm <= between_0_and_1("level", level))
        )

    def learn(self, source: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Dependence:
        """Return the result with further rows, counted in the same bins."""
        return Dependence.of(self.schema, self.counts + self._counted(source, label, weights, threads), self.left_out)

    def forget(self, source: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Dependence:
        """Return the result without some of its rows."""
        return Dependence.of(self.schema, self.counts - self._counted(source, label, weights, threads), self.left_out)

    def __add__(self, other: Dependence) -> Dependence:
        if not isinstance(other, Dependence):
            return NotImplemented
        return Dependence.of(self.schema, self.counts + other.counts, self.left_out)

    def meaning(self, pair: Pair, level: float = LEVEL) -> str:
        """Return a sentence on what a pair means for naive Bayes."""
        a, b = map(repr, pair.columns)
        y = repr(self.label)
        if pair.holm > level:
            return f"{a} and {b} may well be independent given {y}: naive Bayes loses nothing by them."
        bits = f"{number(abs(pair.interaction), 3)} bit{'s' * (round(abs(pair.interaction), 3) != 1)}"
        if pair.interaction > _ALIKE * pair.given:
            return f"{a} and {b} together say what neither says alone ({bits} of {y}): naive Bayes cannot learn this."
        if pair.interaction < -_ALIKE * pair.given:
            return f"{a} and {b} say the same of {y} ({bits} twice): naive Bayes counts it twice, and is too sure."
        return f"{a} and {b} depend on each other whatever {y} is: naive Bayes takes them for two witnesses."

    def points(self, columns: Collection[str] | None = None) -> list[dict[str, Any]]:
        """Return the records that the chart draws: each pair of columns, in both orders."""
        places = range(len(self.columns)) if columns is None else [self.columns.index(name) for name in columns]
        records = []
        for k in np.flatnonzero(np.isin(self.order, list(places)).all(axis=1)):
            pair = self._pair(int(k))
            for a, b in (pair.columns, pair.columns[::-1]):
                given = {"what": "given", "bits": pair.given, "p": pair.holm}
                overall = {"what": "overall", "bits": pair.overall, "p": pair.overall_holm}
                records += [{"a": a, "b": b, "interaction": pair.interaction, **one} for one in (given, overall)]
        return records

    def chart(self, most: int = 30) -> Any:
        """Return an Altair heat map of dependence, given the class and overall.

        Parameters
        ----------
        most : int
            Maximum number of columns to draw: those of the strongest pairs.
        """
        from tallybayes.display.charts.dependence import dependence_chart

        drawn = set(list(dict.fromkeys(self.order.ravel().tolist()))[:most])
        names = [name for f, name in enumerate(self.columns) if f in drawn]
        return dependence_chart(self.points(names), names, self.label, LEVEL)

    def _columns(self) -> dict[str, Any]:
        names = ("n", "given", "chance", "p", "holm", "overall", "overall_holm", "together", "interaction")
        pairs = {f"column {k + 1}": [pair.columns[k] for pair in self.pairs] for k in range(2)}
        return pairs | {name: [getattr(pair, name) for pair in self.pairs] for name in names}

    def shown(self) -> Grid:
        """Return a table of the strongest pairs, and what they mean."""
        columns = ("given " + self.label, "chance", "Holm's p", "overall", "Holm's p", "interaction", "rows")
        shown = self.worst(_SHOWN)
        cells = tuple((", ".join(pair.columns), *_cells(pair)) for pair in shown)
        title = f"Dependence given {self.label!r}, in bits"
        return Grid(title, (Column("pair", right=False), *columns), cells, self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return self._named("label", "columns", "rows", "left_out", unit="bits", pairs=self.pairs)

    def _notes(self) -> tuple[str, ...]:
        total, broken = len(self), int((self.figures.given_holm <= LEVEL).sum())
        breaks = "breaks" if broken == 1 else "break"
        level = f"Holm-corrected p ≤ {LEVEL:g}"
        notes = [f"{broken:,} of {_pairs(total)} {breaks} independence given {self.label!r} ({level})."]
        if total > _SHOWN:
            notes.insert(0, f"and {_pairs(total - _SHOWN)} more")
        if broken:
            notes.append(self.meaning(next(pair for pair in self if pair.holm <= LEVEL)))
        if self.left_out:
            notes.append(f"Not tested, because they are text: {', '.join(self.left_out)}.")
        return tuple(notes)

    def _pair(self, k: int) -> Pair:
        a, b = self.order[k]
        return self.figures.pair(k, (self.columns[a], self.columns[b]))

    def _counted(self, source: Any, label: Any, weights: Any, threads: int | None) -> PairCounts:
        workers = engines.default_threads(threads)

        def counted(types: open_rows.Types | None) -> PairCounts:
            rows, schema = open_rows.as_in(self.schema, source, label, weights, types)
            return self.counts.count_all(schema, rows, workers)

        return open_rows.reading(counted)


def _cells(pair: Pair) -> tuple[str, ...]:
    bits = (pair.given, pair.chance, pair.overall, pair.interaction)
    given, chance, overall, interaction = (number(one).replace("-", "−") for one in bits)
    return given, chance, _p(pair.holm), overall, _p(pair.overall_holm), interaction, number(pair.n, 1)


def _p(value: float) -> str:
    return number(value) if value >= 0.001 else "0" if value == 0 else f"{value:.1e}"


def _pairs(count: int) -> str:
    return number_of(count, "pair")


def dependence(
    source: Any,
    label: Any,
    *,
    columns: Sequence[str] | None = None,
    bins: int = BINS,
    values: int = VALUES,
    events: Events = None,
    weights: Any = None,
    missing: Missing = "skip",
    missing_values: MissingValues = "auto",
    errors: str = "strict",
    threads: int | None = None,
) -> Dependence:
    """Measure how far all pairs of columns depend on each other, in one pass.

    Parameters
    ----------
    source, label, events, weights, missing, missing_values, errors
        As in `fit`.
    columns : sequence of str, optional
        The columns to test; by default all except text.
    bins : int
        Maximum number of bins for a column of numbers. Bins have about equal weight, and are fewer where rows are few
        (√(rows / 5 classes)); if a column has no more values than `bins`, each value is a bin. The edges are quantiles
        of up to 65,536 rows spread over the first batch. A column declared Bernoulli has two bins, split at its
        threshold.
    values : int
        Maximum number of slots for a categorical column: the most frequent values of the same rows, and one slot for
        all others.
    threads : int, optional
        Number of threads; the result does not depend on it.

    Examples
    --------
    >>> import tallybayes as tb
    >>> xor = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": [0, 1, 1, 0] * 5}
    >>> [pair] = tb.dependence(xor, "y").worst(1)
    >>> pair.columns, pair.given, pair.overall, pair.interaction      # bits
    (('a', 'b'), 1.0, 0.0, 1.0)
    """
    reading = sources.ReadOptions(missing_values, errors)

    def opened(types: open_rows.Types | None) -> tuple[engines.Partitioned, Schema]:
        given = SchemaOptions(events, missing)
        rows, name, weight = open_rows.labelled(source, label, weights, reading, types, columns=given)
        return rows, infer_rows(rows, name, weight, given, Choices())

    return _counted(opened, columns, bins, values, threads)


def of_schema(
    schema: Schema,
    source: Any,
    label: Any = None,
    *,
    weights: Any = None,
    columns: Sequence[str] | None = None,
    bins: int = BINS,
    values: int = VALUES,
    threads: int | None = None,
) -> Dependence:
    """Measure dependence as `dependence` does, with known column types."""

    def opened(types: open_rows.Types | None) -> tuple[engines.Partitioned, Schema]:
        return open_rows.as_in(schema, source, label, weights, types)

    return _counted(opened, columns, bins, values, threads)


def _counted(
    opened: Callable[[open_rows.Types | None], tuple[engines.Partitioned, Schema]],
    columns: Sequence[str] | None,
    bins: int,
    values: int,
    threads: int | None,
) -> Dependence:
    for name, most in (("bins", bins), ("values", values)):
        if isinstance(most, bool) or not isinstance(most, int) or not 2 <= most <= 1000:
            raise BadOption(wanted(name, "a whole number from 2 to 1000", repr(most)))
    workers = engines.default_threads(threads)

    def work(types: open_rows.Types | None) -> Dependence:
        rows, schema = opened(types)
        names, left_out = _select(schema, columns)
        slots = look(schema, names, rows.head(), bins, values)
        counts = PairCounts.empty(names, tuple(slots)).count_all(schema, rows, workers)
        if not len(counts.classes):
            raise BadData(wanted(rows.name, "rows to test", "none"))
        return Dependence.of(schema, counts, left_out)

    return open_rows.reading(work)


def _select(schema: Schema, columns: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns to test, and the text columns that are left out."""
    if isinstance(columns, str):
        raise BadOption(wanted("columns", "a list of names", repr(columns), f"Pass [{columns!r}]"))
    texts = set(schema.texts)
    columns = None if columns is None else listed("columns", columns, "a list of names")
    for name in columns or ():
        if isinstance(name, str) and name in texts:
            do = "Leave it out: words are many columns, not one"
            raise BadOption(wanted("columns", "columns of values or numbers", f"{name!r}, which is text", do))
        if index_of(name, schema.columns) is None:
            raise BadOption(wanted("columns", "columns of the rows", shown(name), did_you_mean(name, schema.columns)))
    names = schema.columns if columns is None else dict.fromkeys(columns)
    kept = tuple(name for name in names if name not in texts)
    if len(kept) < 2:
        got = f"only {kept[0]!r}" if kept else "none"
        raise BadData(wanted("dependence", "at least two columns that are not text", got))
    return kept, tuple(sorted(texts)) if columns is None else ()
