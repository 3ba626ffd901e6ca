"""tallybayes: exact counts in, honest probabilities out.

Evidence adds; belief is computed from evidence; neither knows where the rows came from.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallybayes import evaluation as evaluation
    from tallybayes import events as events
    from tallybayes.batches import read as read
    from tallybayes.estimators import BernoulliNB as BernoulliNB
    from tallybayes.estimators import CategoricalNB as CategoricalNB
    from tallybayes.estimators import ComplementNB as ComplementNB
    from tallybayes.estimators import CountVectorizer as CountVectorizer
    from tallybayes.estimators import GaussianNB as GaussianNB
    from tallybayes.estimators import MultinomialNB as MultinomialNB
    from tallybayes.estimators import NaiveBayes as NaiveBayes
    from tallybayes.estimators import TextNB as TextNB
    from tallybayes.evaluation import Evaluation as Evaluation
    from tallybayes.evaluation import evaluate as evaluate
    from tallybayes.evidence import Evidence as Evidence
    from tallybayes.explain.dependence import Dependence as Dependence
    from tallybayes.explain.independence import dependence as dependence
    from tallybayes.explain.probability import Probability as Probability
    from tallybayes.explain.queries import probability as probability
    from tallybayes.fitting import fit as fit
    from tallybayes.interval import Intervals as Intervals
    from tallybayes.model import Model as Model
    from tallybayes.modelfile import load as load
    from tallybayes.posterior import ImpossibleRowWarning as ImpossibleRowWarning
    from tallybayes.report import ReportData as ReportData
    from tallybayes.report import report as report
    from tallybayes.validation import Comparison as Comparison
    from tallybayes.validation import LearningCurve as LearningCurve
    from tallybayes.validation import Validation as Validation
    from tallybayes.validation import compare as compare
    from tallybayes.validation import learning_curve as learning_curve
    from tallybayes.validation import rows_needed as rows_needed
    from tallybayes.validation import running_estimate as running_estimate
    from tallybayes.validation import validate as validate

__version__ = "0.1.0"

# Public names and where they live; loaded when first used, so that `import tallybayes` is quick.
_PUBLIC = {
    "fit": "tallybayes.fitting",
    "Model": "tallybayes.model",
    "Evidence": "tallybayes.evidence",
    "Intervals": "tallybayes.interval",
    "load": "tallybayes.modelfile",
    "read": "tallybayes.batches",
    "ImpossibleRowWarning": "tallybayes.posterior",
    "evaluate": "tallybayes.evaluation",
    "Evaluation": "tallybayes.evaluation",
    "evaluation": "tallybayes.evaluation",
    "events": "tallybayes.events",
    "errors": "tallybayes.errors",
    "Dependence": "tallybayes.explain.dependence",
    "dependence": "tallybayes.explain.independence",
    "Probability": "tallybayes.explain.queries",
    "probability": "tallybayes.explain.queries",
    "Comparison": "tallybayes.validation",
    "compare": "tallybayes.validation",
    "ReportData": "tallybayes.report",
    "report": "tallybayes.report",
    "LearningCurve": "tallybayes.validation",
    "Validation": "tallybayes.validation",
    "learning_curve": "tallybayes.validation",
    "rows_needed": "tallybayes.validation",
    "running_estimate": "tallybayes.validation",
    "validate": "tallybayes.validation",
    "BernoulliNB": "tallybayes.estimators",
    "CategoricalNB": "tallybayes.estimators",
    "ComplementNB": "tallybayes.estimators",
    "CountVectorizer": "tallybayes.estimators",
    "GaussianNB": "tallybayes.estimators",
    "MultinomialNB": "tallybayes.estimators",
    "NaiveBayes": "tallybayes.estimators",
    "TextNB": "tallybayes.estimators",
}

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "Comparison",
    "ComplementNB",
    "CountVectorizer",
    "Dependence",
    "Evaluation",
    "Evidence",
    "GaussianNB",
    "ImpossibleRowWarning",
    "Intervals",
    "LearningCurve",
    "Model",
    "MultinomialNB",
    "NaiveBayes",
    "Probability",
    "ReportData",
    "TextNB",
    "Validation",
    "__version__",
    "compare",
    "dependence",
    "errors",
    "evaluate",
    "evaluation",
    "events",
    "fit",
    "learning_curve",
    "load",
    "probability",
    "read",
    "report",
    "rows_needed",
    "running_estimate",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'tallybayes' has no attribute {name!r}")
    module = import_module(_PUBLIC[name])
    return module if _PUBLIC[name].endswith(f".{name}") else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
