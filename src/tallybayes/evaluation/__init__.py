"""Evaluation: the true classes and what was said of them in, figures out.

Knows nothing of models, evidence or files. `evaluate` gives everything at once; `confusion`, `roc`, `average_roc` and
`calibration` give one thing each. All results are frozen, print themselves as tables, and have `to_dict`.
"""

from tallybayes.evaluation.averaged import AverageRoc, average_roc
from tallybayes.evaluation.curve import Hull, RocCurve, roc
from tallybayes.evaluation.evaluated import Evaluation, evaluate
from tallybayes.evaluation.headline import Figure, headline, majority
from tallybayes.evaluation.intervals import wilson
from tallybayes.evaluation.losses import LogLoss
from tallybayes.evaluation.matrix import Averages, Confusion, confusion
from tallybayes.evaluation.operating import OperatingPoint
from tallybayes.evaluation.rates import Rates
from tallybayes.evaluation.reliability import Calibration, calibration

__all__ = [
    "AverageRoc",
    "Averages",
    "Calibration",
    "Confusion",
    "Evaluation",
    "Figure",
    "Hull",
    "LogLoss",
    "OperatingPoint",
    "Rates",
    "RocCurve",
    "average_roc",
    "calibration",
    "confusion",
    "evaluate",
    "headline",
    "majority",
    "roc",
    "wilson",
]
