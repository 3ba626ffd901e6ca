"""What can be asked of a model about its reasons. Each method opens its part of `explain/` when it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from tallybayes.events import Table
    from tallybayes.explain.pictures import Picture
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
        from tallybayes.explain.samples import sample

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
        from tallybayes.explain.pictures import picture

        return picture(self._model, shape, columns=columns, classes=classes)
