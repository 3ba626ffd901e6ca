"""Anything that has rows, as the same Arrow record batches: files, frames, arrays, streams, queries.

``read`` is the one way in. What comes out is a :class:`Source`, and nothing after it knows where the rows came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.sources import arrays, frames, steps
from tallybayes.sources.array_columns import (
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
from tallybayes.sources.databases import of_query
from tallybayes.sources.files import Options, is_path, of_paths
from tallybayes.sources.source import LateType, Source
from tallybayes.sources.steps import conform
from tallybayes.sources.take import gather, plain, take
from tallybayes.sources.to_arrow import is_scipy_sparse
from tallybayes.sources.where import Where

__all__ = [
    "LateType",
    "Source",
    "as_stream",
    "attach",
    "buffered",
    "conform",
    "from_stream",
    "gather",
    "is_path",
    "is_prose",
    "kind_of",
    "matrix_of",
    "names_of",
    "plain",
    "prose_field",
    "read",
    "sparse_of",
    "take",
    "was_bool",
    "width_of",
]


def read(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    missing: Sequence[str] = (),
    batch_rows: int | None = None,
    names: Sequence[str] | None = None,
    types: Mapping[str, pa.DataType] | None = None,
    errors: str = "strict",
    bad_lines: Literal["error", "skip"] = "error",
    connection: Any = None,
) -> Source:
    """The rows of anything, as a :class:`Source` of record batches.

    Parameters
    ----------
    source : path, frame, array, stream, dict or list
        - a path, a glob, a list of paths, or a directory of parquet files: csv, tsv, jsonl, ndjson, arff (these also
          compressed: .gz, .bz2, .zst, .lz4), parquet, arrow, feather, ipc;
        - anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``: pandas, polars, pyarrow, duckdb, ...;
        - a dict of columns, a list of dicts, a list of strings (one column, "text");
        - a NumPy array of numbers (n, F) or a scipy.sparse matrix, which become one column "x" (see `kind_of`); a
          structured array, or one of objects or strings (n, F), which become a column each; a list of lists;
        - with a `connection`, the text of a query.
    columns : sequence of str, optional
        The columns to read, in this order. The rest of a file is not read. By default all, except a pandas index.
    where : str, optional
        The rows to read: comparisons of columns with values, such as ``"age > 30 and kind in ('a', 'b')"``, joined by
        and, or, not; ``is null``. Parts of parquet files, and partitions, that hold no such row are not read.
    missing : sequence of str
        Strings that stand for a missing value, such as "?", in every column of text or of a text file. An empty field
        of a csv file is missing in any case.
    batch_rows : int, optional
        The most rows a batch may have. By default batches are left as they come.
    names : sequence of str, optional
        Names for the columns of an array, or of a csv file that has no header line.
    types : mapping of str to pyarrow.DataType, optional
        Columns to read as another type than the one found.
    errors : {"strict", "replace"}
        What bytes of a file that are not UTF-8 are: an error that names their row and place, or U+FFFD.
    bad_lines : {"error", "skip"}
        What a line of a csv, tsv or jsonl file is that is no row, having too many values, too few, or no JSON: an error
        that names its place, or nothing. Lines that were skipped are counted, and told once all rows have been read by
        a :class:`~tallybayes.errors.SkippedLinesWarning` that has the places of the first.
    connection : str, DuckDB connection or ADBC connection, optional
        The database that answers a query: "duckdb" (embedded, also over files), a URL such as "sqlite:///file.db" or
        "postgresql://user@host/name", or an open connection. The query is run anew for each pass over its rows.

    Returns
    -------
    Source

    Raises
    ------
    BadData
        In one sentence: what was wanted, what was got. From here, or while iterating.
    LateType
        From a text file, when a row needs a wider type than the first megabytes showed. Its ``types`` are what to add
        to `types` to read the file again.

    Examples
    --------
    >>> source = read([{"outlook": "sunny", "play": "no"}, {"outlook": "rain"}])
    >>> source.schema.names, source.rows, source.again
    (['outlook', 'play'], 2, True)
    >>> [batch.to_pydict() for batch in source]
    [{'outlook': ['sunny', 'rain'], 'play': ['no', None]}]
    """
    if isinstance(missing, str):
        missing = [missing]
    if isinstance(columns, str):
        raise BadOption(wanted("columns", "a list of names", repr(columns), f"Pass [{columns!r}]"))
    if errors not in ("strict", "replace"):
        raise BadOption(wanted("errors", "'strict' or 'replace'", repr(errors)))
    if bad_lines not in ("error", "skip"):
        raise BadOption(wanted("bad_lines", "'error' or 'skip'", repr(bad_lines)))
    chosen = None if where is None else Where(where)
    inside = columns
    if chosen is not None and columns is not None:  # what is only asked about is read too, and not handed on
        inside = [*columns, *(name for name in chosen.columns if name not in columns)]
    if connection is not None:
        if names is not None:
            raise BadOption(wanted("names", "none, since a query names its columns", str(len(names)), "Use AS"))
        made = steps.blank(of_query(source, connection, errors), missing)
    elif is_path(source):
        skips = Skips() if bad_lines == "skip" else None
        made = of_paths(source, Options(inside, missing, names, types or {}, batch_rows, errors, skips, chosen))
        made = made if skips is None else skips.told(made)
    else:
        made = steps.blank(_in_memory(source, names), missing)
    made = steps.project(made, inside)
    if types:
        made = steps.retype(made, {name: kind for name, kind in types.items() if name in made.schema.names})
    if chosen is not None:
        made = steps.project(chosen.kept(made), columns)
    return steps.slice_rows(made, batch_rows)


def _in_memory(source: Any, names: Sequence[str] | None) -> Source:
    if isinstance(source, list | tuple):
        return _of_list(source, names)
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
    if isinstance(first, list | tuple | np.ndarray) and np.ndim(rows[0]) > 0:
        return arrays.of_rows(rows, names)
    if isinstance(first, Mapping):
        return frames.of_dicts(rows)
    if isinstance(first, str):
        return frames.of_text(rows)
    return arrays.of_array(np.asarray(rows), names, "the list")
