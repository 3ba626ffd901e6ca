"""`ReportData`: the contents of a report, made of results of other packages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tallybayes.display.tables import Column, Grid, Result, Sheet
from tallybayes.drift.result import Drift
from tallybayes.explain.histograms import Histogram
from tallybayes.explain.importance import Importance
from tallybayes.explain.nomogram import Nomogram
from tallybayes.explain.tables import Prior, Table
from tallybayes.explain.weight_table import WeightTable
from tallybayes.reporting.columns import ColumnFacts, Remark
from tallybayes.reporting.distributions import Distribution
from tallybayes.reporting.duplicates import Duplicates
from tallybayes.reporting.leaks import Leak
from tallybayes.reporting.missing import MissingPattern
from tallybayes.reporting.mistakes import Mistake
from tallybayes.reporting.performance import Performance
from tallybayes.structure.dependence import Dependence
from tallybayes.validation import LearningCurve


@dataclass(frozen=True)
class Origin:
    """The data needed to reproduce a report."""

    source: str  # the name of the rows
    command: str  # the command or call that made the report
    version: str  # the version of tallybayes
    seed: int  # the seed of folds and samples
    hashes: dict[str, str]  # the SHA-256 of each file that was read
    options: dict[str, str]  # the options of `fit` that were set


@dataclass(frozen=True, eq=False, repr=False)
class BeforeModelling(Result):
    """What a sample of the rows looks like, before any model.

    Attributes
    ----------
    rows : int
        The number of rows of the sample.
    facts : tuple of ColumnFacts
        Facts about each column.
    distributions : tuple of Distribution
        The values of each of these columns, by class.
    missing : MissingPattern
        The columns that are missing together.
    duplicates : Duplicates
        Rows that repeat or contradict others, of all rows.
    leaks : tuple of Leak
        Columns that alone tell one class from all others.
    """

    rows: int
    facts: tuple[ColumnFacts, ...]
    distributions: tuple[Distribution, ...]
    missing: MissingPattern
    duplicates: Duplicates
    leaks: tuple[Leak, ...]

    def shown(self) -> Sheet:
        """Return tables of the columns, and of what is missing together."""
        heads = ("column", Column("values", right=False), "missing", "distinct")
        facts = tuple((one.name, one.kind, f"{one.missing:,}", f"{one.distinct:,}") for one in self.facts)
        missing = (self.missing.shown(),) if self.missing.patterns else ()
        return Sheet("", (Grid("", heads, facts), *missing))


@dataclass(frozen=True, eq=False, repr=False)
class ReportData(Result):
    """The contents of a report.

    Attributes
    ----------
    label : str
        The column that the model predicts.
    rows, columns : int
        The number of rows that were read, and of columns that the model has.
    before : BeforeModelling
        What the rows look like: facts about each column, or about the most important ones of a wide table.
    remarks : tuple of Remark
        Warnings that a reader should know before trusting the figures.
    prior : Prior
        The classes, and the number of rows of each.
    answer : Performance
        The quality of the model on rows that it has not seen.
    learning : LearningCurve or None
        Accuracy and log-loss against the number of rows; None if there are too few rows.
    tables : tuple of Table
        The distribution of each column in each class, most important columns first.
    histograms : dict of str to Histogram
        Histograms of the numeric columns among these.
    importance : Importance
        The importance of each column.
    weights : WeightTable or None
        The weights of columns that calibration fitted; None for a text or without calibration.
    dependence : Dependence or None
        The dependence of each pair of columns; None if fewer than two columns are not text.
    nomogram : Nomogram or None
        Points to add up; None if a value is impossible under one of the classes.
    drift : Drift or None
        What has changed in new rows; None if none were given.
    mistakes : tuple of Mistake
        The worst mistakes, explained.
    origin : Origin
        The data needed to reproduce the report.
    left_out : tuple of str
        Sentences about content that was omitted to keep the page readable.
    """

    label: str
    rows: int
    columns: int
    before: BeforeModelling
    remarks: tuple[Remark, ...]
    prior: Prior
    answer: Performance
    learning: LearningCurve | None
    tables: tuple[Table, ...]
    histograms: dict[str, Histogram]
    importance: Importance
    weights: WeightTable | None
    dependence: Dependence | None
    nomogram: Nomogram | None
    drift: Drift | None
    mistakes: tuple[Mistake, ...]
    origin: Origin
    left_out: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[ColumnFacts, ...]:
        """Facts about each column, or about the most important ones of a wide table."""
        return self.before.facts

    def to_html(self) -> str:
        """Return the report as one HTML page that needs no network and no other file."""
        from tallybayes.reporting.page import page

        return page(self)

    def _columns(self) -> dict[str, Any]:
        names = ("name", "value", "low", "high", "deviation", "plain")
        return {name: [getattr(one, name) for one in self.answer.figures] for name in names}

    def shown(self) -> Sheet:
        """Return tables of the figures, the classes and the remarks."""
        remarks = tuple((one.kind, one.column, one.sentence) for one in self.remarks)
        heads = ("remark", Column("column", right=False), Column("", right=False))
        grids = (self.answer.shown(), self.prior.shown(), *((Grid("", heads, remarks),) if remarks else ()))
        return Sheet(f"Report on {self.label!r}: {self.rows:,} rows, {self.columns:,} columns", grids, self.left_out)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `json.dumps`."""
        facts = self._named(
            "label", "rows", "columns", "facts", "before", "remarks", classes=self.prior, answer=self.answer
        )
        facts |= self._named(learning_curve=self.learning)
        return facts | self._named(
            "tables",
            "histograms",
            "importance",
            "weights",
            "dependence",
            "nomogram",
            "drift",
            "mistakes",
            "origin",
            "left_out",
        )
