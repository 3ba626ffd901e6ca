"""What a model keeps of its validation: how it was done, and the two figures that are shown with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ValidationRecord:
    """The figures of a model's validation, kept with the model.

    Attributes
    ----------
    how : str
        How rows were held out, such as "10-fold".
    seed : int
        The seed of the folds.
    rows : int
        The number of rows that were held out and scored.
    accuracy : float
        The share of them whose most probable class is the true one.
    log_loss : float
        Their mean of −ln p, p the probability of the true class; may be infinite.

    Examples
    --------
    >>> print(ValidationRecord("10-fold", 0, 150, 0.95, 0.1234))
    accuracy 0.9500 by 10-fold
    """

    how: str
    seed: int
    rows: int
    accuracy: float
    log_loss: float

    def __str__(self) -> str:
        return f"accuracy {self.accuracy:.4f} by {self.how}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; an infinite log-loss is None, since JSON has no such number."""
        loss = self.log_loss if math.isfinite(self.log_loss) else None
        return {"how": self.how, "seed": self.seed, "rows": self.rows, "accuracy": self.accuracy, "log_loss": loss}

    @classmethod
    def from_dict(cls, put: dict[str, Any]) -> ValidationRecord:
        """Return the record of plain values; raise ValueError unless `to_dict` may have returned them.

        Examples
        --------
        >>> record = ValidationRecord("loo", 0, 14, 0.5, float("inf"))
        >>> ValidationRecord.from_dict(record.to_dict()) == record
        True
        """
        how, seed, rows, accuracy, loss = (put[name] for name in ("how", "seed", "rows", "accuracy", "log_loss"))
        loss = math.inf if loss is None else loss
        whole = all(type(one) is int and one >= 0 for one in (seed, rows))
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (accuracy, loss))
        if not (isinstance(how, str) and whole and numbers and 0 <= accuracy <= 1 and loss >= 0):
            raise ValueError("validation")
        return cls(how, seed, rows, float(accuracy), float(loss))
