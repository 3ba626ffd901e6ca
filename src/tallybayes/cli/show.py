"""`tally show`: show what a model has learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import DisplayOptions, ModelFile, named_or_matching
from tallybayes.display.tables import Column, Grid, Result, Sheet, number
from tallybayes.explain.tables import prior_table
from tallybayes.explain.weight_table import weight_table
from tallybayes.model import Model

_LISTED = 30  # columns; of five thousand words or pixels the first are enough
_LINES = 200  # of a table: of more classes or values nobody reads all, in a terminal


@example(
    "tally show weather.tally",
    "tally show weather.tally --column outlook --column temperature",
    "tally show weather.tally --nomogram --json",
)
def show(
    model: ModelFile,
    display: DisplayOptions,
    column: list[str] | None = option(None, "--column -c NAME", "Show only this column or glob. Repeatable."),
    nomogram: bool = option(False, "--nomogram", "Show points for each value, to add up by hand."),
    positive: str | None = option(None, "--positive CLASS", "The class that the points of --nomogram are for."),
    importance: bool = option(False, "--importance", "Show the information in each column."),
) -> None:
    """Show what a model has learned, column by column.

    The classes and their prior, the event model of each column, the choices, the calibration with the weight of each
    column, and the tables: counts and probabilities, or the parameters of each class.
    """
    from tallybayes.cli.inputs import load_model
    from tallybayes.cli.outputs import show as show_result
    from tallybayes.cli.parsing import class_of
    from tallybayes.storage.model_file import load

    loaded = load_model(model) if column or nomogram or importance else load(model)
    if nomogram:
        show_result(loaded.nomogram(*_two_classes(loaded, class_of(loaded, positive, "--positive"))), display)
    elif importance:
        show_result(loaded.importance(), display)
    else:
        show_result(ModelSummary(loaded, named_columns(loaded, column or ())), display)


def _two_classes(model: Model, of: Any) -> tuple[Any, Any]:
    """Return the class of a nomogram and its rival, by default the most frequent."""
    if len(model.classes) <= 2:
        return of, None
    rows = dict(zip(model.classes, model.evidence.rows.to_float(), strict=True))
    frequent = sorted(model.classes, key=lambda name: -rows[name])
    first = frequent[0] if of is None else of
    return first, next(name for name in frequent if name != first)


def named_columns(model: Model, given: Sequence[str]) -> tuple[str, ...]:
    """Return the model's columns, and columns counted together, of these names and globs."""
    return matching(model.schema.terms, given, "a column of the model")


def matching(names: Sequence[str], given: Sequence[str], want: str = "a column") -> tuple[str, ...]:
    """Return the names that are given or match a given glob.

    Examples
    --------
    >>> matching(["age", "agent", "sex"], ["sex,ag*"])
    ('sex', 'age', 'agent')
    """
    found: dict[str, None] = {}
    for one in named_or_matching(given, names, "--column", want):
        found |= dict.fromkeys([one] if one in names else [name for name in names if fnmatchcase(name, one)])
    return tuple(found)


@dataclass(frozen=True, repr=False)
class ModelSummary(Result):
    """A model, and the columns whose tables are shown; all if none is named."""

    model: Model
    columns: tuple[str, ...] = ()

    def shown(self) -> Sheet:
        """Classes, columns, choices and tables."""
        if self.columns:
            return Sheet("", tuple(grid for name in self.columns for grid in self._grids(name)))
        title = f"{self.model!r}".strip("<>").removeprefix("tallybayes.")
        if not self.model.classes:
            return Sheet(title, (self._events(), self._choices()), ("No row is left. Add rows with 'tally learn'.",))
        terms = self.model.schema.terms
        own = (
            self._events(),
            self._choices(),
            self._parameters(),
            self._calibration(),
            self._validation(),
            self._weights(),
        )
        heads = (prior_table(self.model).shown(), *own)
        grids = (
            *(_first_lines(head, "--json has all") for head in heads if head is not None),
            *(_first_lines(grid, "--column NAME shows all") for name in terms[:_LISTED] for grid in self._grids(name)),
        )
        more = f"And {len(terms) - _LISTED:,} more columns; show some with --column NAME, which may be a glob."
        return Sheet(title, grids, (more,) if len(terms) > _LISTED else ())

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        model = self.model
        if self.columns:
            return {"columns": {name: model.table(name).to_dict() for name in self.columns}}
        schema, rows = model.schema, model.evidence.rows.sum().to_float()
        named: dict[str, Any] = {"label": schema.label, "weight": schema.weight, "classes": model.classes, "rows": rows}
        calibration = None if model.calibration is None else model.calibration.to_dict()
        named |= {"events": schema.events(), "choices": self._chosen(), "calibration": calibration}
        if model.validation is not None:
            named["validation"] = model.validation.to_dict()
        if model.classes and model.choices.structure != "naive":
            named["parameters"] = model.parameters()
        return self._named(**named, weights=weight_table(model), tables=model.tables() if model.classes else None)

    def _grids(self, name: str) -> tuple[Grid, ...]:
        shown = self.model.table(name).shown()
        return (shown,) if isinstance(shown, Grid) else shown.grids

    def _events(self) -> Grid:
        rows = tuple(self.model.schema.events().items())
        notes = (f"And {len(rows) - _LISTED:,} more.",) if len(rows) > _LISTED else ()
        return Grid("Columns", ("column", Column("event model", right=False)), rows[:_LISTED], notes)

    def _chosen(self) -> dict[str, Any]:
        choices = self.model.choices
        names = ("estimate", "alpha", "prior", "variance", "floor", "unseen", "calibrate", "structure")
        return {name: getattr(choices, name) for name in names} | {"missing": self.model.schema.missing}

    def _choices(self) -> Grid:
        rows = tuple((name, str(value)) for name, value in self._chosen().items())
        return Grid("Choices", ("choice", Column("value", right=False)), rows)

    def _parameters(self) -> Grid | None:
        """Return how many numbers the model has, where columns are counted together."""
        if self.model.choices.structure == "naive":
            return None
        return replace(self.model.parameters().shown(), title="Free parameters")

    def _weights(self) -> Grid | None:
        found = weight_table(self.model)
        return None if found is None else found.shown()

    def _validation(self) -> Grid | None:
        found = self.model.validation
        if found is None:
            return None
        figures = [("accuracy", number(found.accuracy)), ("log-loss", number(found.log_loss))]
        rows = (("rows held out", f"{found.rows:,}"), *figures)
        return Grid(f"Validation by {found.how}, seed {found.seed}", ("", "value"), rows)

    def _calibration(self) -> Grid | None:
        found = self.model.calibration
        if found is None:
            return None
        rows = [("rows left out", f"{found.rows:,}"), *((f"alpha of {k}", number(v)) for k, v in found.alphas.items())]
        if found.temperature is not None:
            common, power = list(found.temperature.to_dict().values())[:2]
            rows += [("weight of all terms", number(common)), ("times the row's size to the power", number(power))]
        losses = [("log-loss before", found.before), ("log-loss after", found.after)]
        rows += [(name, number(loss)) for name, loss in losses if loss is not None]
        notes = ("Older than the last change of the model: calibrate again.",) if found.stale else ()
        return Grid("Calibration", ("", "value"), tuple(rows), notes)


def _first_lines(grid: Grid, do: str) -> Grid:
    """Return a table without its last lines, if there are very many, and what to do for them."""
    more = len(grid.rows) - _LINES
    if more <= 0:
        return grid
    return replace(grid, rows=grid.rows[:_LINES], notes=(*grid.notes, f"And {more:,} more; {do}."))
