"""Converters for skl2onnx: the estimators, inside a pipeline of scikit-learn, become nodes of its graph.

`NaiveBayes` is converted as `Model.to_onnx` does it. The drop-ins score a whole matrix at once, in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.errors import BadOption, wanted
from tallybayes.export.onnx import add_answer, takes_texts
from tallybayes.export.onnx_densities import finite
from tallybayes.export.onnx_graph import DOUBLE, ML_OPSET, OPSET, Graph
from tallybayes.export.scorecard import scorecard_of
from tallybayes.sklearn import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes, TextNB

__all__ = ["register_skl2onnx"]


def register_skl2onnx() -> None:
    """Teach skl2onnx to convert our estimators, alone or at the end of a pipeline.

    Numbers should be doubles (`DoubleTensorType`): in single precision answers differ. The dictionaries of skl2onnx's
    option "zipmap" hold single precision only, so they are off.

    Examples
    --------
    >>> import numpy as np, tallybayes as tb
    >>> from skl2onnx import to_onnx
    >>> X, y = np.array([[1.0], [2.0], [7.0], [9.0]]), [0, 0, 1, 1]
    >>> tb.register_skl2onnx()
    >>> [one.name for one in to_onnx(tb.GaussianNB().fit(X, y), X).graph.output]
    ['label', 'probabilities']
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        do = "Install it: pip install skl2onnx"
        raise BadOption(wanted("register_skl2onnx", "the package skl2onnx", "none", do)) from None
    for kind in (NaiveBayes, TextNB, GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB):
        update_registered_converter(
            kind, f"Tally{kind.__name__}", _shapes, _convert, options={"zipmap": [False, True]}, parser=_parse
        )


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> Any:
    """Declare the outputs of an estimator: labels and probabilities."""
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    if isinstance(model, TextNB):
        want = "estimators without text for ONNX, whose operators split words differently"
        raise BadOption(wanted("TextNB", want, "text", "Use model_.to_json, to_html or to_sql"))
    operator = scope.declare_local_operator(f"Tally{type(model).__name__}", model)
    operator.inputs = inputs
    whole = np.asarray(model.classes_).dtype.kind in "iu"  # other classes are text
    operator.outputs.append(scope.declare_local_variable("label", Int64TensorType() if whole else StringTensorType()))
    operator.outputs.append(scope.declare_local_variable("probabilities", DoubleTensorType()))
    return operator.outputs


def _shapes(operator: Any) -> None:
    n = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type.shape = [n]
    operator.outputs[1].type.shape = [n, len(operator.raw_operator.classes_)]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add an estimator's nodes to the graph of skl2onnx."""
    if container.target_opset_any_domain("") < OPSET:
        got = str(container.target_opset_any_domain(""))
        raise BadOption(wanted("target_opset", f"at least {OPSET}", got, f"Pass target_opset={OPSET}"))
    graph, estimator = Graph(), operator.raw_operator
    inputs = [one.full_name for one in operator.inputs]
    texts = [type(one.type).__name__ == "StringTensorType" for one in operator.inputs]
    if isinstance(estimator, NaiveBayes):
        label, probabilities = _answer_of_model(graph, estimator, inputs, texts)
    else:
        columns = [graph.op("Cast", one, to=DOUBLE) for one in inputs]
        x = columns[0] if len(columns) == 1 else graph.op("Concat", *columns, axis=1)
        label, probabilities = _answer_of_drop_in(graph, estimator, x)
    for of, output in zip((label, probabilities), operator.outputs, strict=True):
        graph.alias(of, output.full_name)
    nodes, constants = graph.renamed(scope.get_unique_variable_name("tally"))
    container.nodes.extend(nodes)
    container.initializers.extend(constants)
    container.node_domain_version_pair_sets.update({("", OPSET), ("ai.onnx.ml", ML_OPSET)})


