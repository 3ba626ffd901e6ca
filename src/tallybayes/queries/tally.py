"""Rows counted by which terms of a question hold in them: one pass, parts that add, and the answer at the end.

A value without a column may turn up in any column, and only the last row tells in which. So rows are counted by which
terms hold and which columns are missing there; whatever column is found in the end, the answer is among these counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.categories import kind
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadOption, did_you_mean, wanted
from tallybayes.queries.conditions import Mask, holds, missing_in, plain_column
from tallybayes.queries.language import Query, Term

__all__ = ["Tally", "tally"]

# So many values of a column are remembered to be offered where another was asked for.
_REMEMBERED = 200
# From here on the numbers of patterns are numbered anew, since most of them are of no row.
_LARGE = 1 << 16

Pattern = tuple[tuple[bool, ...], frozenset[str]]


@dataclass(frozen=True)
class Tally:
    """How many rows there are of each pattern: which terms hold, and which columns are missing.

    Attributes
    ----------
    patterns : Counter
        Rows by pattern.
    found : tuple of frozenset of str
        In which columns the value of each term was found.
    values : mapping of str to set of str
        Some values of columns in which a term's value was not found, for messages.
    """

    patterns: Counter[Pattern] = field(default_factory=Counter)
    found: tuple[frozenset[str], ...] = ()
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        if not self.found or not other.found:
            return self if self.found else other
        found = tuple(a | b for a, b in zip(self.found, other.found, strict=True))
        names = {*self.values, *other.values}
        none: frozenset[str] = frozenset()
        values = {n: _some(self.values.get(n, none) | other.values.get(n, none)) for n in names}
        return Tally(self.patterns + other.patterns, found, values)

    def counts(self, query: Query, columns: Sequence[str]) -> tuple[int, int, int]:
        """Rows where all holds, rows where what is given holds, and rows of which that cannot be said.

        A row is left out where a column is missing that the query speaks of, unless what is given fails there anyway.
        """
        about = [self._column(query, k, columns) for k in range(len(query.terms))]
        asked = len(query.asked)
        hits = total = missing = 0
        for (held, absent), n in self.patterns.items():
            if any(not held[k] and about[k] not in absent for k in range(asked, len(about))):
                continue
            if absent.intersection(about):
                missing += n
            else:
                total += n
                hits += n * all(held[:asked])
        return hits, total, missing

    def _column(self, query: Query, k: int, columns: Sequence[str]) -> str:
        """The column that a term is about, now that all rows were seen."""
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


def tally(query: Query, batch: pa.RecordBatch, first: int = 0) -> Tally:
    """The patterns of a batch of rows."""
    rows = RowBatch(batch, first)
    read: dict[str, pa.Array] = {}

    def column(name: str) -> pa.Array:
        if name not in read:
            read[name] = plain_column(rows.column(name))
        return read[name]

    held: list[Mask] = []
    found: list[frozenset[str]] = []
    asked_about: dict[str, None] = {}  # a set that keeps its order
    values: dict[str, frozenset[str]] = {}
    for term in query.terms:
        names = rows.names if term.column is None else [term.column]
        masks = _where(term, {name: column(name) for name in names})
        some = {name: mask for name, mask in masks.items() if _is_value(term, column(name), mask)}
        held.append(next(iter(some.values()), np.zeros(len(rows), bool)))
        found.append(frozenset(some))
        asked_about |= dict.fromkeys(some or names)
        values |= {} if some else {name: _text_values(column(name)) for name in names}
    absent = {name: missing_in(column(name)) for name in asked_about if column(name).null_count}
    return Tally(_patterns(held, absent, len(rows)), tuple(found), values)


def _where(term: Term, columns: Mapping[str, pa.Array]) -> dict[str, Mask]:
    """Where the term holds, in each column that could hold such a value."""
    masks = {name: holds(term, column) for name, column in columns.items()}
    if term.column is not None and masks[term.column] is None:
        want = f"a value of column {term.column!r}, {kind(columns[term.column].type)}"
        raise BadOption(wanted(f"query {str(term)!r}", want, repr(term.value)))
    return {name: mask for name, mask in masks.items() if mask is not None}


def _is_value(term: Term, column: pa.Array, mask: Mask) -> bool:
    """Whether the term's value is one that the column is known to have, so that "none" is an answer and no mistake.

    Any number or date may be asked for by the name of its column; of a text or a value alone some row must have it.
    """
    if pa.types.is_null(column.type):
        return False
    if term.column is not None and (term.operator == "~" or not pa.types.is_string(column.type)):
        return True
    if term.operator == "!=":
        return not bool(mask[~missing_in(column)].all())
    return bool(mask.any())


def _patterns(held: list[Mask], absent: Mapping[str, Mask], n: int) -> Counter[Pattern]:
    """The rows counted by their bits."""
    code, size = np.zeros(n, np.int64), 1
    for bit in [*held, *absent.values()]:
        code, size = 2 * code + bit, 2 * size
        if size > _LARGE:
            numbers, code = np.unique(code, return_inverse=True)
            size = len(numbers)
    count, example = np.bincount(code, minlength=size), np.zeros(size, np.intp)
    example[code] = np.arange(n)  # some row of each pattern
    made: Counter[Pattern] = Counter()
    for i, rows in zip(example[count > 0], count[count > 0], strict=True):
        missing = frozenset(name for name, mask in absent.items() if mask[i])
        made[tuple(bool(mask[i]) for mask in held), missing] += int(rows)
    return made


def _text_values(column: pa.Array) -> frozenset[str]:
    return _some(map(str, pc.unique(column.drop_null()).to_pylist()))


def _some(values: Iterable[str]) -> frozenset[str]:
    return frozenset(sorted(values)[:_REMEMBERED])
