"""Methods of `Model` that explain it and its predictions: each opens `explain/` when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallybayes.explain.contributions import Contributions, Shapley
    from tallybayes.explain.explanation import Explanation
    from tallybayes.explain.images import Picture
    from tallybayes.explain.importance import Importance
    from tallybayes.explain.nomogram import Nomogram
    from tallybayes.explain.parameter_count import Parameters
    from tallybayes.explain.tables import Table, Tables
    from tallybayes.model import Model

__all__ = [
    "contributions",
    "explain",
    "importance",
    "nomogram",
    "parameters",
    "picture",
    "select",
    "shapley",
    "table",
    "tables",
]


def table(self: Model, column: str) -> Table:
    """Return one column's table: a row per value or parameter, a column per class.

    Examples
    --------
    >>> import tallybayes as tb
    >>> table = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1).table("x")
    >>> table.rows, table.counts.tolist(), table.values.round(3).tolist()
    (('p', 'q'), [[1.0, 0.0], [0.0, 1.0]], [[0.667, 0.333], [0.333, 0.667]])
    """
    from tallybayes.explain.tables import table

    return table(self, column)


def tables(self: Model) -> Tables:
    """Return the prior and the tables of all columns.

    Examples
    --------
    >>> import tallybayes as tb
    >>> tables = tb.fit({"x": ["p", "q", "q"], "y": ["no", "yes", "yes"]}, "y").tables()
    >>> tables.prior.shares.round(3).tolist(), tables["x"].counts.tolist()
    ([0.333, 0.667], [[1.0, 0.0], [0.0, 2.0]])
    """
    from tallybayes.explain.tables import tables

    return tables(self)


def nomogram(self: Model, of: Any = None, against: Any = None) -> Nomogram:
    """Return points for each value of each column, to add up by hand.

    A scale turns their sum into a probability.

    Parameters
    ----------
    of, against : class, optional
        The class whose probability is read off, and the other. With two classes, the last one by default. With
        more, name both: the probability is then that of the first among the two.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": list("ppqq"), "z": list("rsss"), "y": ["no", "no", "yes", "yes"]}
    >>> chart = tb.fit(rows, "y", alpha=1, calibrate=None).nomogram()
    >>> points = chart.points("x", "q") + chart.points("z", "s")      # 100 + 50
    >>> points, round(chart.probability(points), 4)                   # 3/4 · 3/4 against 1/4 · 2/4
    (150.0, 0.8182)
    """
    from tallybayes.explain.nomogram import nomogram

    return nomogram(self, of, against)


def explain(self: Model, row: Any, *, of: Any = None, against: Any = None) -> Explanation:
    """Explain a row's prediction: what each column or word adds, and its counts.

    Parameters
    ----------
    row : dict, text, one-dimensional array, or anything of one row that `predict` takes
        The row.
    of : class, optional
        The class to explain; by default the most probable.
    against : class, optional
        The class to compare with; by default all others.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"outlook": ["sunny", "rainy", "rainy"], "play": ["no", "yes", "yes"]}
    >>> print(tb.fit(rows, "play", alpha=1).explain({"outlook": "rainy"}))      # log 2; log(3/4 ÷ 1/3)
    play = yes: probability 0.8182
    what       value   for yes   no   yes
    ─────────────────────────────────────
    prior               +0.693    1     2
    outlook    rainy    +0.811    0     2
    together            +1.504
    Log-odds of yes against no, with the training rows (or words) of each class behind them.
    """
    from tallybayes.explain.explanation import explain

    return explain(self, row, of, against)


def importance(self: Model, rows: Any = None, label: Any = None, *, weights: Any = None) -> Importance:
    """Return each column's importance: its mutual information, and the leave-one-out loss without it.

    Parameters
    ----------
    rows : anything `fit` takes, optional
        Labelled rows that the model has learned. Without them, only the mutual information is computed.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": list("ppqq") * 5, "z": list("rsrs") * 5, "y": ["no", "no", "yes", "yes"] * 5}
    >>> tb.fit(rows, "y", estimate="mle").importance().information.round(6).tolist()      # all, and nothing
    [1.0, 0.0]
    >>> tb.fit(rows, "y").importance(rows).ranking()
    ['x', 'z']
    """
    from tallybayes.explain.importance import importance

    return importance(self, rows, label, weights)


def select(self: Model, columns: Any = None, *, rows: Any = None, label: Any = None, weights: Any = None) -> Model:
    """Return the model of some columns.

    Its evidence equals, to the bit, that of a fit without the others.

    Parameters
    ----------
    columns : int or sequence of str, optional
        How many to keep, or which. Without rows, those with the most mutual information are kept.
    rows : anything `fit` takes, optional
        Labelled rows that the model has learned, to choose by leave-one-out log-loss. With weights of columns,
        constants and copies are dropped, and those without which it surely does not rise, if that holds for folds
        of rows that did not choose them, too. Columns that are counted together with others (`structure`) stay:
        they may tell only together. Without weights, columns are added while it falls.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": list("ppqq") * 5, "z": list("rsrs") * 5, "y": ["no", "no", "yes", "yes"] * 5}
    >>> model = tb.fit(rows, "y", calibrate=None)
    >>> [list(model.select(*how, **by).schema.columns) for how, by in [((1,), {}), ((), {"rows": rows})]]
    [['x'], ['x']]
    """
    from tallybayes.explain.importance import select

    return select(self, columns, rows, label, weights)


def contributions(
    self: Model, rows: Any, *, of: Any = None, against: Any = None, threads: int | None = None
) -> Contributions:
    """Return the log-odds that each column adds to each row.

    They sum to the log-odds of its probability.

    Parameters
    ----------
    of : class, optional
        The class to explain; by default the most probable of each row.
    against : class, optional
        The class to compare with; by default all others.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
    >>> found = model.contributions([{"x": "p"}])
    >>> found.prior, found.terms.round(4), found.probability.round(4)      # log(2/3) − log(1/3) = 0.6931
    (array([0.]), array([[0.6931]]), array([0.6667]))
    """
    from tallybayes.explain.contributions import contributions

    return contributions(self, rows, of, against, threads)


def shapley(
    self: Model, rows: Any, background: Any = None, *, of: Any = None, against: Any = None, threads: int | None = None
) -> Shapley:
    """Return each column's Shapley values: its shift of each row's log-odds from the background's.

    Parameters
    ----------
    background : anything `fit` takes, optional
        Rows whose mean is the reference; by default the same rows.
    of, against, threads
        As for `contributions`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
    >>> model.shapley([{"x": "p"}, {"x": "q"}], of="yes").values.round(4)      # about their mean, 0
    array([[-0.6931],
           [ 0.6931]])
    """
    from tallybayes.explain.contributions import shapley

    return shapley(self, rows, background, of, against, threads)


def picture(
    self: Model,
    shape: tuple[int, int],
    *,
    columns: str | Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
) -> Picture:
    """Return the class averages as images, where columns are pixels.

    Parameters
    ----------
    shape : tuple of two int
        Height and width; pixels are in row-major order.
    columns : str or sequence of str, optional
        A glob, or names in the order of the pixels; by default all columns in the order of the training data.
    classes : sequence, optional
        The classes, in order; by default all.

    Examples
    --------
    >>> import tallybayes as tb
    >>> strokes = {"left": [1, 1, 0], "right": [0, 1, 1], "digit": [5, 5, 6]}
    >>> seen = tb.fit(strokes, "digit", events="bernoulli").picture((1, 2))
    >>> seen.average.round(3).tolist()      # five: (2+1)/(2+2), (1+1)/(2+2); six: (0+1)/(1+2), (1+1)/(1+2)
    [[[0.75, 0.5]], [[0.333, 0.667]]]
    """
    from tallybayes.explain.images import picture

    return picture(self, shape, columns=columns, classes=classes)


def parameters(self: Model) -> Parameters:
    """Count this model's free parameters, and those of the model without independence.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {f"x{k}": [True, False] for k in range(10)} | {"y": [0, 1]}
    >>> count = tb.fit(rows, "y").parameters()
    >>> count.naive, count.joint      # 2 · 10, 2 · (2¹⁰ − 1)
    (20, 2046)
    """
    from tallybayes.explain.parameter_count import parameters

    return parameters(self)
