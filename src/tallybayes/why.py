"""What can be asked of a model about its reasons. Each method opens its part of `explain/` when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallybayes.events import Table
    from tallybayes.explain.dependence import Dependence
    from tallybayes.explain.parameters import Parameters
    from tallybayes.explain.probability import Probability
    from tallybayes.model import Model

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
        from tallybayes.explain.independence import of_model

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
        from tallybayes.explain.believed import believed

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
        from tallybayes.explain.parameters import parameters

        return parameters(self._model)
