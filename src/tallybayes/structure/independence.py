"""Which pairs of columns break what naive Bayes assumes: that given the class, columns say nothing of each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tallybayes import engines
from tallybayes.encoding import open_rows
from tallybayes.encoding.bins import look
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.model import Model
from tallybayes.schema.schema import Events, Missing, Schema, infer
from tallybayes.structure.dependence import Dependence
from tallybayes.structure.pairs import PairCounts

__all__ = ["Dependence", "dependence", "of_model"]

BINS, VALUES = 10, 32


def dependence(
    source: Any,
    label: Any,
    *,
    columns: Sequence[str] | None = None,
    bins: int = BINS,
    values: int = VALUES,
    events: Events = None,
    weights: Any = None,
    missing: Missing = "skip",
    missing_values: tuple[str, ...] | list[str] = (),
    errors: str = "strict",
    threads: int | None = None,
) -> Dependence:
    """How far every two columns depend on each other, given the class and without it, from one pass over the rows.

    Parameters
    ----------
    source, label, events, weights, missing, missing_values, errors
        As in `fit`.
    columns : sequence of str, optional
        Of which columns; by default of all but prose.
    bins : int
        Numbers are put into at most so many bins of about equal weight, fewer where rows are few (√(rows / 5 classes));
        if they have no more values than `bins`, each is a bin of its own. The edges are quantiles of up to 65,536 rows
        spread over the first batch. A column declared Bernoulli has two bins, parted by its threshold.
    values : int
        A column of values has at most so many slots: the most frequent values of the same rows, and one for all others.
    threads : int, optional
        How many threads count; the result does not depend on it.

    Returns
    -------
    Dependence

    Examples
    --------
    >>> import tallybayes as tb
    >>> xor = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": [0, 1, 1, 0] * 5}
    >>> [pair] = tb.dependence(xor, "y").worst(1)
    >>> pair.columns, pair.given, pair.overall, pair.interaction      # bits
    (('a', 'b'), 1.0, 0.0, 1.0)
    """

    def opened(types: open_rows.Types | None) -> tuple[engines.Partitioned, Schema]:
        rows, name, weight = open_rows.labelled(
            source, label, weights, missing=missing_values, types=types, errors=errors
        )
        schema = infer(
            rows.schema, name, weight=weight, events=events, missing=missing, where=rows.name, first=rows.head
        )
        return rows, schema

    return _counted(opened, columns, bins, values, threads)


def of_model(
    model: Model,
    source: Any,
    label: Any = None,
    *,
    weights: Any = None,
    columns: Sequence[str] | None = None,
    bins: int = BINS,
    values: int = VALUES,
    threads: int | None = None,
) -> Dependence:
    """As `dependence`, the columns being what they are in a model."""

    def opened(types: open_rows.Types | None) -> tuple[engines.Partitioned, Schema]:
        return open_rows.as_in(model.schema, source, label, weights, types)

    return _counted(opened, columns, bins, values, threads)


def _counted(
    opened: Callable[[open_rows.Types | None], tuple[engines.Partitioned, Schema]],
    columns: Sequence[str] | None,
    bins: int,
    values: int,
    threads: int | None,
) -> Dependence:
    for name, most in (("bins", bins), ("values", values)):
        if isinstance(most, bool) or not isinstance(most, int) or not 2 <= most <= 1000:
            raise BadOption(wanted(name, "a whole number from 2 to 1000", repr(most)))
    workers = engines.default_threads(threads)

    def work(types: open_rows.Types | None) -> Dependence:
        rows, schema = opened(types)
        chosen, left_out = _chosen(schema, columns)
        slots = look(schema, chosen, rows.head(), bins, values)
        counts = PairCounts.empty(chosen, tuple(slots)).count_all(schema, rows, workers)
        if not len(counts.classes):
            raise BadData(wanted(rows.name, "rows to look at", "none"))
        return Dependence.of(schema, counts, left_out)

    return open_rows.reading(work)


def _chosen(schema: Schema, columns: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns to look at, and those of prose, which are left out."""
    if isinstance(columns, str):
        raise BadOption(wanted("columns", "a list of names", repr(columns), f"Pass [{columns!r}]"))
    prose = {name for block in schema.blocks if block.event.input == "text" for name in block.columns}
    for name in columns or ():
        if name in prose:
            do = "Leave it out: words are many columns, not one"
            raise BadOption(wanted("columns", "columns of values or numbers", f"{name!r}, which is text", do))
        if name not in schema.columns:
            raise BadOption(wanted("columns", "columns of the rows", repr(name), did_you_mean(name, schema.columns)))
    chosen = tuple(schema.columns if columns is None else dict.fromkeys(columns))
    chosen = tuple(name for name in chosen if name not in prose)
    if len(chosen) < 2:
        got = f"only {chosen[0]!r}" if chosen else "none"
        raise BadData(wanted("dependence", "at least two columns that are not text", got))
    return chosen, tuple(sorted(prose)) if columns is None else ()
