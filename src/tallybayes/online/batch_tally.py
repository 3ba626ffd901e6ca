"""A tally for every event model: rows are checked at once, counted in batches, and believed a little later."""

from __future__ import annotations

from typing import Any

from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import no_class
from tallybayes.model import Model
from tallybayes.online.one_row import OneRow
from tallybayes.online.tally import Row, Tally, changed, is_plain_class
from tallybayes.online.waiting_rows import is_text, waiting_rows

__all__ = ["BatchTally"]

# Rows counted at a time: more would take memory, fewer the fixed cost of a count for each row.
_MOST_WAITING = 1024


class BatchTally(Tally):
    """Rows of any model.

    Parameters
    ----------
    model : Model
        The model to continue; its calibration is kept.
    refresh : float
        The belief is estimated again once the rows that changed are more than this share of all.
    """

    def __init__(self, model: Model, refresh: float) -> None:
        self._refresh = refresh
        self._counted, self._believed = model, model
        self._answer: OneRow | None = None  # of the believed model
        self._waiting = waiting_rows(model.schema)
        self._no_class = no_class(model.schema)
        self._changed = 0
        self._rows = float(model.evidence.rows.sum().to_float()) if len(model.classes) else 0.0
        self._new: set[Any] = set()  # classes since the last estimate

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that have rows, sorted; those of the waiting rows included."""
        return self.model().classes if self._new else self._counted.classes

    def change(self, row: Row, label: Any, weight: float, *, minus: bool) -> None:
        """Let a plain row wait to be counted; count any other at once, after those that wait."""
        if minus or not self._waits(row, label, weight):
            self._counted = changed(self.model(), row, label, weight, minus=minus)
        elif len(self._waiting) >= _MOST_WAITING:
            self._count_waiting()
        self._changed += 1
        self._rows += -weight if minus else weight
        if label not in self._believed.evidence.classes.positions:
            self._new.add(label)

    def _waits(self, row: Row, label: Any, weight: float) -> bool:
        """Let a row wait if counting it later is sure to succeed; return whether it does."""
        evidence = self._counted.evidence
        if weight != 1 and evidence.schema.weight is None:
            return False
        plain = is_plain_class(label, evidence.classes) and (type(label) is not str or self._is_class(label))
        return plain and self._waiting.add(row, label, weight, evidence)

    def _is_class(self, label: str) -> bool:
        return is_text(label) and label not in self._no_class

    def _count_waiting(self) -> None:
        if len(self._waiting):
            self._counted = self._waiting.counted(self._counted)

    def predict_proba(self, row: Row) -> Floats:  # (C,)
        """Return the probability of each class, given all rows up to the last estimate."""
        if self._changed and (self._new or self._changed > self._refresh * (self._rows - self._changed)):
            self._believed, self._changed, self._new, self._answer = self.model(), 0, set(), None
        if self._answer is None:
            self._answer = OneRow(self._believed)
        return self._answer.predict_proba(row)

    def model(self) -> Model:
        """Return the model of all rows."""
        self._count_waiting()
        return self._counted
