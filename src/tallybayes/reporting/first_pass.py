"""The first pass over the rows of a report: count missing values, draw a sample, check the label.

A report reads the rows several times. Rows that fit into memory are read once; a larger file is read again each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, did_you_mean, wanted
from tallybayes.evidence.row_sample import MOST_ROWS, BottomKSample, Part
from tallybayes.schema.column_names import NumberedNames
from tallybayes.schema.schema import Schema

# A label with more values is a number or an identifier, not a class; a page cannot show that many.
MOST_CLASSES = 1000
# The sample: enough rows for histograms and a learning curve, and bounded memory however wide the rows.
_SAMPLE_ROWS, _SAMPLE_BYTES, _FEWEST = 20_000, 64 << 20, 500


@dataclass(frozen=True, eq=False)
class FirstPass:
    """Rows that can be read again, and the results of the first pass."""

    source: sources.Source
    label: str  # the column that holds the class
    weight: str | None  # the column that holds the weights
    rows: int  # the number of rows
    missing: dict[str, int]  # the number of rows in which each column is missing; only columns with missing values
    sample: pa.RecordBatch  # a random sample of at most 20,000 rows, in their order

    def take(self, places: npt.NDArray[np.intp]) -> list[pa.RecordBatch]:
        """Return single rows, in the order of the given positions."""
        found: dict[int, pa.RecordBatch] = {}
        first = 0
        for batch in self.source:
            for place in places[(places >= first) & (places < first + batch.num_rows)]:
                found[int(place)] = batch.slice(int(place) - first, 1)
            first += batch.num_rows
            if len(found) == len(set(places.tolist())):
                break
        return [found[int(place)] for place in places]


def look_at(labelled: open_rows.Labelled, seed: int) -> FirstPass:
    """Read the rows once."""
    rows, label, weight = labelled
    if label not in rows.schema.names:
        raise BadData(wanted("label", f"a column of {rows.name}", repr(label), did_you_mean(label, rows.schema.names)))
    source, count = sources.buffered(rows.here()), 0
    missing: dict[str, int] = {}
    classes = pa.nulls(0, rows.schema.field(label).type)
    rng, drawn = np.random.default_rng([seed, 7]), BottomKSample(Schema(label, weight, (), ()))
    for batch in source:
        _count_missing(batch, missing)
        classes = _distinct(classes, batch.column(label), rows.name, label)
        if not count:
            drawn = replace(drawn, room=_fitting(batch) / MOST_ROWS)
        keys = rng.random(batch.num_rows).view(np.int64)  # the bits of numbers above 0 have their order
        drawn = drawn + replace(drawn, parts=(Part(batch, np.arange(batch.num_rows), None, keys),))
        count += batch.num_rows
    if not count:
        raise BadData(wanted(rows.name, "rows to report on", "none"))
    return FirstPass(replace(source, rows=count), label, weight, count, missing, drawn.in_order())


def _distinct(values: pa.Array, column: pa.Array, where: str, label: str) -> pa.Array:
    """Return the distinct labels so far; raise BadData if there are too many to be classes."""
    if pa.types.is_nested(column.type):
        raise BadData(wanted(f"label {label!r}", "classes", f"values of type {column.type}", "Name another label"))
    new = pc.unique(column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column)
    values = pc.unique(pa.concat_arrays([values.cast(new.type), new]))
    if len(values) > MOST_CLASSES:
        do = "Cut numbers into ranges, or name another label"
        got = f"more than {MOST_CLASSES:,} values in {where}"
        raise BadData(wanted(f"label {label!r}", "classes", got, do))
    return values


def _count_missing(batch: pa.RecordBatch, missing: dict[str, int]) -> None:
    for name, count in _missing(batch):
        if count:
            missing[name] = missing.get(name, 0) + int(count)


def _missing(batch: pa.RecordBatch) -> Iterator[tuple[str, Any]]:
    for field, column in zip(batch.schema, batch.columns, strict=True):
        kind = sources.kind_of(field)
        if kind == "column":
            nan = pc.sum(pc.is_nan(column)).as_py() or 0 if pa.types.is_floating(column.type) else 0
            yield field.name, column.null_count + nan
        elif kind == "matrix":
            values = sources.matrix_of(column)
            if values.dtype.kind == "f":
                names = sources.names_of(field) or NumberedNames(values.shape[1])
                counts = np.isnan(values).sum(axis=0)
                yield from ((names[f], counts[f]) for f in np.flatnonzero(counts).tolist())


def _fitting(batch: pa.RecordBatch) -> int:
    """Return the number of such rows that the sample may hold."""
    return int(np.clip(_SAMPLE_BYTES * batch.num_rows // max(batch.nbytes, 1), _FEWEST, _SAMPLE_ROWS))