def _answer_of_model(graph: Graph, estimator: Any, inputs: list[str], texts: list[bool]) -> tuple[str, str]:
    card = scorecard_of(estimator.model_)
    columns, strings = card.schema.columns, takes_texts(card)
    if len(inputs) == 1 and len(columns) != 1:
        whole = inputs[0] if texts[0] else graph.op("Cast", inputs[0], to=DOUBLE)
        given = {name: graph.columns(whole, f, f + 1) for f, name in enumerate(columns)}
        texts = texts * len(columns)
    elif len(inputs) == len(columns):
        each = zip(columns, inputs, texts, strict=True)
        given = {name: one if text else graph.op("Cast", one, to=DOUBLE) for name, one, text in each}
    else:
        raise BadOption(wanted("inputs", f"one, or one for each of {len(columns)} columns", str(len(inputs))))
    for name, text in zip(columns, texts, strict=True):
        if text != (name in strings):
            want, got = ("strings", "numbers") if name in strings else ("numbers", "strings")
            raise BadOption(wanted(f"column {name!r}", want, got, "Give each column an input of its type"))
    return add_answer(graph, card, given)


def _answer_of_drop_in(g: Graph, estimator: Any, x: str) -> tuple[str, str]:
    """Return labels and probabilities of a matrix (n, F)."""
    scores = _SCORES[next(kind for kind in _SCORES if isinstance(estimator, kind))](g, estimator, x)
    classes = np.asarray(estimator.classes_)
    names = classes.astype(np.int64) if classes.dtype.kind in "iu" else np.array([str(one) for one in classes], object)
    label = g.op("Gather", g.const(names), g.op("ArgMax", scores, axis=1, keepdims=0), axis=0)
    return label, g.op("Softmax", scores, axis=1)


def _linear(g: Graph, x: str, log: Any, constant: Any) -> str:  # (n, C)
    table = g.const(np.ascontiguousarray(finite(np.asarray(log, np.float64)).T))
    return g.op("Add", g.op("MatMul", x, table), g.const(finite(np.asarray(constant, np.float64))[None]))


def _bag(g: Graph, estimator: Any, x: str) -> str:
    return _linear(g, x, estimator.feature_log_prob_, np.broadcast_to(estimator._constant(), len(estimator.classes_)))


def _coins(g: Graph, estimator: Any, x: str) -> str:
    one = np.asarray(estimator.feature_log_prob_, np.float64)
    with np.errstate(divide="ignore"):
        none = finite(np.log(1 - np.exp(one)))
    one = finite(one)
    if estimator.binarize is not None:
        x = g.op("Cast", g.op("Greater", x, g.const(float(estimator.binarize))), to=DOUBLE)
    return _linear(g, x, one - none, estimator.class_log_prior_ + none.sum(axis=1))


def _bells(g: Graph, estimator: Any, x: str) -> str:
    mean, variance = np.asarray(estimator.theta_, np.float64), np.asarray(estimator.var_, np.float64)
    constant = finite(np.log(estimator.class_prior_)) - 0.5 * np.log(2 * np.pi * variance).sum(axis=1)
    parts = []
    for c in range(len(mean)):
        z = g.op("Mul", g.op("Sub", x, g.const(mean[c : c + 1])), g.const(np.sqrt(0.5 / variance[c : c + 1])))
        parts.append(g.op("MatMul", g.op("Mul", z, z), g.const(np.ones((mean.shape[1], 1)))))
    return g.op("Sub", g.const(constant[None]), g.op("Concat", *parts, axis=1))


def _codes(g: Graph, estimator: Any, x: str) -> str:
    parts = [g.const(finite(np.asarray(estimator.class_log_prior_, np.float64))[None])]
    for f, table in enumerate(estimator.feature_log_prob_):
        code = g.op("Cast", g.op("Squeeze", g.columns(x, f, f + 1), g.const([1])), to=7)
        parts.append(g.op("Gather", g.const(np.ascontiguousarray(finite(table).T)), code, axis=0))
    return g.op("Sum", *parts)


_SCORES = {GaussianNB: _bells, BernoulliNB: _coins, CategoricalNB: _codes, MultinomialNB: _bag, ComplementNB: _bag}
