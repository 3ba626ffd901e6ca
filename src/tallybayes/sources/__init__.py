"""Rows of any origin as Arrow record batches: files, frames, arrays, streams, queries.

``read`` is the only entry point. It returns a :class:`Source`; no later code knows where the rows came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from tallybayes.arguments import instance, listed, shown, whole_number
from tallybayes.errors import BadData, BadOption, TallyError, wanted
from tallybayes.sources import arrays, frames, steps
from tallybayes.sources.array_columns import (
    check_indices,
    index_outside,
    is_prose,
    kind_of,
    matrix_of,
    names_of,
    prose_field,
    sparse_of,
    was_bool,
    width_of,
)
from tallybayes.sources.arrow_stream import as_stream, from_stream
from tallybayes.sources.attach import attach
from tallybayes.sources.bad_lines import Skips
from tallybayes.sources.buffer import buffered
from tallybayes.sources.column_readings import AS_THEY_ARE, ColumnReadings
from tallybayes.sources.databases import of_query
from tallybayes.sources.files import Options, is_path, of_paths
from tallybayes.sources.locations import is_uri
from tallybayes.sources.missing import AUTO, Markers, MissingValues
from tallybayes.sources.options import PLAIN_OPTIONS, ReadOptions
from tallybayes.sources.reading import Reading
from tallybayes.sources.source import LateType, Source
from tallybayes.sources.steps import conform
from tallybayes.sources.take import gather, plain, plain_value, plain_values, rejoin, take
from tallybayes.sources.to_arrow import check_depth, is_scipy_sparse, view_of
from tallybayes.sources.where import Where

__all__ = [
    "AS_THEY_ARE",
    "AUTO",
    "PLAIN_OPTIONS",
    "ColumnReadings",
    "LateType",
    "Markers",
    "MissingValues",
    "ReadOptions",
    "Reading",
    "Source",
    "as_stream",
    "attach",
    "buffered",
    "check_indices",
    "conform",
    "from_stream",
    "gather",
    "index_outside",
    "is_path",
    "is_prose",
    "is_scipy_sparse",
    "is_uri",
    "kind_of",
    "matrix_of",
    "names_of",
    "open_source",
    "plain",
    "plain_value",
    "plain_values",
    "prose_field",
    "read",
    "rejoin",
    "sparse_of",
    "take",
    "view_of",
    "was_bool",
    "width_of",
]


def read(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    missing: MissingValues = (),
    batch_rows: int | None = None,
    names: Sequence[str] | None = None,
    types: Mapping[str, pa.DataType] | None = None,
    errors: str = "strict",
    bad_lines: Literal["error", "skip"] = "error",
    connection: Any = None,
    encoding: str | None = "utf-8",
    delimiter: str | None = None,
    header: bool = True,
) -> Source:
    """Return the rows of any data as a :class:`Source` of record batches.

    Parameters
    ----------
    source : path, frame, array, stream, dict or list
        - a path, a glob, a list of paths, or a directory of parquet files: csv, tsv, jsonl, ndjson, arff (these also
          compressed: .gz, .bz2, .zst, .lz4), parquet, arrow, feather, ipc;
        - anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``: pandas, polars, pyarrow, duckdb, ...;
        - a dict of columns, a list of dicts, a list of strings (one column, "text");
        - a NumPy array of numbers (n, F) or a scipy.sparse matrix, which become one column "x" (see `kind_of`); a
          structured array, or one of objects or strings (n, F), which become one column per field; a list of lists;
        - with a `connection`, the text of a query.
    columns : sequence of str, optional
        The columns to read, in this order; by default all, except a pandas index. Other columns of a file are not read.
    where : str, optional
        The rows to read, as comparisons of columns with values such as ``"age > 30 and kind in ('a', 'b')"``. These may
        be joined by and, or, not; ``is null`` tests for missing values. Parquet row groups and partitions without a
        matching row are not read.
    missing : sequence of str, or "auto"
        Strings that mean a missing value, such as "?", in text columns and in all columns of a csv file. An empty csv
        field is always missing. "auto" means the usual ones, and fewer of them in columns of names.
    batch_rows : int, optional
        The largest number of rows in a batch. By default batches keep their size.
    names : sequence of str, optional
        Column names for an array or for a csv file without a header line.
    types : mapping of str to pyarrow.DataType, optional
        Types that replace the inferred ones.
    errors : {"strict", "replace"}
        What to do with bytes that are not UTF-8: raise an error that names their place, or replace them by U+FFFD.
    bad_lines : {"error", "skip"}
        What to do with malformed lines of csv, tsv and jsonl files (too many or too few values, or invalid JSON): raise
        an error that names the line, or skip. Skipped lines are counted. After all rows have been read, a
        :class:`~tallybayes.errors.SkippedLinesWarning` reports their number and the places of the first.
    connection : str, DuckDB connection or ADBC connection, optional
        The database that answers a query: "duckdb" (embedded, also over files), a URL such as "sqlite:///file.db" or
        "postgresql://user@host/name", or an open connection. The query runs again for each pass over its rows.

    encoding : str, optional
        The encoding of csv files. None finds it: UTF-8, else UTF-16 or Latin-1, with a
        :class:`~tallybayes.errors.GuessedEncodingWarning`.
    delimiter : str, optional
        What separates the values of csv files; by default found in their first lines.
    header : bool
        Whether the first line of csv files names the columns; otherwise they are column1, column2, ...

    Raises
    ------
    BadData
        If the data cannot be read; on this call or while iterating. The message is one sentence.
    LateType
        If a row of a text file needs a wider type than the first megabytes showed. Add its ``types`` to `types` and
        read the file again.

    Examples
    --------
    >>> source = read([{"outlook": "sunny", "play": "no"}, {"outlook": "rain"}])
    >>> source.schema.names, source.rows, source.again
    (['outlook', 'play'], 2, True)
    >>> [batch.to_pydict() for batch in source]
    [{'outlook': ['sunny', 'rain'], 'play': ['no', None]}]
    """
    options = ReadOptions(missing, errors, bad_lines, where, connection, encoding, delimiter, header)
    return open_source(source, options, columns=columns, batch_rows=batch_rows, names=names, types=types)


def open_source(
    source: Any,
    options: ReadOptions,
    *,
    columns: Sequence[str] | None = None,
    batch_rows: int | None = None,
    names: Sequence[str] | None = None,
    types: Mapping[str, pa.DataType] | None = None,
    label: str | None = None,
    documents: tuple[str, ...] = (),
    look_bytes: int | None = None,
) -> Source:
    """Open the rows of anything, as `read` does.

    `label` and `documents` are as in `Markers`. With `look_bytes`, text files are read in pieces of that many bytes,
    for a look at their first rows.
    """
    if isinstance(columns, str):
        raise BadOption(wanted("columns", "a list of names", repr(columns), f"Pass [{columns!r}]"))
    columns, names = _list_of_names("columns", columns), _list_of_names("names", names)
    errors, connection = options.errors, options.connection
    if batch_rows is not None:
        batch_rows = whole_number("batch_rows", batch_rows, least=1, want="a number of rows, at least 1")
    if types is not None and not (
        isinstance(types, Mapping) and all(isinstance(kind, pa.DataType) for kind in types.values())
    ):
        raise BadOption(wanted("types", "a type of Arrow for each name", shown(types)))
    markers = Markers(options.missing_values, label, documents)
    predicate = None if options.where is None else Where(options.where)
    needed = columns
    if predicate is not None and columns is not None:  # columns that are only compared are read, then dropped
        needed = [*columns, *(name for name in predicate.columns if name not in columns)]
    if connection is not None:
        if names is not None:
            raise BadOption(wanted("names", "none, since a query names its columns", str(len(names)), "Use AS"))
        rows = steps.blank(of_query(source, connection, errors), markers)
    elif is_path(source):
        skips = Skips() if options.bad_lines == "skip" else None
        how = Options(
            needed, markers, names, types or {}, batch_rows, errors, skips, predicate, options.form, look_bytes
        )
        rows = of_paths(source, how)
        rows = rows if skips is None else skips.warn_after(rows)
    else:
        rows = _in_memory(source, names)
        rows = steps.blank(rows, markers) if rows.missing_values is None else rows  # opened before
    rows = steps.project(rows, needed)
    rows = rows if rows.missing_values is not None else replace(rows, missing_values=options.missing_values)
    if types:
        known = set(rows.schema.names)
        rows = steps.retype(rows, {name: kind for name, kind in types.items() if name in known})
    if predicate is not None:
        rows = steps.project(predicate.filter(rows), columns)
    return steps.slice_rows(rows, batch_rows)


def _list_of_names(where: str, given: Sequence[str] | None) -> Sequence[str] | None:
    if given is None or (isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)):
        return given
    want = "a list of names"
    return [instance(where, one, str, want) for one in listed(where, given, want)]


def _unmasked(source: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array with NaN or None for masked values; `numpy.ma` takes long to import and is rarely needed."""
    if not isinstance(source, np.ma.MaskedArray) or source.dtype.names is not None:
        return source
    numbers = source.dtype.kind in "biuf"
    filled: np.ndarray[Any, Any] = np.ma.filled(
        source.astype(float if numbers else object), np.nan if numbers else None
    )
    return filled


