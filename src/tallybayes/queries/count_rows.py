"""Joint, marginal and conditional probabilities by counting, in one pass over the rows.

A value without a column may occur in any column, and its column is known only after the last row. So rows are counted
by pattern: the terms that hold and the columns that are missing. Whatever the column, its counts are among these.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import betaincinv

from tallybayes import engines, sources
from tallybayes.arguments import one_of
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.evaluation import wilson
from tallybayes.evaluation.proportions import LEVEL, checked
from tallybayes.plain_values import kind
from tallybayes.queries.conditions import Mask, holds, missing_in, plain_column
from tallybayes.queries.language import Query, Term, parse
from tallybayes.queries.probability import Probability
from tallybayes.queries.read_texts import read_ordered

__all__ = ["Probability", "probability"]

Interval = Literal["wilson", "beta"]
# Values kept per column, to suggest a near one if the query names an unknown value.
_REMEMBERED = 200
# Above this many possible patterns, codes are renumbered, since most patterns have no row.
_LARGE = 1 << 16

Pattern = tuple[tuple[bool, ...], frozenset[str]]


def probability(
    source: Any,
    query: str,
    given: str | Mapping[str, Any] | None = None,
    *,
    interval: Interval = "wilson",
    level: float = LEVEL,
    missing_values: sources.MissingValues = sources.AUTO,
    errors: str = "strict",
    threads: int | None = None,
) -> Probability:
    """Return a joint, marginal or conditional probability by counting rows.

    Parameters
    ----------
    source : anything `fit` takes
        The rows.
    query : str
        Such as "circle, red", "circle | red", "play=yes | outlook=sunny, windy=false", "age>50", "text~prince". Terms
        separated by commas must all hold; those after the bar are given. A value alone is searched for in all columns.
        Quote names and values that contain commas or operators. ``~`` searches for words in a text.
    given : str or mapping, optional
        Further conditions: terms, or values by column.
    interval : {"wilson", "beta"}
        Wilson's interval, or that of the Beta posterior under Jeffreys' prior.
    level : float
        The confidence level of the interval.
    missing_values, errors
        As in `fit`. A row that lacks a column of the query is left out, and reported in `missing`.
    threads : int, optional
        Number of threads.

    Examples
    --------
    >>> import tallybayes as tb
    >>> shapes = {"shape": ["circle", "circle", "square"], "colour": ["red", "blue", "red"]}
    >>> float(tb.probability(shapes, "circle | red"))      # of two red ones, one is a circle
    0.5
    >>> both = tb.probability(shapes, "circle, red")
    >>> both.hits, both.total
    (1, 3)
    """
    reading = sources.ReadOptions(missing_values, errors)
    question, workers = parse(query, given), engines.default_threads(threads)
    checked(level)
    one_of("interval", interval, ("wilson", "beta"))

    def counted(types: open_rows.Types | None) -> tuple[PatternCounts, list[str], str]:
        rows = sources.open_source(source, reading, types=types)
        names = _column_names(question, rows)
        named = [term.column for term in question.terms if term.column is not None]
        if sources.is_path(source) and len(named) == len(question.terms):
            only = list(dict.fromkeys(named))
            rows = sources.open_source(source, reading, columns=only, types=types)
        rows = read_ordered(rows, question)
        return (
            engines.fold(rows, partial(count_patterns, question), operator.add, PatternCounts(), threads=workers),
            names,
            rows.name,
        )

    counts, names, where = open_rows.reading(counted)
    if not counts.found:
        raise BadData(wanted(where, "rows to count", "none"))
    hits, total, missing = counts.counts(question, names)
    if total == 0:
        raise BadData(_no_rows(question, sum(counts.patterns.values()), missing))
    low, high = _ends(hits, total, interval, level)
    return Probability(str(question), hits / total, hits, total, low, high, level, missing)


def _column_names(query: Query, rows: sources.Source) -> list[str]:
    """Return the names of all columns; raise BadOption if one of the query is not among them."""
    names = RowBatch(pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in rows.schema], schema=rows.schema)).names
    for term in query.terms:
        if term.column is not None and term.column not in names:
            do = did_you_mean(term.column, names)
            raise BadOption(wanted(f"query {str(query)!r}", f"columns of {rows.name}", repr(term.column), do))
    return names


def _no_rows(query: Query, rows: int, missing: int) -> str:
    """Return the error message for a query that no row can answer."""
    given = ", ".join(map(str, query.given))
    got = f"none of {rows:,}" + (f" ({missing:,} lack a column of the query)" if missing else "")
    want = f"rows in which {given} holds" if given else "rows that have the columns of the query"
    return wanted(f"query {str(query)!r}", want, got, "Give fewer conditions" if given else "")


def _ends(hits: int, total: int, interval: Interval, level: float) -> tuple[float, float]:
    """Return the ends of the interval.

    Notes
    -----
    "beta" has equal tails of Beta(hits + ½, total − hits + ½), but starts at 0 if there are no hits and ends at 1 if
    all rows are hits (Brown, Cai and DasGupta 2001).
    """
    if interval == "wilson":
        return wilson(hits / total, total, level)
    a, b, tail = hits + 0.5, total - hits + 0.5, (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(a, b, tail))
    high = 1.0 if hits == total else float(betaincinv(a, b, 1 - tail))
    return low, high


@dataclass(frozen=True)
class PatternCounts:
    """Numbers of rows by pattern: the terms that hold, and the columns that are missing."""

    patterns: Counter[Pattern] = field(default_factory=Counter)  # rows by pattern
    found: tuple[frozenset[str], ...] = ()  # the columns in which the value of each term was found
    # some values of the columns in which a term's value was not found, for messages
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __add__(self, other: PatternCounts) -> PatternCounts:
        if not self.found or not other.found:
            return self if self.found else other
        found = tuple(a | b for a, b in zip(self.found, other.found, strict=True))
        names = {*self.values, *other.values}
        none: frozenset[str] = frozenset()
        values = {n: _some(self.values.get(n, none) | other.values.get(n, none)) for n in names}
        return PatternCounts(self.patterns + other.patterns, found, values)

    def counts(self, query: Query, columns: Sequence[str]) -> tuple[int, int, int]:
        """Return the numbers of rows: query and condition true, condition true, undetermined.

        A row that lacks a column of the query is undetermined, unless another condition is false there.
        """
        about = [self._column(query, k, columns) for k in range(len(query.terms))]
        split = len(query.target)
        hits = total = missing = 0
        for (held, absent), n in self.patterns.items():
            if any(not held[k] and about[k] not in absent for k in range(split, len(about))):
                continue
            if absent.intersection(about):
                missing += n
            else:
                total += n
                hits += n * all(held[:split])
        return hits, total, missing

    def _column(self, query: Query, k: int, columns: Sequence[str]) -> str:
        """Return the column of a term, once all rows are counted."""
        term, found = query.terms[k], sorted(self.found[k], key=list(columns).index)
        where = f"query {str(query)!r}"
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            named = " or ".join(f"{str(Term(name, '=', term.value))!r}" for name in found)
            raise BadOption(wanted(where, f"{term.value!r} in one column", f"it in {len(found)}", f"Write {named}"))
        near = self.values.get(term.column, ()) if term.column is not None else set().union(*self.values.values())
        want = "a value of some column" if term.column is None else f"a value of column {term.column!r}"
        raise BadOption(wanted(where, want, repr(term.value), did_you_mean(term.value, sorted(near))))


def count_patterns(query: Query, batch: pa.RecordBatch, first: int = 0) -> PatternCounts:
    """Count the patterns of a batch of rows."""
    rows = RowBatch(batch, first)
    read: dict[str, pa.Array] = {}

    def column(name: str) -> pa.Array:
        if name not in read:
            read[name] = plain_column(rows.column(name))
        return read[name]

    held: list[Mask] = []
    found: list[frozenset[str]] = []
    relevant: dict[str, None] = {}  # a set that keeps its order
    values: dict[str, frozenset[str]] = {}
    for term in query.terms:
        names = rows.names if term.column is None else [term.column]
        masks = _where(term, {name: column(name) for name in names})
        some = {name: mask for name, mask in masks.items() if _is_value(term, column(name), mask)}
        held.append(next(iter(some.values()), np.zeros(len(rows), bool)))
        found.append(frozenset(some))
        relevant |= dict.fromkeys(some or names)
        values |= {} if some else {name: _text_values(column(name)) for name in names}
    absent = {name: missing_in(column(name)) for name in relevant if column(name).null_count}
    return PatternCounts(_patterns(held, absent, len(rows)), tuple(found), values)


def _where(term: Term, columns: Mapping[str, pa.Array]) -> dict[str, Mask]:
    """Return where the term holds, for each column that can hold its value."""
    masks = {name: holds(term, column) for name, column in columns.items()}
    if term.column is not None and masks[term.column] is None:
        want = f"a value of column {term.column!r}, {kind(columns[term.column].type)}"
        raise BadOption(wanted(f"query {str(term)!r}", want, repr(term.value)))
    return {name: mask for name, mask in masks.items() if mask is not None}


def _is_value(term: Term, column: pa.Array, mask: Mask) -> bool:
    """Return whether the column is known to have the term's value.

    If so, 0 rows is an answer and not a typo.

    Any number or date is accepted for a named column. A text, or a value without a column, must occur in some row.
    """
    if pa.types.is_null(column.type):
        return False
    if term.column is not None and (term.operator == "~" or not pa.types.is_string(column.type)):
        return True
    if term.operator == "!=":
        return not bool(mask[~missing_in(column)].all())
    return bool(mask.any())


def _patterns(held: list[Mask], absent: Mapping[str, Mask], n: int) -> Counter[Pattern]:
    """Count rows by their bits."""
    code, size = np.zeros(n, np.int64), 1
    for bit in [*held, *absent.values()]:
        code, size = 2 * code + bit, 2 * size
        if size > _LARGE:
            numbers, code = np.unique(code, return_inverse=True)
            size = len(numbers)
    count, example = np.bincount(code, minlength=size), np.zeros(size, np.intp)
    example[code] = np.arange(n)  # some row of each pattern
    patterns: Counter[Pattern] = Counter()
    for i, rows in zip(example[count > 0], count[count > 0], strict=True):
        missing = frozenset(name for name, mask in absent.items() if mask[i])
        patterns[tuple(bool(mask[i]) for mask in held), missing] += int(rows)
    return patterns


def _text_values(column: pa.Array) -> frozenset[str]:
    return _some(map(str, pc.unique(column.drop_null()).to_pylist()))


def _some(values: Iterable[str]) -> frozenset[str]:
    return frozenset(sorted(values)[:_REMEMBERED])
