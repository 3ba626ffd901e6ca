"""The models that naive Bayes is compared with, each fitted to the same rows.

Naive Bayes models the rows of each class; logistic regression only the boundary between classes, and trees cut it into
boxes. The first learns from few rows; the others have the lower error in the limit where columns depend on each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from tallybayes.arguments import listed, shown
from tallybayes.errors import BadOption, wanted
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats
from tallybayes.schema.schema import Schema
from tallybayes.validation.design import Design

_ROUNDS = 1000  # of a logistic regression, enough for standardised columns
_TREES = 200  # of a forest: five times as many changed its log-loss by at most 0.008 on five small tables


class Partner(NamedTuple):
    """A model to compare with."""

    title: str
    module: str  # that has its class; a package that may not be installed
    make: Callable[[Any], Any]  # from the module to an estimator
    sparse: bool = True  # whether it takes sparse matrices


def _logistic(ratio: float) -> Callable[[Any], Any]:
    """Return a maker; a penalty on squared or absolute coefficients is a normal or a Laplace prior."""
    solver = "saga" if ratio else "lbfgs"
    return lambda module: module.LogisticRegression(l1_ratio=ratio, solver=solver, max_iter=_ROUNDS)


PARTNERS = {
    "ridge": Partner("logistic regression (ridge)", "sklearn.linear_model", _logistic(0.0)),
    "lasso": Partner("logistic regression (lasso)", "sklearn.linear_model", _logistic(1.0)),
    "forest": Partner(
        "random forest",
        "sklearn.ensemble",
        lambda module: module.RandomForestClassifier(_TREES, random_state=0, n_jobs=-1),
    ),
    "lightgbm": Partner("LightGBM", "lightgbm", lambda module: module.LGBMClassifier(verbose=-1, random_state=0)),
    "xgboost": Partner("XGBoost", "xgboost", lambda module: module.XGBClassifier(verbosity=0, random_state=0)),
    "catboost": Partner(
        "CatBoost",
        "catboost",
        lambda module: module.CatBoostClassifier(verbose=False, allow_writing_files=False, random_seed=0),
    ),
    "ebm": Partner(
        "explainable boosting",
        "interpret.glassbox",
        lambda module: module.ExplainableBoostingClassifier(random_state=0),
        sparse=False,
    ),
}


def default_partners() -> tuple[str, ...]:
    """Return logistic regression, a random forest, and those of the others that are installed."""
    others = (name for name in PARTNERS if name not in ("ridge", "lasso", "forest"))
    return "ridge", "forest", *(name for name in others if _is_installed(name))


def check_partners(option: str, given: Any) -> tuple[str, ...]:
    """Return names of partners; raise unless all are installed."""
    want = f"some of {', '.join(PARTNERS)}"
    names: tuple[str, ...] = tuple(listed(option, given, want))
    for name in names:
        if not isinstance(name, str) or name not in PARTNERS:
            raise BadOption(wanted(option, want, shown(name)))
        if not _is_installed(name):
            package = PARTNERS[name].module.partition(".")[0]
            do = f"pip install {package}"
            raise BadOption(wanted(option, f"{name!r} with the package {package!r}", "no such package", do))
    return names


def _is_installed(name: str) -> bool:
    return find_spec(PARTNERS[name].module.partition(".")[0]) is not None


class FittedPartner:
    """A partner fitted on some rows.

    Parameters
    ----------
    name : str
        A key of `PARTNERS`.
    schema : Schema
        What each column is.
    batch : RecordBatch
        The rows.
    classes : ndarray of int32, shape (n,)
        Their classes.
    weights : ndarray, shape (n,), or None
        Their weights.
    """

    def __init__(self, name: str, schema: Schema, batch: pa.RecordBatch, classes: ClassCodes, weights: Weights) -> None:
        self._partner, self._design = PARTNERS[name], Design(schema)
        X = self._matrix(self._design.fit(batch))
        self._classes, codes = np.unique(classes, return_inverse=True)  # some packages want them without gaps
        if len(self._classes) > 1:
            self.estimator = self._partner.make(import_module(self._partner.module))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of other packages, on convergence and names of columns
                self.estimator.fit(X, codes, sample_weight=weights)

    def probabilities(self, batch: pa.RecordBatch, n_classes: int) -> Floats:  # (n, C)
        """Return the probability of each class for each row; 0 for a class not in the training rows."""
        out = np.zeros((batch.num_rows, n_classes))
        if len(self._classes) == 1:
            out[:, self._classes[0]] = 1.0
            return out
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out[:, self._classes] = self.estimator.predict_proba(self._matrix(self._design.of(batch)))
        return out

    def _matrix(self, X: Any) -> Any:
        return X.toarray() if sparse.issparse(X) and not self._partner.sparse else X