def _in_memory(source: Any, names: Sequence[str] | None) -> Source:
    if isinstance(source, list | tuple):
        return _of_list(source, names)
    if isinstance(source, np.ndarray) and type(source) is not np.ndarray:
        source = _unmasked(source)
    if isinstance(source, np.ndarray) and source.dtype.names is None:
        return arrays.of_array(source, names)
    if is_scipy_sparse(source):
        return arrays.of_sparse(source, names)
    if names is not None:
        got = f"{len(names)} for the {type(source).__name__}"
        raise BadOption(wanted("names", "none, since only arrays and csv files lack them", got))
    if isinstance(source, Source):
        return source
    if isinstance(source, np.ndarray):
        return arrays.of_array(source)
    if isinstance(source, Mapping):
        return frames.of_columns(source)
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return frames.of_arrow(source)
    for export in ("to_arrow", "fetch_arrow_reader"):  # polars before 1.3 and duckdb before 1.1
        if hasattr(source, export):
            return frames.of_arrow(getattr(source, export)())
    if hasattr(source, "__array__"):
        return arrays.of_array(np.asarray(source))
    want = "a path, a table, an array, a dict of columns or a list of rows"
    do = "Collect a lazy frame first" if hasattr(source, "collect") else ""
    raise BadData(wanted("the data", want, f"a {type(source).__name__}", do))


def _of_list(rows: Sequence[Any], names: Sequence[str] | None) -> Source:
    if not rows:
        raise BadData(wanted("the list", "at least one row", "none"))
    first = next((row for row in rows if row is not None), None)
    check_depth(rows, "the list")
    if isinstance(first, list | tuple) or (isinstance(first, np.ndarray) and first.ndim > 0):
        return arrays.of_rows(rows, names)
    if isinstance(first, Mapping):
        return frames.of_dicts(rows)
    if isinstance(first, str):
        return frames.of_text(rows)
    try:
        return arrays.of_array(np.asarray(rows), names, "the list")
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, TallyError):
            raise
        raise BadData(wanted("the list", "rows of one kind", shown(rows))) from None
