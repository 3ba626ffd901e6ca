"""The readings of all columns of a table, applied batch by batch, wherever the rows are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.errors import BadData, LeftOutWarning, wanted
from tallybayes.sources.reading import Reading, Unreadable
from tallybayes.sources.source import Source

_WANTED = {"numbers": "numbers", "times": "times", "booleans": "yes or no", "dates": "dates"}


@dataclass(frozen=True)
class ColumnReadings:
    """How columns are read, and the rows that are left out for want of a class.

    Attributes
    ----------
    columns : mapping of str to Reading
        The columns whose values are read in another way than their types say.
    missing : tuple of str
        The texts that stand for no value in these columns.
    label : str or None
        The column of classes; rows without one are left out, and counted in a warning.

    Examples
    --------
    >>> from tallybayes.sources import read
    >>> prices = ColumnReadings({"price": Reading("numbers", (".",))}, ("-",))
    >>> source = prices.read(read({"price": ["$1,200.50", "-"], "item": ["lamp", "-"]}))
    >>> [batch.to_pydict() for batch in source]
    [{'price': [1200.5, None], 'item': ['lamp', '-']}]
    """

    columns: Mapping[str, Reading] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    label: str | None = None

    def __reduce__(self) -> tuple[type[ColumnReadings], tuple[dict[str, Reading], tuple[str, ...], str | None]]:
        return ColumnReadings, (dict(self.columns), self.missing, self.label)

    def fields(self, given: pa.Schema) -> pa.Schema:
        """Return the fields that columns with the given fields become."""
        out: list[pa.Field] = []
        for one in given:
            reading = self.columns.get(one.name)
            if reading is None:
                out.append(one)
            else:
                pairs = zip(reading.columns(one.name), reading.types(one.type), strict=True)
                out += [pa.field(name, kind) for name, kind in pairs]
        taken = [name for name in given.names if name not in self.columns]
        for name in {one.name for one in out}.intersection(taken) if len(out) > len(given) else ():
            if sum(one.name == name for one in out) > 1:
                do = f"Rename it, or declare the event model of {name.rpartition('.')[0]!r}"
                raise BadData(wanted(f"column {name!r}", "a name that no part of a date has", "one", do))
        return pa.schema(out, given.metadata)

    def inputs(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that these columns are made of."""
        origin = {part: name for name, reading in self.columns.items() for part in reading.columns(name)}
        return list(dict.fromkeys(origin.get(name, name) for name in columns))

    def read(self, source: Source, tell: Callable[[int, int], None] | None = None) -> Source:
        """Return the same rows with their columns read.

        With `tell`, it is called with the rows left out and all rows after each pass, instead of a warning.
        """
        present = {name: reading for name, reading in self.columns.items() if name in source.schema.names}
        here = replace(self, columns=present)
        fields = here.fields(source.schema)
        if not present and self.label is None:
            return replace(source, readings=self)
        said: list[str] = []

        def start() -> Iterator[pa.RecordBatch]:
            first, kept = 0 if source.trail is None else source.trail.before, 0
            for batch in source:
                labelled = here._read(batch, fields, first)
                first, kept = first + batch.num_rows, kept + labelled.num_rows
                yield labelled
            left = first - kept - (0 if source.trail is None else source.trail.before)
            if tell is None:
                warn_of_left_out(self.label, left, first, said)
            else:
                tell(left, first)

        return replace(source, schema=fields, start=start, readings=self)

    def _read(self, batch: pa.RecordBatch, fields: pa.Schema, first: int) -> pa.RecordBatch:
        # A row without a class may be a total below the table, with words among the numbers: it is left out first.
        whole, batch = batch, rows_with_class(batch, self.label)
        if not self.columns:
            return batch
        columns: list[pa.Array] = []
        for one, column in zip(batch.schema, batch.columns, strict=True):
            reading = self.columns.get(one.name)
            try:
                columns += [column] if reading is None else reading.apply(column, self.missing)
            except Unreadable as bad:
                assert reading is not None
                row = bad.row if whole is batch else pc.indices_nonzero(_has_class(whole, self.label))[bad.row].as_py()
                got = f"{bad.text!r} (row {first + row + 1})"
                do = f"Name {bad.text!r} a missing value, or declare the column categorical"
                unit = f" in {reading.unit}" if reading.unit else ""
                want = f"{_WANTED[reading.kind]}{unit}, as in the first rows"
                raise BadData(wanted(f"column {one.name!r}", want, got, do)) from None
        return pa.RecordBatch.from_arrays(columns, schema=fields)


def rows_with_class(batch: pa.RecordBatch, label: str | None) -> pa.RecordBatch:
    """Return the rows that have a class; all if there is no label."""
    has = _has_class(batch, label)
    return batch if has is None or pc.all(has).as_py() in (True, None) else batch.filter(has)


def _has_class(batch: pa.RecordBatch, label: str | None) -> pa.Array | None:
    if label is None:
        return None
    column = batch.column(label)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return None if column.null_count == 0 else column.is_valid()


def warn_of_left_out(label: str | None, count: int, rows: int, said: list[str]) -> None:
    """Say how many rows have no class; one warning is enough, however often the rows are read."""
    if count and not said:
        have = "have no class and are" if count > 1 else "has no class and is"
        said.append(f"label {label!r}: {count:,} of {rows:,} rows {have} left out.")
        warnings.warn(said[0], LeftOutWarning, stacklevel=3)


AS_THEY_ARE = ColumnReadings(MappingProxyType({}))


def with_class(source: Source, label: str) -> Source:
    """Return the rows that have a class; a warning counts the others."""
    return replace(AS_THEY_ARE, label=label).read(source)
