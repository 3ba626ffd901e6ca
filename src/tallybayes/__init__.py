"""tallybayes: exact counts in, honest probabilities out.

Evidence adds; belief is computed from evidence; neither knows where the rows came from.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallybayes import evaluation as evaluation
    from tallybayes import events as events
    from tallybayes.evaluation import Evaluation as Evaluation
    from tallybayes.evaluation.evaluate import evaluate as evaluate
    from tallybayes.evidence.evidence import Evidence as Evidence
    from tallybayes.fitting import fit as fit
    from tallybayes.inference.posterior import ImpossibleRowWarning as ImpossibleRowWarning
    from tallybayes.inference.uncertainty import Intervals as Intervals
    from tallybayes.model import Model as Model
    from tallybayes.queries.count_rows import probability as probability
    from tallybayes.queries.probability import Probability as Probability
    from tallybayes.reporting import ReportData as ReportData
    from tallybayes.reporting import report as report
    from tallybayes.sklearn import BernoulliNB as BernoulliNB
    from tallybayes.sklearn import CategoricalNB as CategoricalNB
    from tallybayes.sklearn import ComplementNB as ComplementNB
    from tallybayes.sklearn import CountVectorizer as CountVectorizer
    from tallybayes.sklearn import GaussianNB as GaussianNB
    from tallybayes.sklearn import MultinomialNB as MultinomialNB
    from tallybayes.sklearn import NaiveBayes as NaiveBayes
    from tallybayes.sklearn import TextNB as TextNB
    from tallybayes.sources import read as read
    from tallybayes.storage.model_file import load as load
    from tallybayes.structure.dependence import Dependence as Dependence
    from tallybayes.structure.independence import dependence as dependence
    from tallybayes.validation import Comparison as Comparison
    from tallybayes.validation import LearningCurve as LearningCurve
    from tallybayes.validation import Validation as Validation
    from tallybayes.validation import rows_needed as rows_needed
    from tallybayes.validation import running_estimate as running_estimate
    from tallybayes.validation.compare import compare as compare
    from tallybayes.validation.learning_curve import learning_curve as learning_curve
    from tallybayes.validation.validate import validate as validate

__version__ = "0.1.0"

# Public names and where they live; loaded when first used, so that `import tallybayes` is quick.
_PUBLIC = {
    "fit": "tallybayes.fitting",
    "Model": "tallybayes.model",
    "Evidence": "tallybayes.evidence.evidence",
    "Intervals": "tallybayes.inference.uncertainty",
    "load": "tallybayes.storage.model_file",
    "read": "tallybayes.sources",
    "ImpossibleRowWarning": "tallybayes.inference.posterior",
    "evaluate": "tallybayes.evaluation",
    "Evaluation": "tallybayes.evaluation",
    "evaluation": "tallybayes.evaluation",
    "events": "tallybayes.events",
    "errors": "tallybayes.errors",
    "Dependence": "tallybayes.structure.dependence",
    "dependence": "tallybayes.structure.independence",
    "Probability": "tallybayes.queries.count_rows",
    "probability": "tallybayes.queries.count_rows",
    "Comparison": "tallybayes.validation",
    "compare": "tallybayes.validation",
    "ReportData": "tallybayes.reporting",
    "report": "tallybayes.reporting",
    "LearningCurve": "tallybayes.validation",
    "Validation": "tallybayes.validation",
    "learning_curve": "tallybayes.validation",
    "rows_needed": "tallybayes.validation",
    "running_estimate": "tallybayes.validation",
    "validate": "tallybayes.validation",
    "BernoulliNB": "tallybayes.sklearn",
    "CategoricalNB": "tallybayes.sklearn",
    "ComplementNB": "tallybayes.sklearn",
    "CountVectorizer": "tallybayes.sklearn",
    "GaussianNB": "tallybayes.sklearn",
    "MultinomialNB": "tallybayes.sklearn",
    "NaiveBayes": "tallybayes.sklearn",
    "TextNB": "tallybayes.sklearn",
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
