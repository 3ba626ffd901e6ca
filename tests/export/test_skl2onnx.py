"""Estimators in pipelines of scikit-learn, converted by skl2onnx, in onnxruntime: the same digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

import tallybayes as tb

from .cases import same

skl2onnx = pytest.importorskip("skl2onnx", reason="no skl2onnx is here: pip install 'tallybayes[test]'")
types = pytest.importorskip("skl2onnx.common.data_types")
RNG = np.random.default_rng(4)
CLASSES = RNG.integers(0, 3, 300)
X = RNG.normal(CLASSES[:, None] * [1.0, 0.5, 0.0, 2.0], 1.0)
NAMES = np.array(["it's", "b\n", "ç"])[CLASSES]


def run(fitted: Any, given: dict[str, np.ndarray], kinds: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    import onnxruntime

    tb.register_skl2onnx()
    model = skl2onnx.to_onnx(fitted, initial_types=kinds, **options)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, probabilities = session.run(None, given)
    return labels, probabilities


def check(fitted: Any, X: np.ndarray, labels: np.ndarray) -> None:
    found, probabilities = run(fitted, {"X": X}, [("X", types.DoubleTensorType([None, X.shape[1]]))])
    same(probabilities, fitted.predict_proba(X))
    kinds = int if labels.dtype.kind == "i" else str  # other labels are text
    assert found.tolist() == [kinds(one) for one in fitted.predict(X)]


@pytest.mark.parametrize("y", [CLASSES, NAMES, CLASSES > 0], ids=["whole", "text", "booleans"])
@pytest.mark.parametrize("first", [StandardScaler(), MinMaxScaler()])
@pytest.mark.parametrize("last", [tb.GaussianNB(), tb.NaiveBayes(), tb.NaiveBayes("gaussian"), tb.BernoulliNB()])
def test_a_pipeline_of_numbers_answers_the_same(first: Any, last: Any, y: np.ndarray) -> None:
    check(make_pipeline(first, last).fit(X, y), X, y)


@pytest.mark.parametrize("last", [tb.MultinomialNB(), tb.ComplementNB(), tb.BernoulliNB(alpha=1e-9, binarize=2.5)])
def test_a_pipeline_of_counts_answers_the_same(last: Any) -> None:
    check(make_pipeline(MinMaxScaler((0, 5)), last).fit(X, NAMES), X, NAMES)


@pytest.mark.parametrize("last", [tb.CategoricalNB(), tb.NaiveBayes("categorical")])
def test_a_pipeline_of_values_answers_the_same(last: Any) -> None:
    codes = np.round(np.clip(X, 0, 3))
    check(make_pipeline(OrdinalEncoder(), last).fit(codes, CLASSES), codes, CLASSES)


def test_columns_of_several_types_are_inputs_of_their_own() -> None:
    rows = pd.DataFrame({"size": X[:, 0], "colour": np.array(["red", "blue"])[(X[:, 1] > 0).astype(int)]})
    fitted = tb.NaiveBayes().fit(rows, NAMES)
    kinds = [("size", types.DoubleTensorType([None, 1])), ("colour", types.StringTensorType([None, 1]))]
    given = {name: rows[[name]].to_numpy() for name in rows}
    labels, probabilities = run(fitted, given, kinds)
    same(probabilities, fitted.predict_proba(rows))
    assert labels.tolist() == fitted.predict(rows).tolist()


def test_mixed_columns_are_encoded_before() -> None:
    rows = pd.DataFrame({"size": X[:, 0], "colour": np.array(["red", "blue"])[(X[:, 1] > 0).astype(int)]})
    before = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), (StandardScaler(), ["size"]))
    fitted = make_pipeline(before, tb.GaussianNB()).fit(rows, NAMES)
    kinds = [("size", types.DoubleTensorType([None, 1])), ("colour", types.StringTensorType([None, 1]))]
    _, probabilities = run(fitted, {name: rows[[name]].to_numpy() for name in rows}, kinds)
    np.testing.assert_allclose(probabilities, fitted.predict_proba(rows), atol=1e-6)  # its encoder's ones are floats


def test_what_cannot_be_converted_is_refused_with_a_sentence() -> None:
    texts = tb.TextNB().fit(["free prize", "see you"] * 4, ["spam", "ham"] * 4)
    with pytest.raises(tb.errors.BadOption, match=r"^TextNB: wanted estimators without text for ONNX"):
        run(texts, {}, [("X", types.StringTensorType([None, 1]))])
    with pytest.raises(tb.errors.BadOption, match=r"^target_opset: wanted at least 18, got 15"):
        run(tb.GaussianNB().fit(X, NAMES), {}, [("X", types.DoubleTensorType([None, 4]))], target_opset=15)
    with pytest.raises(tb.errors.BadOption, match=r"^column 'x0': wanted numbers, got strings"):
        run(tb.NaiveBayes().fit(X, NAMES), {}, [("X", types.StringTensorType([None, 4]))])
