"""`side_by_side`: report on two models and the same rows: which is better, by how much, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes.arguments import instance, text, whole_number
from tallybayes.display.progress import parts
from tallybayes.display.tables import Column, Grid, Result, Sheet, number
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.inputs import Floats
from tallybayes.explain.importance import importance
from tallybayes.explain.weight_table import weight_table
from tallybayes.fitting import FitOptions
from tallybayes.model import Model
from tallybayes.reporting.build import answer_of, case_of, scan_rows
from tallybayes.reporting.data import Origin
from tallybayes.reporting.origin import origin_of
from tallybayes.reporting.performance import Performance

_LISTED = 60  # columns in the table: more would not be read
_NEARLY = 2.0  # standard errors; a smaller difference may be chance


class Agreement(NamedTuple):
    """How many rows both models, one of them, or neither predicts rightly."""

    both: int
    first: int
    second: int
    neither: int


class ColumnPair(NamedTuple):
    """What each model makes of a column; None where it does not have it."""

    column: str
    # events, bits, weights: of the first and of the second model
    events: tuple[str | None, str | None]
    bits: tuple[float | None, float | None]
    weights: tuple[float | None, float | None]


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Result):
    """Two models, judged on the same rows.

    Attributes
    ----------
    label : str
        The column that the models predict.
    rows : int
        The number of rows that both were judged on.
    names : tuple of str
        What the two models are called.
    answers : tuple of Performance
        The quality of each.
    difference, error : float
        By how much the log-loss of the second exceeds that of the first, a row on average, and its standard error.
    agreement : Agreement
        How many rows both, one or neither predicts rightly.
    options : tuple of (str, str, str)
        The choices in which they differ: name, and value of each model.
    columns : tuple of ColumnPair
        What each makes of each column.
    remarks : tuple of str
        What to know before trusting the figures.
    origin : Origin
        The data needed to reproduce the page.
    """

    label: str
    rows: int
    names: tuple[str, str]
    answers: tuple[Performance, Performance]
    difference: float
    error: float
    agreement: Agreement
    options: tuple[tuple[str, str, str], ...]
    columns: tuple[ColumnPair, ...]
    remarks: tuple[str, ...]
    origin: Origin

    def _columns(self) -> dict[str, Any]:
        both = list(zip(self.names, self.answers, strict=True))
        figures = {name: [one.value for one in answer.figures] for name, answer in both}
        return {"figure": [one.name for one in self.answers[0].figures]} | figures

    @property
    def better(self) -> str | None:
        """The model whose log-loss is lower by more than chance; None if they are about equal."""
        if np.isnan(self.difference) or abs(self.difference) <= _NEARLY * self.error:
            return None
        return self.names[0] if self.difference > 0 else self.names[1]

    @property
    def disagreements(self) -> npt.NDArray[np.intp]:
        """The positions of the rows for which the two decide differently, the most different losses first."""
        a, b = self.answers
        places = np.flatnonzero((a.true >= 0) & (b.true >= 0) & (_decided(a) != _decided(b)))
        with np.errstate(invalid="ignore"):
            size = np.nan_to_num(np.abs(a.losses[places] - b.losses[places]), nan=0.0, posinf=np.inf)
        return places[np.argsort(-size, kind="stable")]

    def to_html(self) -> str:
        """Return the comparison as one HTML page that needs no network and no other file."""
        from tallybayes.reporting.page import side_by_side_page

        return side_by_side_page(self)

    def figures(self) -> Grid:
        """Return a table of the figures of both models, beside those of the majority class."""
        a, b = self.answers
        rows = tuple(
            (one.name, number(one.value), _interval(one), number(other.value), _interval(other), number(one.plain))
            for one, other in zip(a.figures, b.figures, strict=True)
        )
        return Grid("", ("", self.names[0], "95 %", self.names[1], "95 %", f"always {a.majority}"), rows)

    def column_table(self) -> Grid:
        """Return a table of the columns, the most telling first."""
        heads = [f"{what}, {name}" for what in ("event model", "bits", "weight") for name in self.names]
        rows = tuple(
            (one.column, *map(_cell, one.events), *map(_cell, one.bits), *map(_cell, one.weights))
            for one in self.columns[:_LISTED]
        )
        more = len(self.columns) - _LISTED
        columns = [Column(head, right=not head.startswith("event")) for head in heads]
        return Grid("", ("column", *columns), rows, (f"and {more:,} more columns",) if more > 0 else ())

    def option_table(self) -> Grid:
        """Return a table of the choices in which the two differ."""
        heads = [Column(name, right=False) for name in self.names]
        return Grid("", ("option", *heads), self.options)

    def shown(self) -> Sheet:
        """Return tables of the figures, the choices and the columns."""
        grids = (self.figures(), *([self.option_table()] if self.options else []), self.column_table())
        return Sheet(self.verdict(), grids, self.remarks)

    def verdict(self) -> str:
        """Return one sentence on which model is better."""
        by = f"{abs(self.difference):.3g} ± {self.error:.2g} nats a row"
        if np.isinf(self.difference):
            worse = self.names[int(self.difference > 0)]
            return f"{worse} gives a true class probability 0 at least once, so its log-loss is infinite."
        if np.isnan(self.difference):
            return "Both give a true class probability 0 at least once: their log-losses are infinite."
        if self.better is None:
            return f"The two are about equally good: their log-losses differ by {by}, which may be chance."
        return f"{self.better} is better: its log-loss is lower by {by}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `json.dumps`, without those of single rows."""
        answers = dict(zip(self.names, self.answers, strict=True))
        judged = self._named("label", "rows", "names", "difference", "error", "better", "agreement", answers=answers)
        return judged | self._named("options", "columns", "remarks", "origin")


