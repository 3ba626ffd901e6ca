"""Row 22: logistic regression, ridge (a normal prior) and lasso (a Laplace prior) as modes, beside naive Bayes."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

import tallybayes as tb
from tallybayes.validation.partners import FittedPartner

X, Y = load_breast_cancer(return_X_y=True)


def test_the_generative_model_leads_with_few_rows_and_the_discriminative_one_with_many() -> None:
    curve = tb.learning_curve(X, Y, sizes=[8, 256], shuffles=6)
    naive, ridge, lasso = curve.mean("accuracy")
    assert naive[0] > ridge[0]
    assert naive[0] > lasso[0]
    assert ridge[1] > naive[1]
    assert lasso[1] > naive[1]
    assert curve.ahead("accuracy") == {"ridge": 8, "lasso": 8}


def test_lasso_leaves_columns_out_and_ridge_does_not() -> None:
    import pyarrow as pa

    model = tb.fit(X, Y, calibrate=None)
    batch = pa.RecordBatch.from_arrays([pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 30)], ["x"])
    zeros = {
        name: int((FittedPartner(name, model.schema, batch, Y.astype(np.int32), None).estimator.coef_ == 0).sum())
        for name in ("ridge", "lasso")
    }
    assert zeros["ridge"] == 0
    assert zeros["lasso"] > 5
