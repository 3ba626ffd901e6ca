"""Validation: how good a model is on rows it has not seen, by arithmetic on evidence and never by refitting."""

from tallybayes.validation.result import Spread, Validation
from tallybayes.validation.validated import validate, validate_model

__all__ = ["Spread", "Validation", "validate", "validate_model"]
