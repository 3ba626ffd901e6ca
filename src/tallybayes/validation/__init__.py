"""Validation: how good a model is on rows it has not seen, by arithmetic on evidence and never by refitting."""

from tallybayes.validation.coin import RunningEstimate, rows_needed, running_estimate
from tallybayes.validation.compared import Candidate, Comparison
from tallybayes.validation.comparing import compare
from tallybayes.validation.curve import learning_curve
from tallybayes.validation.drawn import LearningCurve
from tallybayes.validation.result import Spread, Validation
from tallybayes.validation.validated import validate, validate_model

__all__ = [
    "Candidate",
    "Comparison",
    "LearningCurve",
    "RunningEstimate",
    "Spread",
    "Validation",
    "compare",
    "learning_curve",
    "rows_needed",
    "running_estimate",
    "validate",
    "validate_model",
]
