"""Bad input: one sentence with place, wanted, got and advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.evaluation import Confusion, average_roc, calibration, confusion, roc

LABELS = ["ham", "spam"]
P = [[0.9, 0.1], [0.2, 0.8]]


def evaluate(labels: Any = LABELS, p: Any = P, classes: Any = ("ham", "spam"), **options: Any) -> tb.Evaluation:
    return tb.evaluate(labels, p, classes, **options)


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "fewer probabilities than labels": (
        lambda: evaluate(p=P[:1]),
        "probabilities: wanted 2 rows, as many as labels, got 1.",
    ),
    "fewer predictions than labels": (
        lambda: confusion(LABELS, ["ham"], LABELS),
        "predicted: wanted 2 rows, as many as labels, got 1.",
    ),
    "fewer scores than labels": (lambda: roc(LABELS, [1]), "scores: wanted 2 rows, as many as labels, got 1."),
    "probabilities that do not sum to 1": (
        lambda: evaluate(p=[[0.9, 0.1], [0.5, 0.6]]),
        "probabilities: wanted numbers from 0 to 1 that sum to 1 in each row, got [0.5, 0.6] (row 2, sum 1.1). "
        "Normalise the rows first.",
    ),
    "negative probabilities": (
        lambda: evaluate(p=[[1.5, -0.5], [0.2, 0.8]]),
        "probabilities: wanted numbers from 0 to 1 that sum to 1 in each row, got [1.5, -0.5] (row 1, sum 1). "
        "Normalise the rows first.",
    ),
    "a probability that is no number": (
        lambda: evaluate(p=[[0.9, 0.1], [np.nan, 0.8]]),
        "probabilities: wanted numbers from 0 to 1 that sum to 1 in each row, got [nan, 0.8] (row 2, sum nan). "
        "Normalise the rows first.",
    ),
    "probabilities of one class only": (
        lambda: evaluate(p=[0.1, 0.8]),
        "probabilities: wanted an array (rows, 2 classes), got one number per row (2). "
        "Give np.column_stack([1 - p, p]).",
    ),
    "too many columns": (
        lambda: evaluate(p=[[0.2, 0.3, 0.5]] * 2),
        "probabilities: wanted a column for each of 2 classes, got 3 columns.",
    ),
    "text as probabilities": (
        lambda: evaluate(p="much"),
        "probabilities: wanted numbers, got a str that is not numeric.",
    ),
    "a label that is no class": (
        lambda: evaluate(["ham", "spma"]),
        "labels: wanted one of the classes, got 'spma' (row 2). Did you mean 'spam'?",
    ),
    "a prediction that is no class": (
        lambda: confusion(LABELS, ["ham", "eggs"], LABELS),
        "predicted: wanted one of the classes, got 'eggs' (row 2). There are 'ham' and 'spam'.",
    ),
    "labels of another kind": (
        lambda: evaluate([0, 1]),
        "labels: wanted one of the classes, got 0 (row 1). There are 'ham' and 'spam'.",
    ),
    "a missing label": (
        lambda: evaluate(["ham", None]),
        "labels: wanted one of the classes, got None (row 2). There are 'ham' and 'spam'.",
    ),
    "labels of several kinds": (
        lambda: evaluate(["ham", 1]),
        "labels: wanted one class per row, all of one kind, got values of several kinds.",
    ),
    "a matrix of labels": (
        lambda: evaluate(np.zeros((2, 2))),
        "labels: wanted one class per row, all of one kind, got an array of shape (2, 2).",
    ),
    "no rows": (lambda: evaluate([], np.zeros((0, 2))), "labels: wanted at least one row, got none."),
    "one class": (lambda: evaluate(classes=["ham"]), "classes: wanted at least two, got 1."),
    "a class twice": (lambda: evaluate(classes=["ham", "ham"]), "classes: wanted different names, got 'ham' twice."),
    "classes of several kinds": (
        lambda: evaluate(classes=["ham", 1]),
        "classes: wanted names all of one kind, got values of several kinds.",
    ),
    "an unknown positive class": (
        lambda: evaluate(positive="spam!"),
        "positive: wanted one of the classes, got 'spam!'. Did you mean 'spam'?",
    ),
    "a positive class among three": (
        lambda: evaluate(p=[[0.2, 0.3, 0.5]] * 2, classes=["ham", "spam", "x"], positive="x"),
        "positive: wanted two classes, got 3. Leave it out: every class has its curve.",
    ),
    "costs of the wrong shape": (
        lambda: evaluate(costs=[1, 2]),
        "costs: wanted a 2 × 2 matrix of finite numbers not below 0, decided × true, got an array of shape (2,).",
    ),
    "negative costs": (
        lambda: evaluate(costs=[[0, -1], [1, 0]]),
        "costs: wanted a 2 × 2 matrix of finite numbers not below 0, decided × true, got -1.",
    ),
    "negative weights": (
        lambda: evaluate(weights=[1, -1]),
        "weights: wanted finite numbers not below 0, got -1 (row 2).",
    ),
    "no weight at all": (lambda: evaluate(weights=[0, 0]), "weights: wanted at least one above 0, got only zeros."),
    "too many weights": (
        lambda: evaluate(weights=[1, 1, 1]),
        "weights: wanted 2 rows, as many as labels, got 3.",
    ),
    "no bins": (lambda: evaluate(bins=0), "bins: wanted at least one, got 0."),
    "bins that do not rise": (
        lambda: evaluate(bins=[0, 0.5, 0.5, 1]),
        "bins: wanted a number of bins, or their ends rising from 0 to 1, got [0.0, 0.5, 0.5, 1.0].",
    ),
    "a curve of one class": (
        lambda: roc(["ham", "ham"], [1, 2]),
        "ROC curve: wanted rows of two classes, got only 'ham'.",
    ),
    "a curve of one class by weight": (
        lambda: roc(LABELS, [1, 2], weights=[1, 0]),
        "ROC curve: wanted rows of two classes, got no row of 'spam'.",
    ),
    "a curve of three classes": (
        lambda: roc(["a", "b", "c"], [1, 2, 3]),
        "ROC curve: wanted two classes, got 3. Name the positive class with positive=.",
    ),
    "the curve of an evaluation of three classes": (
        lambda: tb.evaluate(["a", "b", "c"], np.eye(3), "abc").roc,
        "roc: wanted the curve of two classes, got 3 curves. Name the class, as in evaluation.curves['a'].",
    ),
    "infinite scores": (
        lambda: roc(LABELS, [1, np.inf]),
        "scores: wanted finite numbers, got inf (row 2). Give probabilities instead.",
    ),
    "a ratio below 0": (
        lambda: roc(LABELS, [1, 2]).operating_point(ratio=-1),
        "ratio: wanted a number above 0 (negatives per positive), got -1.",
    ),
    "a matrix of costs where two are wanted": (
        lambda: roc(LABELS, [1, 2]).operating_point(costs=[[0, 1], [1, 0]]),
        "costs: wanted two numbers not below 0 (the costs of a false positive and of a false negative), "
        "got an array of shape (2, 2).",
    ),
    "negative costs of a point": (
        lambda: roc(LABELS, [1, 2]).operating_point(costs=(-1, 1)),
        "costs: wanted two numbers not below 0 (the costs of a false positive and of a false negative), "
        "not both 0, got [-1.0, 1.0].",
    ),
    "a level that is no share": (
        lambda: roc(LABELS, [1, 2]).interval(95),
        "level: wanted a number between 0 and 1, such as 0.95, got 95.",
    ),
    "no curves to average": (lambda: average_roc([]), "curves: wanted at least one, got none."),
    "curves of different classes": (
        lambda: average_roc([roc(LABELS, [1, 2]), roc(["a", "b"], [1, 2])]),
        "curves: wanted all of one positive class, 'spam', got one of 'b'.",
    ),
    "negative counts": (
        lambda: Confusion.from_counts(tp=1, fp=-1, tn=1, fn=1),
        "counts: wanted numbers not below 0, not all of them 0, got tp=1, fp=-1, tn=1, fn=1.",
    ),
    "an unknown class of a matrix": (
        lambda: confusion(LABELS, LABELS, LABELS)["spom"],
        "class: wanted one of the classes, got 'spom'. Did you mean 'spam'?",
    ),
    "something that half happened": (
        lambda: calibration([1, 0.5], [0.5, 0.5]),
        "happened: wanted true or false, got 0.5 (row 2).",
    ),
    "a probability above 1": (
        lambda: calibration([1, 0], [0.5, 1.5]),
        "probabilities: wanted numbers from 0 to 1, got 1.5 (row 2).",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_in_one_sentence(case: str) -> None:
    wrong, sentence = CASES[case]
    with pytest.raises(tb.errors.TallyError) as error:
        wrong()
    assert str(error.value) == sentence