def side_by_side(
    first: Model,
    second: Model,
    rows: Any,
    label: Any = None,
    *,
    names: Sequence[str] = ("A", "B"),
    source: str | None = None,
    command: str | None = None,
    how: str | None = None,
    positive: Any = None,
    seed: int = 0,
    threads: int | None = None,
    **reading: Any,
) -> SideBySide:
    """Report on two models and the same rows: which is better, and where they differ.

    A model that has learned exactly these rows is cross-validated; to any other the rows are new.

    Parameters
    ----------
    first, second : Model
        The models.
    rows : anything `fit` takes
        Labelled rows.
    label : str or array_like, optional
        The column that holds the class, or the classes themselves; by default the first model's label column.
    names : two str
        What the models are called on the page.
    source, command : str, optional
        The name of the rows on the page, and the command that reproduces the page.
    how : str, optional
        How rows are held out for a model that has learned them, as in `validate`.
    positive : object, optional
        The class whose sensitivity, reliability and curve are shown; by default the second of two.
    seed : int
        The same seed draws the same folds.
    threads : int, optional
        The number of threads that count and score.
    **reading
        `weights`, and how rows are read, as in `fit`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> days = {"outlook": ["sunny", "rainy"] * 30, "windy": ["no", "no", "yes"] * 20, "play": ["no", "yes"] * 30}
    >>> a, b = tb.fit(days, "play", events={"outlook": "ignore"}), tb.fit(days, "play")
    >>> found = tb.side_by_side(a, b, days, names=("windy alone", "both"))
    >>> found.better, found.agreement.first
    ('both', 0)
    """
    for name, model in (("first", first), ("second", second)):
        instance(name, model, Model, "a fitted Model")
    called = tuple(text("names", name) for name in names)
    if len(called) != 2 or called[0] == called[1]:
        raise BadOption(wanted("names", "two different names", repr(tuple(names))))
    weights = reading.pop("weights", None)
    if label is None:
        weights = first.schema.weight if weights is None else weights
        label = first.schema.label
    left_out: list[str] = []
    answers, cases = [], []
    for name, model in parts(list(zip(called, (first, second), strict=True))):
        scan = scan_rows(rows, label, weights, reading, model.schema, whole_number("seed", seed))
        case = case_of(scan, model, None, seed, threads, FitOptions(), positive)
        case = case if how is None or not case.learned else replace(case, how=how)
        try:
            answers.append(answer_of(case, left_out))
        except BadData as bad:
            raise BadData(f"{name}: {bad}") from None
        cases.append(case)
    if len(answers[0].losses) != len(answers[1].losses):
        raise BadData(wanted("rows", "the same rows for both models", "other missing classes for one of them"))
    difference, error = _difference(*answers)
    both = [one.learned for one in cases]
    named = {name: value for name, value in reading.items() if name != "connection"}
    scan = cases[0].scan
    where = scan.source.name if source is None else text("source", source)
    return SideBySide(
        label=scan.label,
        rows=scan.rows,
        names=(called[0], called[1]),
        answers=(answers[0], answers[1]),
        difference=difference,
        error=error,
        agreement=_agreement(*answers),
        options=_options(first, second),
        columns=_columns(first, second),
        remarks=(*_remarks((called[0], called[1]), both), *dict.fromkeys(left_out)),
        origin=origin_of(
            rows if "connection" not in reading else None,
            f"tb.side_by_side({called[0]}, {called[1]}, {where!r}, {scan.label!r})",
            where,
            command,
            seed,
            named,
        ),
    )


