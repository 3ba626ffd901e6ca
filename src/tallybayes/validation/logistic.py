"""Logistic regression of scikit-learn on the same rows, the discriminative partner of naive Bayes.

Naive Bayes models the rows of each class, logistic regression only the boundary between classes. The first learns from
few rows; the second has the lower error in the limit where columns depend on each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from scipy import sparse

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Dense, Floats, Sparse
from tallybayes.schema.schema import Block, Schema

Partner: TypeAlias = Literal["ridge", "lasso"]
# The L1 ratio. A penalty on squared or absolute coefficients is a normal or a Laplace prior; the fit is the mode.
PARTNERS: dict[str, float] = {"ridge": 0.0, "lasso": 1.0}
_ROUNDS = 1000


class LogisticPartner:
    """A logistic regression fitted on some rows.

    Numbers are standardised (missing ones become the mean), categories are one-hot encoded, texts become word counts.
    """

    def __init__(
        self, partner: Partner, schema: Schema, batch: pa.RecordBatch, classes: ClassCodes, weights: Weights
    ) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        self._design = Design(schema)
        X = self._design.fit(batch)
        self._only = int(classes[0]) if len(np.unique(classes)) == 1 else None
        ratio = PARTNERS[partner]
        self._model = LogisticRegression(l1_ratio=ratio, solver="saga" if ratio else "lbfgs", max_iter=_ROUNDS)
        if self._only is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                self._model.fit(X, classes, sample_weight=weights)

    def probabilities(self, batch: pa.RecordBatch, n_classes: int) -> Floats:  # (n, C)
        """Return the probability of each class for each row; 0 for a class not in the training rows."""
        out = np.zeros((batch.num_rows, n_classes))
        if self._only is not None:
            out[:, self._only] = 1.0
        else:
            out[:, self._model.classes_] = self._model.predict_proba(self._design.of(batch))
        return out


class Design:
    """The design matrix of a linear model."""

    def __init__(self, schema: Schema) -> None:
        self._missing = schema.missing
        self._parts = [_part(b, name) for b in schema.blocks if not b.event.product for name in _names(b)]

    def fit(self, batch: pa.RecordBatch) -> Any:
        """Learn means, values and words from the rows, and return their matrix."""
        return self._joined(batch, "fit_transform")

    def of(self, batch: pa.RecordBatch) -> Any:
        """Return the matrix of other rows."""
        return self._joined(batch, "transform")

    def _joined(self, batch: pa.RecordBatch, work: str) -> Any:
        rows = RowBatch(batch, 0, self._missing)
        parts = [getattr(transformer, work)(_values(block, name, rows)) for block, name, transformer in self._parts]
        return sparse.hstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.hstack(parts)


def _names(block: Block) -> Sequence[str | None]:
    """Return the columns of a block that are transformed one by one; None stands for all at once."""
    return list(block.columns) if block.event.input in ("codes", "text") else [None]


def _part(block: Block, name: str | None) -> tuple[Block, str | None, Any]:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

    from tallybayes.sklearn import CountVectorizer

    if block.event.input == "text":
        return block, name, CountVectorizer()
    if block.event.input == "codes":
        return block, name, OneHotEncoder(handle_unknown="ignore")
    if block.event.input == "bag":
        return block, name, MaxAbsScaler()
    return block, name, make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())


def _values(block: Block, name: str | None, rows: RowBatch) -> Any:
    if block.event.input == "text":
        column = rows.column(str(name))
        return column.cast(pa.string()).fill_null("").to_pylist()
    if block.event.input == "codes":
        return np.array([str(value) for value in rows.column(str(name)).to_pylist()], object)[:, None]
    data = rows.encode(block)
    if isinstance(data, Sparse):
        start, stop = int(data.indptr[0]), int(data.indptr[-1])
        parts = (data.data[start:stop].astype(np.float64), data.indices[start:stop], data.indptr - start)
        return sparse.csr_matrix(parts, shape=(len(data), data.width))
    assert isinstance(data, Dense)
    return data.matrix() if block.event.input == "dense" else np.nan_to_num(data.matrix())
