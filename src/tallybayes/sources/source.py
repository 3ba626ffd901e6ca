"""Source: rows of any origin as Arrow record batches, with a schema known in advance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from tallybayes.errors import BadData, wanted

if TYPE_CHECKING:
    from tallybayes.sources.column_readings import ColumnReadings
    from tallybayes.sources.missing import MissingValues
    from tallybayes.sources.position import Trail


class LateType(BadData):
    """The error of a row that needs a wider type than inferred or declared.

    Pass its `types` in ``read(..., types=...)`` to read the same file from the start without this error. A caller that
    can start over does so, as often as needed; that ends, because types only widen: null, whole numbers, numbers, text.
    For other callers, and where the user declared the type, this is an ordinary :class:`~tallybayes.errors.BadData`.
    """

    def __init__(self, sentence: str, types: Mapping[str, pa.DataType]) -> None:
        super().__init__(sentence)
        self.types = dict(types)


@dataclass(frozen=True, eq=False)
class Source:
    """Rows as Arrow record batches that share one schema.

    Notes
    -----
    No batch is empty. Row numbers in messages count the rows of data from 1; a header is not a row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> source = of_table(pa.table({"play": ["yes", "no"]}), "the Table")
    >>> source.rows, source.again, [batch.num_rows for batch in source]
    (2, True, [2])
    """

    schema: pa.Schema  # the columns and their types, known before any row is read
    rows: int | None  # the number of rows; None if it is unknown until they are read
    again: bool  # True if it can be iterated more than once (files, frames in memory); False for streams
    name: str  # its name in messages: the path, "the array", "the DataFrame"
    start: Callable[[], Iterable[pa.RecordBatch]] = field(repr=False)
    # the position of the current pass over files; None if reading cannot begin in the middle
    trail: Trail | None = field(default=None, repr=False)
    missing_values: MissingValues | None = None  # the texts that were taken as missing; None: not yet
    readings: ColumnReadings | None = field(default=None, repr=False)  # how its columns were read; None: not yet
    before: int = 0  # rows before the first one, which row numbers in messages count too

    def __post_init__(self) -> None:
        check_distinct(self.schema.names, self.name)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches, starting at the first row."""
        for batch in self.start():
            if batch.num_rows:
                yield batch

    def map(self, work: Callable[[pa.RecordBatch], pa.RecordBatch], schema: pa.Schema | None = None) -> Source:
        """Return the same rows, each batch changed by a function, which may give them another schema."""
        return replace(self, schema=self.schema if schema is None else schema, start=lambda: map(work, self))


def of_table(table: pa.Table, name: str) -> Source:
    """Return a source of an in-memory table: its chunks as batches, without a copy."""
    return Source(table.schema, table.num_rows, True, name, table.to_batches)


def of_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], name: str) -> Source:
    """Return a source that can be read only once."""
    unread = [batches]

    def start() -> Iterable[pa.RecordBatch]:
        if not unread:
            got = "a stream that has been read already"
            raise BadData(wanted(name, "rows", got, "Pass a file or a table, which can be read again"))
        return unread.pop()

    return Source(schema, None, False, name, start)


def check_exportable(names: Sequence[str], where: str) -> None:
    """Raise BadData for a name with a zero byte, which ends names in C: polars aborts the process over it."""
    broken = [name for name in names if "\0" in name]
    if broken:
        raise BadData(wanted(where, "column names without zero bytes", repr(broken[0]), "Rename it"))


def check_distinct(names: Sequence[str], where: str) -> None:
    """Raise BadData if two columns share a name, because columns are found by name."""
    if len(set(names)) == len(names):
        return
    twice = [f"'{name}'" for name, count in Counter(names).items() if count > 1]
    raise BadData(wanted(where, "distinct column names", f"{', '.join(twice)} more than once", "Rename them"))
