"""The smoothings, weights and temperature that leave-one-out scores chose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tallybayes.inference.posterior import Tempering
from tallybayes.inference.text_view import TextView
from tallybayes.inference.weights import ColumnWeights

__all__ = ["Calibration", "Tried"]


class Tried(NamedTuple):
    """A smoothing that was tried for some columns, its mean leave-one-out loss and standard error."""

    columns: str
    alpha: float
    log_loss: float
    error: float


@dataclass(frozen=True)
class Calibration:
    """The smoothings and the temperature chosen by leave-one-out scores.

    Attributes
    ----------
    alphas : mapping of str to float
        The smoothing of each name or glob that was to be tuned; "*" stands for all columns to tune.
    temperature : Temperature, TokenWeights or None
        What scores are multiplied by; for one column of texts, with weights of its tokens.
    rows : int
        The number of rows left out, one at a time.
    unscored : int
        The number of them that could not be scored, being the only row of their class.
    before, after : float
        Their mean log-loss at a temperature of 1, and at the one chosen; None where there is none.
    tried : tuple of Tried
        The smoothings tried, with their losses.
    stale : bool
        Whether rows or choices changed since.
    view : TextView or None
        The bag and the n-grams chosen for a text whose bag is "auto".
    prior : float or None
        The mean log-loss of the class shares alone, where that of new rows is surely above it; not stored.
    """

    alphas: Mapping[str, float] = field(default_factory=dict)
    temperature: Tempering | None = None
    rows: int = 0
    unscored: int = 0
    before: float | None = None
    after: float | None = None
    tried: tuple[Tried, ...] = ()
    stale: bool = False
    weights: ColumnWeights | None = None
    view: TextView | None = None
    prior: float | None = field(default=None, compare=False)

    def outdated(self) -> Calibration:
        """Return the calibration marked as stale."""
        return replace(self, stale=True)

    def __or__(self, other: Calibration | None) -> Calibration:
        """Return the calibration with more rows; the order of the two does not matter."""
        return self if other is None else max(self, other, key=lambda one: (one.rows, str(one.to_dict())))

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain numbers, without the corrections of single values."""
        more: dict[str, Any] = {} if self.view is None else {"view": self.view.to_dict()}
        if self.weights is not None:
            each = sorted((name, one.weight) for name, one in self.weights.columns.items())
            more["weights"] = {"columns": dict(each), "fading": self.weights.fading}
        return more | {
            "alphas": dict(self.alphas),
            "temper": None if self.temperature is None else self.temperature.to_dict(),
            "rows": self.rows,
            "unscored": self.unscored,
            "before": self.before,
            "after": self.after,
            "tried": [one._asdict() for one in self.tried],
            "stale": self.stale,
        }
