"""How many rows it takes to fit weights, given the columns and classes."""

from __future__ import annotations

__all__ = ["has_few_terms", "rows_for_one_weight", "rows_to_weigh"]

# Numbers of all terms (16 MB): beyond, more rows take longer than counting a million, and on kddcup99, of 41 columns
# and 18 classes, twice as many gained less than 0.0001 nats; and the rows taken in any case.
_MOST_CELLS, _FEWEST_ROWS = 1 << 21, 2000
_ENOUGH_ROWS = 20_000  # on large tables 50,000 gained less than 0.001 nats over these, in 2.5 times the time
# Where one weight serves all columns: scores (16 MB) and the terms summed for them, of ten thousand classes too; and
# the rows taken in any case. It is one number, and the fewer rows, the more it is drawn to 1.
_MOST_SCORES, _MOST_TERMS, _FEWEST_FOR_ONE = 1 << 21, 1 << 25, 100
_MOST_COLUMNS = 4096  # with more, the rows that fit in memory could not tell their weights apart


def rows_to_weigh(columns: int, classes: int) -> int:
    """Return how many rows are enough to fit the weights, given the columns and classes."""
    return max(_FEWEST_ROWS, min(_ENOUGH_ROWS, _MOST_CELLS // max(1, columns * classes)))


def rows_for_one_weight(columns: int, classes: int) -> int:
    """Return how many rows are enough to fit one weight for all columns.

    Examples
    --------
    >>> [rows_for_one_weight(20, classes) for classes in (10, 1_000, 10_000, 50_000)]
    [20000, 2000, 209, 100]
    """
    scores, terms = _MOST_SCORES // max(1, classes), _MOST_TERMS // max(1, columns * classes)
    return max(_FEWEST_FOR_ONE, min(_FEWEST_ROWS, scores), min(_ENOUGH_ROWS, scores, terms))


def has_few_terms(columns: int, classes: int) -> bool:
    """Return whether each column can have a weight of its own; otherwise one weight serves all."""
    return columns <= _MOST_COLUMNS and _FEWEST_ROWS * columns * classes <= 16 * _MOST_CELLS
