"""What can be asked of a model about its reasons. Each method opens its part of `explain/` when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tallybayes.events import Table
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
