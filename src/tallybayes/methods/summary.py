"""A model in a line, and as the tables that a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tallybayes.display.number_of import number_of
from tallybayes.display.tables import Column, Grid, Sheet, number

if TYPE_CHECKING:
    from tallybayes.model import Model

__all__ = ["one_line", "summary"]

_SUMMED = 12  # classes and columns listed in a notebook


def one_line(model: Model) -> str:
    """Describe a model: classes, columns, event models, rows, and its validation if any."""
    events = sorted({block.event.name for block in model.schema.blocks})
    total = model.evidence.rows.sum().to_float()
    classes, columns = number_of(len(model.classes), "class"), number_of(len(model.schema.columns), "column")
    if not model.classes:
        return f"tallybayes.Model of {model.schema.label!r}: knows nothing, {columns}"
    stale = ", calibrated before the last change" if model.calibration is not None and model.calibration.stale else ""
    seen = "" if model.validation is None else f", {model.validation}"
    what = f"{classes}, {columns} ({', '.join(events)}), {number_of(float(total), 'row')}{stale}{seen}"
    return f"tallybayes.Model of {model.schema.label!r}: {what}"


def summary(model: Model) -> Sheet:
    """Return a model's classes with their priors, and its columns' event models."""
    counts = zip(model.classes, model.evidence.rows.to_float(), model.prior.values(), strict=True)
    classes = tuple((str(name), number(n), f"{p:.4f}") for name, n, p in counts)
    columns = tuple((name, model.schema.event(name).spec) for name in model.schema.columns[:_SUMMED])
    events = Column("event model", right=False)
    return Sheet(
        one_line(model),
        (
            Grid("", (model.schema.label, "rows", "prior"), classes[:_SUMMED], _more(classes, "classes")),
            Grid("", ("column", events), columns, _more(model.schema.columns, "columns")),
        ),
    )


def _more(things: Sequence[Any], kind: str) -> tuple[str, ...]:
    left = len(things) - _SUMMED
    return (f"and {left:,} more {kind}",) if left > 0 else ()
