"""Columns of text that a query compares by size: money, numbers with units and written dates."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.errors import BadData, wanted
from tallybayes.queries.language import Query
from tallybayes.schema.find_readings import find_reading
from tallybayes.sources import ColumnReadings, Source
from tallybayes.sources.missing import markers_of_numbers
from tallybayes.sources.reading import Reading, to_time
from tallybayes.sources.steps import holds_text, without

__all__ = ["read_ordered"]

_BY_SIZE = ("<", "<=", ">", ">=")
_TIME = pa.timestamp("us")


def read_ordered(rows: Source, query: Query) -> Source:
    """Return the rows with columns that are compared by size read as numbers or dates.

    They are read as `fit` reads them, as their first rows show. A stream is left as it is: it is read once.

    Examples
    --------
    >>> from tallybayes.queries.language import parse
    >>> from tallybayes.sources import read
    >>> rows = read({"pay": ["$1,200", "N/A", "$80"], "kind": ["a", "b", "b"]})
    >>> next(iter(read_ordered(rows, parse("pay > 100")))).column("pay").to_pylist()
    [1200.0, None, 80.0]
    """
    asked = {term.column for term in query.terms if term.operator in _BY_SIZE}
    texts = [one.name for one in rows.schema if one.name in asked and holds_text(one.type)]
    first = next(iter(rows), None) if texts and rows.again else None
    if first is None:
        return rows
    missing = rows.missing_values or "auto"
    found = {name: find_reading(first.column(name), missing) for name in texts}
    readings = {name: one.reading for name, one in found.items() if one is not None}
    numbers = {name: one for name, one in readings.items() if one.kind == "numbers"}
    markers = markers_of_numbers(missing)
    rows = ColumnReadings(numbers, markers).read(rows) if numbers else rows
    for name, reading in readings.items():
        if reading.kind == "dates":
            place = rows.schema.get_field_index(name)
            schema = rows.schema.set(place, pa.field(name, _TIME))
            rows = rows.map(partial(_with_dates, place=place, reading=reading, markers=markers), schema)
    return rows


def _with_dates(batch: pa.RecordBatch, place: int, reading: Reading, markers: tuple[str, ...]) -> pa.RecordBatch:
    column = batch.column(place)
    texts = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    texts = without(pc.utf8_trim_whitespace(texts), markers)
    times = to_time(texts, reading.options[0])
    wrong = pc.and_(texts.is_valid(), times.is_null())
    if pc.any(wrong, min_count=0).as_py():
        got = repr(texts[pc.index(wrong, True).as_py()].as_py())
        raise BadData(wanted(f"column {batch.schema.names[place]!r}", "dates, as in the first rows", got))
    return batch.set_column(place, pa.field(batch.schema.names[place], _TIME), times)
