"""Joint, marginal and conditional probabilities by counting, in one pass over the rows."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
from scipy.special import betaincinv

from tallybayes import engines, sources
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.evaluation import wilson
from tallybayes.evaluation.proportions import LEVEL, checked
from tallybayes.queries.language import Query, parse
from tallybayes.queries.probability import Probability
from tallybayes.queries.tally import Tally, tally

__all__ = ["Probability", "probability"]

Interval = Literal["wilson", "beta"]


def probability(
    source: Any,
    query: str,
    given: str | Mapping[str, Any] | None = None,
    *,
    interval: Interval = "wilson",
    level: float = LEVEL,
    missing_values: Sequence[str] = (),
    errors: str = "strict",
    threads: int | None = None,
) -> Probability:
    """The probability of something, or of something given something else, by counting rows.

    Parameters
    ----------
    source : anything `fit` takes
        The rows.
    query : str
        What is asked: "circle, red", "circle | red", "play=yes | outlook=sunny, windy=false", "age>50", "text~prince".
        Terms between commas hold together, those behind the bar are given. A value alone is looked for in all columns;
        names and values with commas or signs are put in quotes. ``~`` is for words in a text.
    given : str or mapping, optional
        More of what is given: terms, or values by column.
    interval : {"wilson", "beta"}
        Wilson's interval, or the Beta posterior's of Jeffreys' prior.
    level : float
        How often such an interval holds the truth.
    missing_values, errors
        As in `fit`. A row in which a column is missing that the query speaks of is left out, and counted.
    threads : int, optional
        How many threads count.

    Returns
    -------
    Probability

    Examples
    --------
    >>> import tallybayes as tb
    >>> shapes = {"shape": ["circle", "circle", "square"], "colour": ["red", "blue", "red"]}
    >>> float(tb.probability(shapes, "circle | red"))      # of two red ones, one is a circle
    0.5
    >>> asked = tb.probability(shapes, "circle, red")
    >>> asked.hits, asked.total
    (1, 3)
    """
    reading = sources.ReadOptions(missing_values, errors)
    question, workers = parse(query, given), engines.default_threads(threads)
    checked(level)
    if interval not in ("wilson", "beta"):
        raise BadOption(wanted("interval", "'wilson' or 'beta'", repr(interval)))

    def counted(types: open_rows.Types | None) -> tuple[Tally, list[str], str]:
        rows = sources.open_source(source, reading, types=types)
        names = _checked(question, rows)
        named = [term.column for term in question.terms if term.column is not None]
        if sources.is_path(source) and len(named) == len(question.terms):
            only = list(dict.fromkeys(named))
            rows = sources.open_source(source, reading, columns=only, types=types)
        made = engines.fold(
            rows, lambda batch, first: tally(question, batch, first), operator.add, Tally(), threads=workers
        )
        return made, names, rows.name

    made, names, where = open_rows.reading(counted)
    if not made.found:
        raise BadData(wanted(where, "rows to count", "none"))
    hits, total, missing = made.counts(question, names)
    if total == 0:
        raise BadData(_never(question, sum(made.patterns.values()), missing))
    low, high = _ends(hits, total, interval, level)
    return Probability(str(question), hits / total, hits, total, low, high, level, missing)


def _checked(query: Query, rows: sources.Source) -> list[str]:
    """The names of all columns, among which are those of the query."""
    names = RowBatch(pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in rows.schema], schema=rows.schema)).names
    for term in query.terms:
        if term.column is not None and term.column not in names:
            where = f"query {str(query)!r}"
            raise BadOption(
                wanted(where, f"columns of {rows.name}", repr(term.column), did_you_mean(term.column, names))
            )
    return names


def _never(query: Query, rows: int, missing: int) -> str:
    """What is said where nothing can be said."""
    given = ", ".join(map(str, query.given))
    got = f"none of {rows:,}" + (f" ({missing:,} lack a column that it speaks of)" if missing else "")
    want = f"rows in which {given} holds" if given else "rows that have the columns asked about"
    return wanted(f"query {str(query)!r}", want, got, "Ask with less given" if given else "")


def _ends(hits: int, total: int, interval: Interval, level: float) -> tuple[float, float]:
    """The interval.

    Notes
    -----
    "beta" has equal tails of Beta(hits + ½, total − hits + ½), but reaches 0 where there are no hits and 1 where there
    is nothing else (Brown, Cai and DasGupta 2001).
    """
    if interval == "wilson":
        return wilson(hits / total, total, level)
    a, b, tail = hits + 0.5, total - hits + 0.5, (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(a, b, tail))
    high = 1.0 if hits == total else float(betaincinv(a, b, 1 - tail))
    return low, high
