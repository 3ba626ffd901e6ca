"""The result of a probability query: a number, its counts and its interval."""

from __future__ import annotations

from dataclasses import dataclass

from tallybayes.display.number_of import number_of
from tallybayes.display.tables import Result, Sheet, number


@dataclass(frozen=True, repr=False)
class Probability(Result):
    """A probability; ``float(p)`` is the number alone.

    Attributes
    ----------
    query : str
        The query, such as "circle | red".
    probability : float
        The probability.
    hits, total : int or None
        The rows where the query holds, and those where its condition holds. None for a model.
    low, high : float or None
        The ends of the interval; None for a model, unless the query is for a class given values.
    level : float
        The confidence level of the interval.
    missing : int or None
        Rows left out because they lack a column of the query.
    notes : tuple of str
        Further remarks.

    Examples
    --------
    >>> import tallybayes as tb
    >>> shapes = {"shape": ["circle", "circle", "square"], "colour": ["red", "blue", "red"]}
    >>> print(tb.probability(shapes, "circle | red"))
    P(circle | red) = 0.5000
    <BLANKLINE>
    1 of 2 rows; between 0.0945 and 0.9055 at 95 %.
    """

    query: str
    probability: float
    hits: int | None = None
    total: int | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    missing: int | None = None
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.probability

    def shown(self) -> Sheet:
        """Return the number, with its counts and interval."""
        return Sheet(f"P({self.query}) = {number(self.probability)}", (), (*self._basis(), *self.notes))

    def _basis(self) -> tuple[str, ...]:
        counted = "" if self.total is None else f"{self.hits:,} of {number_of(self.total, 'row')}"
        within = ""
        if self.low is not None and self.high is not None:
            within = f"between {number(self.low)} and {number(self.high)} at {100 * self.level:g} %"
        sentence = "; ".join(part for part in (counted, within) if part)
        left_out = f"{self.missing:,} more left out because a column is missing." if self.missing else ""
        return tuple(line for line in (f"{sentence}." if sentence else "", left_out) if line)
