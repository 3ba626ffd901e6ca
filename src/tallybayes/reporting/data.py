"""`ReportData`: everything that a report says, as numbers made of results that exist."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tallybayes.display.tables import Column, Grid, Result, Sheet, plain
from tallybayes.explain.histograms import Histogram
from tallybayes.explain.importance import Importance
from tallybayes.explain.nomogram import Nomogram
from tallybayes.explain.tables import Prior, Table
from tallybayes.reporting.columns import ColumnFacts, Remark
from tallybayes.reporting.mistakes import Mistake
from tallybayes.reporting.performance import Answer
from tallybayes.structure.dependence import Dependence
from tallybayes.validation import LearningCurve

__all__ = ["Origin", "ReportData"]


@dataclass(frozen=True)
class Origin:
    """How to reproduce a report.

    Attributes
    ----------
    source : str
        What the rows are called.
    command : str
        What was called.
    version : str
        That of tallybayes.
    seed : int
        What was drawn with.
    hashes : dict of str to str
        The SHA-256 of each file that was read.
    options : dict of str to str
        The options of `fit` that were given.
    """

    source: str
    command: str
    version: str
    seed: int
    hashes: dict[str, str]
    options: dict[str, str]


@dataclass(frozen=True, eq=False)
class ReportData(Result):
    """What a report says.

    Attributes
    ----------
    label : str
        What the model tells.
    rows, columns : int
        How many rows were read, and how many columns the model has.
    facts : tuple of ColumnFacts
        What each column is; of a wide table, of the first ones.
    remarks : tuple of Remark
        What a reader should know before believing the figures.
    prior : Prior
        The classes, and how many rows each has.
    answer : Answer
        How good the model is on rows that it has not seen.
    learning : LearningCurve or None
        Accuracy and log-loss as rows grow; None where there are too few rows.
    tables : tuple of Table
        What each column says, those that matter most first.
    histograms : dict of str to Histogram
        How those columns that are numbers are spread.
    importance : Importance
        How much each column matters.
    dependence : Dependence or None
        Which columns depend on each other; None where fewer than two columns are not text.
    nomogram : Nomogram or None
        Points to add up; None where a value is impossible under one of the classes.
    mistakes : tuple of Mistake
        The worst mistakes, explained.
    origin : Origin
        How to reproduce it.
    left_out : tuple of str
        What was left out for the page to stay readable, in sentences.
    """

    label: str
    rows: int
    columns: int
    facts: tuple[ColumnFacts, ...]
    remarks: tuple[Remark, ...]
    prior: Prior
    answer: Answer
    learning: LearningCurve | None
    tables: tuple[Table, ...]
    histograms: dict[str, Histogram]
    importance: Importance
    dependence: Dependence | None
    nomogram: Nomogram | None
    mistakes: tuple[Mistake, ...]
    origin: Origin
    left_out: tuple[str, ...] = ()

    def to_html(self) -> str:
        """The report as one page that needs nothing else: no network, no other file."""
        from tallybayes.reporting.page import page

        return page(self)

    def shown(self) -> Sheet:
        """The answer, the classes and the remarks."""
        remarks = tuple((one.kind, one.column, one.sentence) for one in self.remarks)
        heads = ("remark", Column("column", right=False), Column("", right=False))
        grids = (self.answer.shown(), self.prior.shown(), *((Grid("", heads, remarks),) if remarks else ()))
        return Sheet(f"Report on {self.label!r}: {self.rows:,} rows, {self.columns:,} columns", grids, self.left_out)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `json.dumps` takes."""
        return dict(
            plain(
                {
                    "label": self.label,
                    "rows": self.rows,
                    "columns": self.columns,
                    "facts": [one.to_dict() for one in self.facts],
                    "remarks": [asdict(one) for one in self.remarks],
                    "classes": self.prior,
                    "answer": self.answer,
                    "learning_curve": self.learning,
                    "tables": list(self.tables),
                    "histograms": dict(self.histograms),
                    "importance": self.importance,
                    "dependence": self.dependence,
                    "nomogram": self.nomogram,
                    "mistakes": list(self.mistakes),
                    "origin": asdict(self.origin),
                    "left_out": self.left_out,
                }
            )
        )

    def __repr__(self) -> str:
        return f"<ReportData of {self.label!r}: {self.rows:,} rows, accuracy {self.answer['accuracy'].value:.4f}>"
