"""What can be asked of a model about its reasons. Each method opens its part of `explain/` when it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from tallybayes.explain.contributions import Contributions, Shapley
    from tallybayes.explain.explanation import Explanation
    from tallybayes.explain.images import Picture
    from tallybayes.explain.importance import Importance
    from tallybayes.explain.nomogram import Nomogram
    from tallybayes.explain.parameter_count import Parameters
    from tallybayes.explain.tables import Table, Tables
    from tallybayes.model import Model
    from tallybayes.queries.probability import Probability
    from tallybayes.structure.dependence import Dependence

__all__ = ["Why"]


class Why:
    """The half of `Model` that shows why."""

    @property
    def _model(self) -> Model:
        return self  # type: ignore[return-value]  # Model alone has this half

    def table(self, column: str) -> Table:
        """What one column says: a row per value or parameter, a column per class.

        Examples
        --------
        >>> import tallybayes as tb
        >>> table = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y").table("x")
        >>> table.rows, table.counts.tolist(), table.values.round(3).tolist()
        (('p', 'q'), [[1.0, 0.0], [0.0, 1.0]], [[0.667, 0.333], [0.333, 0.667]])
        """
        from tallybayes.explain.tables import table

        return table(self._model, column)

    def tables(self) -> Tables:
        """The prior, and the tables of all columns.

        Examples
        --------
        >>> import tallybayes as tb
        >>> tables = tb.fit({"x": ["p", "q", "q"], "y": ["no", "yes", "yes"]}, "y").tables()
        >>> tables.prior.shares.round(3).tolist(), tables["x"].counts.tolist()
        ([0.333, 0.667], [[1.0, 0.0], [0.0, 2.0]])
        """
        from tallybayes.explain.tables import tables

        return tables(self._model)

    def nomogram(self, of: Any = None, against: Any = None) -> Nomogram:
        """Points for each value of each column, which a person adds up and turns into a probability.

        Parameters
        ----------
        of, against : class, optional
            The class whose probability is told, and the other. Of two classes the last one is told unless given; of
            more both have to be named, and the probability is that of the one among the two.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": list("ppqq"), "z": list("rsss"), "y": ["no", "no", "yes", "yes"]}
        >>> chart = tb.fit(rows, "y", calibrate=None).nomogram()
        >>> points = chart.points("x", "q") + chart.points("z", "s")      # 100 + 50
        >>> points, round(chart.probability(points), 4)                   # 3/4 · 3/4 against 1/4 · 2/4
        (150.0, 0.8182)
        """
        from tallybayes.explain.nomogram import nomogram

        return nomogram(self._model, of, against)

    def explain(self, row: Any, *, of: Any = None, against: Any = None) -> Explanation:
        """Why one row is answered as it is: what each column and each word says, and on which counts that rests.

        Parameters
        ----------
        row : dict, text, one-dimensional array, or anything of one row that `predict` takes
            The row.
        of : class, optional
            The class to speak for; the most probable unless given.
        against : class, optional
            The class to speak against; all others unless given.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy"], "play": ["no", "yes", "yes"]}
        >>> print(tb.fit(rows, "play", calibrate=None).explain({"outlook": "rainy"}))      # log 2; log(3/4 ÷ 1/3)
        play = yes: probability 0.8182
        what       value   for yes   no   yes
        ─────────────────────────────────────
        prior               +0.693    1     2
        outlook    rainy    +0.811    0     2
        together            +1.504
        Log-odds of yes against no; beside them, on how many rows (or words) of each class they rest.
        """
        from tallybayes.explain.explanation import explain

        return explain(self._model, row, of, against)

    def importance(self, rows: Any = None, label: Any = None, *, weights: Any = None) -> Importance:
        """How much each column matters: what it tells of the class, and what rows left out lose without it.

        Parameters
        ----------
        rows : anything `fit` takes, optional
            Labelled rows that the model has learned. Without them, only what is told is known.
        label, weights : str or array_like, optional
            As in `fit`; by default the columns that were given there.

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

        return importance(self._model, rows, label, weights)

    def select(self, columns: Any = None, *, rows: Any = None, label: Any = None, weights: Any = None) -> Model:
        """The model of some of the columns: evidence the same, to the bit, as if the others had never been there.

        Parameters
        ----------
        columns : int or sequence of str, optional
            How many to keep, or which. Without rows those that tell most of the class are kept.
        rows : anything `fit` takes, optional
            Labelled rows that the model has learned. They choose: the column that lowers the log-loss of rows left out
            most is taken first, then the one that lowers it most beside it, and so on, while it is no accident.
        label, weights : str or array_like, optional
            As in `fit`; by default the columns that were given there.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": list("ppqq") * 5, "z": list("rsrs") * 5, "y": ["no", "no", "yes", "yes"] * 5}
        >>> model = tb.fit(rows, "y")
        >>> [list(model.select(*how, **by).schema.columns) for how, by in [((1,), {}), ((), {"rows": rows})]]
        [['x'], ['x']]
        """
        from tallybayes.explain.importance import select

        return select(self._model, columns, rows, label, weights)

    def contributions(
        self, rows: Any, *, of: Any = None, against: Any = None, threads: int | None = None
    ) -> Contributions:
        """What each column says of each row: log-odds that add up to those of the probability answered.

        Parameters
        ----------
        rows : anything `fit` takes
            Rows with the columns of the training data.
        of : class, optional
            The class to speak for; in each row the most probable unless given.
        against : class, optional
            The class to speak against; all others unless given.
        threads : int, optional
            How many threads work.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", calibrate=None)
        >>> said = model.contributions([{"x": "p"}])
        >>> said.prior, said.terms.round(4), said.probability.round(4)      # log(2/3) − log(1/3) = 0.6931
        (array([0.]), array([[0.6931]]), array([0.6667]))
        """
        from tallybayes.explain.contributions import contributions

        return contributions(self._model, rows, of, against, threads)

    def shapley(
        self, rows: Any, background: Any = None, *, of: Any = None, against: Any = None, threads: int | None = None
    ) -> Shapley:
        """How far each column moves each row's log-odds from those of the background, in closed form.

        Parameters
        ----------
        rows : anything `fit` takes
            Rows with the columns of the training data.
        background : anything `fit` takes, optional
            Rows to be compared with, in the mean; the same rows unless given.
        of, against, threads
            As for `contributions`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", calibrate=None)
        >>> model.shapley([{"x": "p"}, {"x": "q"}], of="yes").values.round(4)      # about their mean, 0
        array([[-0.6931],
               [ 0.6931]])
        """
        from tallybayes.explain.contributions import shapley

        return shapley(self._model, rows, background, of, against, threads)

    def sample(
        self, n: int = 1, given: Any | Mapping[str, Any] = None, *, missing: bool = False, seed: int = 0
    ) -> pa.Table:
        """Rows that the model might have been fitted on, drawn from what it believes.

        Parameters
        ----------
        n : int
            How many.
        given : class or mapping, optional
            The class of all rows; or a mapping of column names to values that are held fixed, the label among them or
            not. A class that is not given is drawn: by the prior, or by its probability given the values.
        missing : bool
            Whether values are missing as often as they were in training; otherwise none is.
        seed : int
            The same seed draws the same rows.

        Returns
        -------
        pyarrow.Table
            The columns of the training data in their order, and the label behind them.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", estimate="mle")
        >>> model.sample(2, given="yes").to_pydict()
        {'x': ['q', 'q'], 'y': ['yes', 'yes']}
        """
        from tallybayes.queries.sample import sample

        return sample(self._model, n, given, missing=missing, seed=seed)

    def picture(
        self,
        shape: tuple[int, int],
        *,
        columns: str | Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Picture:
        """Class averages as images, where columns are pixels.

        Parameters
        ----------
        shape : tuple of two int
            Height and width; pixels come row by row.
        columns : str or sequence of str, optional
            A glob, or names in the order of the pixels; by default all columns in the order of the training data.
        classes : sequence, optional
            Which classes, in which order; by default all.

        Examples
        --------
        >>> import tallybayes as tb
        >>> strokes = {"left": [1, 1, 0], "right": [0, 1, 1], "digit": [5, 5, 6]}
        >>> seen = tb.fit(strokes, "digit", events="bernoulli").picture((1, 2))
        >>> seen.average.round(3).tolist()      # five: (2+1)/(2+2), (1+1)/(2+2); six: (0+1)/(1+2), (1+1)/(1+2)
        [[[0.75, 0.5]], [[0.333, 0.667]]]
        """
        from tallybayes.explain.images import picture

        return picture(self._model, shape, columns=columns, classes=classes)

    def dependence(self, rows: Any, label: Any = None, **options: Any) -> Dependence:
        """Which pairs of this model's columns break conditional independence in the given rows.

        Parameters
        ----------
        rows : anything `fit` takes
            Labelled rows, whose columns are what they are in this model.
        label : str or array_like, optional
            As in `fit`; by default the column that was given there.
        **options
            weights, columns, bins, values and threads, as in `tallybayes.dependence`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> xor = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": [0, 1, 1, 0] * 5}
        >>> tb.fit(xor, "y").dependence(xor).worst(1)[0].columns
        ('a', 'b')
        """
        from tallybayes.structure.independence import of_model

        return of_model(self._model, rows, label, **options)

    def probability(
        self, query: str, given: str | Mapping[str, Any] | None = None, *, level: float = 0.95
    ) -> Probability:
        """The probability of a class or of values, given others; columns that are not mentioned are summed out.

        Parameters
        ----------
        query : str
            As in `tallybayes.probability`: "play=yes | outlook=sunny", "outlook=sunny, windy=true". Columns of numbers
            or text may stand behind the bar only, with ``=``.
        given : str or mapping, optional
            More of what is given: terms, or values by column, such as a row.
        level : float
            How probable it is that the bounds hold, where there are any: for a class, given values.

        Notes
        -----
        The answer is that of the joint distribution P(c) Π P(x | c), so that P(a, b) = P(a | b) P(b) for all questions;
        the tempering by which `predict_proba` corrects for columns that repeat each other is no part of it.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q", "q"], "y": ["no", "yes", "yes"]}, "y", estimate="mle")
        >>> float(model.probability("x=q")), float(model.probability("y=yes | x=q"))
        (0.6666666666666666, 1.0)
        """
        from tallybayes.queries.from_model import believed

        return believed(self._model, query, given, level=level)

    def parameters(self) -> Parameters:
        """How many numbers this model has to learn, and how many it would be without independence.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {f"x{k}": [True, False] for k in range(10)} | {"y": [0, 1]}
        >>> count = tb.fit(rows, "y").parameters()
        >>> count.naive, count.joint      # 2 · 10, 2 · (2¹⁰ − 1)
        (20, 2046)
        """
        from tallybayes.explain.parameter_count import parameters

        return parameters(self._model)