def _decided(answer: Performance) -> npt.NDArray[Any]:
    """Return the decided class of each row by name, because two models may order classes differently."""
    return np.array([*map(str, answer.evaluation.classes), ""], object)[answer.decided]


def _difference(a: Performance, b: Performance) -> tuple[float, float]:
    """Return by how much the mean loss of b exceeds that of a, row by row, and the standard error."""
    some = (a.true >= 0) & (b.true >= 0)
    if not some.any():
        return float("nan"), float("nan")
    means = [float(one.losses[some].mean()) for one in (a, b)]
    if np.isinf(means).any():
        return (float("nan") if np.isinf(means).all() else means[1] - means[0]), float("nan")
    apart = b.losses[some] - a.losses[some]
    return float(apart.mean()), float(np.std(apart, ddof=1) / np.sqrt(len(apart))) if len(apart) > 1 else float("nan")


def _agreement(a: Performance, b: Performance) -> Agreement:
    some = (a.true >= 0) & (b.true >= 0)
    right = [(one.true == one.decided)[some] for one in (a, b)]
    first, second = right
    return Agreement(*(int(n.sum()) for n in (first & second, first & ~second, ~first & second, ~first & ~second)))


def _options(first: Model, second: Model) -> tuple[tuple[str, str, str], ...]:
    """Return the choices in which the two differ, and the rows that each has learned."""
    found = [(f.name, *(getattr(one.choices, f.name) for one in (first, second))) for f in fields(first.choices)]
    differ = [(name, str(a), str(b)) for name, a, b in found if a != b]
    learned = [f"{one.evidence.rows.sum().to_float():,.6g}" for one in (first, second)]
    return (*differ, ("rows learned", learned[0], learned[1]), *_differing("columns", first, second))


def _differing(what: str, first: Model, second: Model) -> list[tuple[str, str, str]]:
    sizes = [f"{len(one.schema.columns):,}" for one in (first, second)]
    return [(what, sizes[0], sizes[1])] if sizes[0] != sizes[1] else []


def _columns(first: Model, second: Model) -> tuple[ColumnPair, ...]:
    facts = [_column_facts(one) for one in (first, second)]
    names = dict.fromkeys([*first.schema.columns, *second.schema.columns])
    none = (None, None, None)
    found = [ColumnPair(name, *zip(*(side.get(name, none) for side in facts), strict=True)) for name in names]
    return tuple(sorted(found, key=lambda one: -max(bits for bits in one.bits if bits is not None)))


def _column_facts(model: Model) -> dict[str, tuple[str, float, float | None]]:
    found = importance(model, None, None, None)
    bits: Floats = found.information
    table = weight_table(model)
    weights = {} if table is None else dict(zip(table.columns, table.weights.tolist(), strict=True))
    known = dict(zip(model.schema.terms, bits.tolist(), strict=True))
    return {
        name: (model.schema.event(name).spec, known.get(name, 0.0), weights.get(name)) for name in model.schema.columns
    }


def _remarks(names: tuple[str, str], learned: list[bool]) -> list[str]:
    if all(learned):
        return ["Both have learned exactly these rows, and are cross-validated on the same folds."]
    if not any(learned):
        return ["The figures take these rows as new to both models: neither may have learned any of them."]
    old, new = names if learned[0] else names[::-1]
    return [
        f"{old} has learned exactly these rows and is cross-validated, so each row is predicted without it. {new} is"
        " judged as it is: the comparison is fair only if it has learned none of these rows."
    ]


def _interval(one: Any) -> str:
    return "–" if np.isnan(one.low) else f"{one.low:.3f} to {one.high:.3f}"


def _cell(value: str | float | None) -> str:
    return "–" if value is None else value if isinstance(value, str) else number(value, 3)
