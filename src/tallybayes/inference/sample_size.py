"""How many rows it takes to fit weights, given the columns and classes."""

from __future__ import annotations

__all__ = ["has_few_terms", "most_rows_to_calibrate", "rows_for_one_weight", "rows_to_calibrate", "rows_to_weigh"]

# Numbers of all terms (16 MB): beyond, more rows take longer than counting a million, and on kddcup99, of 41 columns
# and 18 classes, twice as many gained less than 0.0001 nats; and the rows taken in any case.
_MOST_CELLS, _FEWEST_ROWS = 1 << 21, 2000
_ENOUGH_ROWS = 20_000  # on large tables 50,000 gained less than 0.001 nats over these, in 2.5 times the time
# Where one weight serves all columns: scores (16 MB) and the terms summed for them, of ten thousand classes too; and
# the rows taken in any case. It is one number, and the fewer rows, the more it is drawn to 1.
_MOST_SCORES, _MOST_TERMS, _FEWEST_FOR_ONE = 1 << 21, 1 << 25, 100
_MOST_COLUMNS = 4096  # with more, the rows that fit in memory could not tell their weights apart
_MOST_OF_FEW = 16 * _MOST_CELLS // _FEWEST_ROWS  # columns times classes, of which the fewest rows take 256 MB


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


def rows_to_calibrate(columns: int, classes: int) -> int:
    """Return how many rows are enough to fit a weight for each column, or one for all where they are many."""
    return rows_to_weigh(columns if has_few_terms(columns, classes) else 1, classes)


def most_rows_to_calibrate(columns: int, classes: int) -> int:
    """Return how many rows are enough with these classes, whatever classes other rows add to them.

    More classes need fewer rows, until they are too many for a weight of each column.

    Examples
    --------
    >>> most_rows_to_calibrate(50, 10), max(rows_to_calibrate(50, classes) for classes in range(10, 1_000))
    (6241, 6241)
    """
    many = 1 + _MOST_OF_FEW // max(1, columns)
    return max(rows_to_calibrate(columns, classes), rows_to_calibrate(columns, max(classes, many)))


def has_few_terms(columns: int, classes: int) -> bool:
    """Return whether each column can have a weight of its own; otherwise one weight serves all."""
    return columns <= _MOST_COLUMNS and columns * classes <= _MOST_OF_FEW
