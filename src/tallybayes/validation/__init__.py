"""Validation: performance on unseen rows, by arithmetic on evidence and never by refitting."""

from tallybayes.validation.compare import compare
from tallybayes.validation.comparison import Candidate, Comparison
from tallybayes.validation.learning_curve import LearningCurve, learning_curve
from tallybayes.validation.record import record_of
from tallybayes.validation.result import Spread, Validation
from tallybayes.validation.validate import validate, validate_model

__all__ = [
    "Candidate",
    "Comparison",
    "LearningCurve",
    "Spread",
    "Validation",
    "compare",
    "learning_curve",
    "record_of",
    "validate",
    "validate_model",
]
