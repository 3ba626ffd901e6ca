"""Methods of `Model` that ask its joint distribution: probabilities, and rows drawn from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from tallybayes.model import Model
    from tallybayes.queries.probability import Probability

__all__ = ["probability", "sample"]


def probability(
    self: Model, query: str, given: str | Mapping[str, Any] | None = None, *, level: float = 0.95
) -> Probability:
    """Return the probability of a class or of values, given others.

    All other columns are summed out.

    Parameters
    ----------
    query : str
        As in `tallybayes.probability`: "play=yes | outlook=sunny", "outlook=sunny, windy=true". Columns of numbers
        or text can only be conditions, with ``=``.
    given : str or mapping, optional
        More conditions: terms, or values by column, such as a row.
    level : float
        The probability that the bounds hold; only a class given values has bounds.

    Notes
    -----
    The answer follows from the joint distribution P(c) Π P(x | c), so P(a, b) = P(a | b) P(b) for all queries. The
    temperature, by which `predict_proba` corrects for dependent columns, is not applied.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q", "q"], "y": ["no", "yes", "yes"]}, "y", estimate="mle")
    >>> float(model.probability("x=q")), float(model.probability("y=yes | x=q"))
    (0.6666666666666666, 1.0)
    """
    from tallybayes.queries.from_model import probability_from_model

    return probability_from_model(self, query, given, level=level)


def sample(
    self: Model, n: int = 1, given: Any | Mapping[str, Any] = None, *, missing: bool = False, seed: int = 0
) -> pa.Table:
    """Draw rows from the model's distribution.

    Parameters
    ----------
    n : int
        The number of rows.
    given : class or mapping, optional
        The class of all rows; or a mapping of column names to fixed values, which may include the label. A class
        that is not given is drawn from the prior, or from its posterior given the values.
    missing : bool
        Whether values are missing as often as in training; otherwise none is.
    seed : int
        The random seed.

    Returns
    -------
    pyarrow.Table
        The columns of the training data in their order, then the label.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", estimate="mle")
    >>> model.sample(2, given="yes").to_pydict()
    {'x': ['q', 'q'], 'y': ['yes', 'yes']}
    """
    from tallybayes.queries.sample import sample

    return sample(self, n, given, missing=missing, seed=seed)
