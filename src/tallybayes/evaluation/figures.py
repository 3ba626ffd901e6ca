"""The figures that sum up an evaluation in one number each, by the name that tables, JSON and --require share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tallybayes.evaluation.confusion import Confusion
    from tallybayes.evaluation.evaluate import Evaluation


class SingleFigure(NamedTuple):
    """A figure: its title, whether higher is better, and how it is computed."""

    title: str
    higher: bool
    of: Callable[[Any], float]
    needs_probabilities: bool = True


def positive_f1(seen: Evaluation | Confusion) -> float:
    """Return the F1 of the positive class, or the mean over all classes."""
    positive = getattr(seen, "positive", None)
    return seen.macro.f1 if positive is None else seen[positive].f1


FIGURES = {
    "accuracy": SingleFigure("accuracy", True, lambda seen: seen.accuracy, needs_probabilities=False),
    "log_loss": SingleFigure("log-loss", False, lambda seen: seen.log_loss),
    "brier": SingleFigure("Brier score", False, lambda seen: seen.brier),
    "ece": SingleFigure("calibration error", False, lambda seen: seen.ece),
    "auc": SingleFigure("AUC", True, lambda seen: seen.auc),
    "average_precision": SingleFigure("average precision", True, lambda seen: seen.average_precision),
    "f1": SingleFigure("F1", True, positive_f1, needs_probabilities=False),
    "macro_f1": SingleFigure("macro F1", True, lambda seen: seen.macro.f1, needs_probabilities=False),
    "macro_precision": SingleFigure(
        "macro precision", True, lambda seen: seen.macro.precision, needs_probabilities=False
    ),
    "macro_sensitivity": SingleFigure(
        "macro sensitivity", True, lambda seen: seen.macro.sensitivity, needs_probabilities=False
    ),
    "mcc": SingleFigure("Matthews' correlation", True, lambda seen: seen.mcc, needs_probabilities=False),
    "kappa": SingleFigure("Cohen's κ", True, lambda seen: seen.kappa, needs_probabilities=False),
}
