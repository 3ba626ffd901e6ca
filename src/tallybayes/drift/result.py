"""`Drift`: what has changed since a model was fitted, as numbers and as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.display.number_of import number_of
from tallybayes.display.tables import Column, Grid, Result, Sheet, number
from tallybayes.drift.columns import LEAST_ROWS, Change, ColumnDrift
from tallybayes.drift.prior_shift import PriorShift
from tallybayes.errors import BadOption, did_you_mean, wanted

__all__ = ["LEVEL", "ClassDrift", "Drift"]

LEVEL = 0.05
_SHOWN = 20  # columns and classes printed; all are in the result


@dataclass(frozen=True)
class ClassDrift:
    """How far the class shares of labelled rows have changed.

    Attributes
    ----------
    classes : tuple
        The classes of both sides, sorted.
    fitted, new : tuple of float
        Their shares.
    p, distance, chance : float
        As for a column.
    """

    classes: tuple[Any, ...]
    fitted: tuple[float, ...]
    new: tuple[float, ...]
    p: float
    distance: float
    chance: float


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """What has changed since a model was fitted.

    Attributes
    ----------
    label : str
        The column that holds the class.
    fitted_rows, new_rows : float
        The weight of the rows on each side.
    columns : tuple of ColumnDrift
        All columns, the surest change first; those that could not be tested last.
    classes : ClassDrift or None
        The class shares; None if the new rows have no classes.
    prior : PriorShift or None
        The class shares estimated without looking at the classes of the new rows; None if there are too few rows.

    Examples
    --------
    >>> import tallybayes as tb
    >>> days = {"outlook": ["sunny", "rainy"] * 50, "play": ["no", "yes"] * 50}
    >>> print(tb.fit(days, "play").drift({"outlook": ["sunny"] * 40 + ["rainy"] * 20}))
    Drift of 'play': 60 new rows against 100 fitted rows
    <BLANKLINE>
    Class shares
    play    prior   estimated by EM
    ───────────────────────────────
    no     0.5000            0.6686
    yes    0.5000            0.3314
    EM, from the probabilities of 60 rows: p = 0.0403.
    <BLANKLINE>
    Columns
    column    distance   chance        p   missing   unseen   largest change
    ─────────────────────────────────────────────────────────────────────────────
    outlook     0.1667   0.0647   0.0399     0 → 0        0   rainy: 0.5 → 0.3333
    <BLANKLINE>
    1 of 1 column changed: p ≤ 0.05, corrected for the number of columns by Benjamini and Hochberg's rule.
    Distance: the least share of rows that would need another value to agree.
    """

    label: str
    fitted_rows: float
    new_rows: float
    columns: tuple[ColumnDrift, ...]
    classes: ClassDrift | None = None
    prior: PriorShift | None = None

    def drifted(self, level: float = LEVEL) -> tuple[ColumnDrift, ...]:
        """Return the columns that have changed; among them, at most a share `level` is expected to be false."""
        return tuple(one for one in self.columns if one.adjusted <= level)

    def column(self, name: str) -> ColumnDrift:
        """Return the figures of one column."""
        found = {one.column: one for one in self.columns}
        if name not in found:
            raise BadOption(wanted("column", "a column of the model", repr(name), did_you_mean(name, list(found))))
        return found[name]

    @property
    def enough(self) -> bool:
        """Whether both sides have enough rows to say anything."""
        return min(self.fitted_rows, self.new_rows) >= LEAST_ROWS

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        names = [one.column for one in self.drifted()]
        return self._named(
            "label", "fitted_rows", "new_rows", "enough", "classes", "prior", "columns", level=LEVEL, drifted=names
        )

    def shown(self) -> Sheet:
        """Return the class shares and the columns as tables."""
        rows = f"{number(self.new_rows, 1)} new rows against {number(self.fitted_rows, 1)} fitted rows"
        grids = [grid for grid in (self._classes_shown(), self._columns_shown()) if grid is not None]
        return Sheet(f"Drift of {self.label!r}: {rows}", tuple(grids), self._notes())

    def _columns(self) -> dict[str, Any]:
        names = ("column", "distance", "chance", "p", "adjusted")
        return {name: [getattr(one, name) for one in self.columns] for name in names}

    def _classes_shown(self) -> Grid | None:
        if self.classes is None and self.prior is None:
            return None
        heads, sides, notes = [], [], []
        if self.classes is not None:
            heads += ["fitted", "new"]
            both = self.classes.fitted, self.classes.new
            sides += [dict(zip(self.classes.classes, one, strict=True)) for one in both]
            figures = f"distance {number(self.classes.distance)}, p = {_p(self.classes.p)}"
            notes += [f"Shares of the new rows: {figures}."] if self.enough else []
        if self.prior is not None:
            heads += ["prior", "estimated by EM"]
            sides += [dict(zip(self.prior.classes, one, strict=True)) for one in (self.prior.prior, self.prior.shares)]
            notes.append(f"EM, from the probabilities of {self.prior.rows:,} rows: p = {_p(self.prior.p)}.")
        names = list(dict.fromkeys(name for side in sides for name in side))
        rows = tuple((str(name), *(number(side.get(name, np.nan)) for side in sides)) for name in names[:_SHOWN])
        more = [f"and {len(names) - _SHOWN:,} more classes"] if len(names) > _SHOWN else []
        return Grid("Class shares", (self.label, *heads), rows, (*more, *notes))

    def _columns_shown(self) -> Grid:
        largest = Column("largest change", right=False)
        heads = (Column("column", right=False), "distance", "chance", "p", "missing", "unseen", largest)
        rows = tuple(_cells(one) for one in self.columns[:_SHOWN])
        more = (f"and {len(self.columns) - _SHOWN:,} more columns",) if len(self.columns) > _SHOWN else ()
        return Grid("Columns", heads, rows, more)

    def _notes(self) -> tuple[str, ...]:
        if not self.enough:
            few = min(self.fitted_rows, self.new_rows)
            return (f"Too few rows to say: wanted at least {LEAST_ROWS} on each side, got {number(few, 1)}.",)
        tested, found = sum(not np.isnan(one.p) for one in self.columns), len(self.drifted())
        of = f"{found:,} of {number_of(tested, 'column')} changed"
        rule = f"p ≤ {LEVEL:g}, corrected for the number of columns by Benjamini and Hochberg's rule"
        return (f"{of}: {rule}.", "Distance: the least share of rows that would need another value to agree.")


def _cells(one: ColumnDrift) -> tuple[str, ...]:
    change = _change(one.changes[0]) if one.changes else ""
    missing = f"{number(one.missing_fitted)} → {number(one.missing_new)}"
    return one.column, number(one.distance), number(one.chance), _p(one.adjusted), missing, number(one.unseen), change


def _change(one: Change) -> str:
    return f"{one.what}: {one.fitted:.4g} → {one.new:.4g}"


def _p(value: float) -> str:
    return number(value) if not 0 < value < 0.001 else f"{value:.1e}"
