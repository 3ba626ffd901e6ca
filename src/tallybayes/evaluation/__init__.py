"""Evaluation: true classes and predicted probabilities in, figures out.

It does not depend on models, evidence or files. `evaluate` returns everything at once; `confusion`, `roc`,
`average_roc` and `calibration` return one result each. All results are frozen, print as tables, and have `to_dict`.
"""

from tallybayes.evaluation.confusion import Averages, Confusion, confusion
from tallybayes.evaluation.evaluate import Evaluation, evaluate
from tallybayes.evaluation.headline import Figure, headline, majority
from tallybayes.evaluation.losses import LogLoss
from tallybayes.evaluation.mean_roc import AverageRoc, average_roc
from tallybayes.evaluation.operating_point import OperatingPoint
from tallybayes.evaluation.proportions import wilson
from tallybayes.evaluation.rates import Rates
from tallybayes.evaluation.reliability import Reliability, calibration
from tallybayes.evaluation.roc import Hull, RocCurve, roc

__all__ = [
    "AverageRoc",
    "Averages",
    "Confusion",
    "Evaluation",
    "Figure",
    "Hull",
    "LogLoss",
    "OperatingPoint",
    "Rates",
    "Reliability",
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
