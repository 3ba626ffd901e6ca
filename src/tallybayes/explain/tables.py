"""What each column says of each class: counts beside probabilities, or the parameters of a density."""

from __future__ import annotations

from tallybayes.events import Table
from tallybayes.model import Model

__all__ = ["table"]


def table(model: Model, column: str) -> Table:
    """What one column says: a row per value or parameter, a column per class."""
    b, f = model.schema.place(column)
    event = model.schema.blocks[b].event
    rows, counts, values = event.table(model.evidence.statistics[b], model.belief.parameters[b], f)
    return Table(column, event.name, rows, model.classes, counts, values)
