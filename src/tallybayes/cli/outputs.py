"""Output: a table on a terminal, plain text, JSON, or a file written atomically."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa

from tallybayes.cli.options import DisplayOptions, OutputOptions
from tallybayes.display.quote_formulas import quote_formulas
from tallybayes.display.tables import Column, Grid, Result, number, plain
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.sources import plain_values
from tallybayes.sources.files import ARROW, LINES, PARQUET, TEXT, ending_of
from tallybayes.sources.text_chunks import CODECS
from tallybayes.storage import atomic_write

_SHOWN = 20  # rows on a terminal; a file gets all
_GAP = 3  # characters between two columns
_LONGEST = 40  # characters of a cell; more of a text would push the other columns out
_BESIDE = 12  # characters of a column beside the answers


def check_free(path: str, *, force: bool) -> str:
    """Return the path if it can be written; called before the work."""
    target = Path(path).expanduser()
    if target.is_dir():
        raise BadOption(wanted(str(target), "a file to write", "a directory"))
    if not target.parent.is_dir():
        raise BadOption(wanted(str(target), "a directory to write to", f"none called {str(target.parent)!r}"))
    if target.exists() and not force:
        raise BadOption(wanted(str(target), "a new file", "one that exists", "Pass --force to overwrite it"))
    if not os.access(target.parent, os.W_OK):
        raise BadOption(wanted(str(target), "a writable directory", "a read-only one"))
    return str(target)


def replacing(path: str, *, force: bool) -> AbstractContextManager[BinaryIO]:
    """Open a file that is named only when complete; raise if it exists."""
    target = check_free(path, force=force)
    return atomic_write.replacing(Path(target), target)


def show(result: Result, display: DisplayOptions, values: dict[str, Any] | None = None) -> None:
    """Print a result as a table, text or JSON, or write it to a file.

    `values` are those for JSON, if fewer.
    """
    if display.output is not None:
        ending = Path(display.output).suffix.lower()
        if ending not in (".json", ".txt"):
            raise BadOption(wanted(display.output, "a file ending in .json or .txt", repr(ending)))
        text = _as_json(result, values) if ending == ".json" or display.json else str(result)
        with replacing(display.output, force=display.force) as file:
            file.write(f"{text}\n".encode())
    elif display.json:
        print(_as_json(result, values))
    elif sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(result)
    else:
        print(result)


def write_rows(
    rows: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    outputs: OutputOptions,
    *,
    continued: bool = False,
    notes: Sequence[str] = (),
) -> None:
    """Write rows batch by batch to a file, a terminal or standard output.

    With `continued`, standard output already has the header and earlier rows. Notes are for a terminal.
    """
    if outputs.output is not None:
        _to_file(rows, schema, outputs.output, outputs)
    elif sys.stdout.isatty() and not outputs.json:
        _to_terminal(rows, schema, notes)
    else:
        out = sys.stdout.buffer
        header = [] if continued else schema.names
        _pour(rows, _Lines(out) if outputs.json else _Delimited(out, header, ",", raw=outputs.raw))
        out.flush()


class _Writer(Protocol):
    def write(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


class _Lines:
    def __init__(self, out: Any) -> None:
        self._out = out

    def write(self, batch: pa.RecordBatch) -> None:
        columns, names = map(plain_values, batch.columns), batch.schema.names
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
        lines = (json.dumps(plain(row), ensure_ascii=False) for row in rows)
        self._out.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        pass


class _Delimited:
    """Writes delimited text; values are quoted only in batches that need it.

    Unless `raw`, texts that a spreadsheet would run as formulas begin with an apostrophe.
    """

    def __init__(self, out: Any, header: list[str], delimiter: str, *, raw: bool) -> None:
        self._out, self._delimiter, self._raw = out, delimiter, raw
        self._header = header if raw else quote_formulas(pa.array(header, pa.string())).to_pylist()

    def _begin(self) -> None:
        """Write the header, unless it was written before."""
        if self._header:
            line = io.StringIO()
            csv.writer(line, delimiter=self._delimiter, lineterminator="\n").writerow(self._header)
            self._out.write(line.getvalue().encode())
            self._header = []

    def write(self, batch: pa.RecordBatch) -> None:
        from pyarrow import csv as arrow_csv

        if not self._raw:
            batch = pa.RecordBatch.from_arrays(list(map(quote_formulas, batch.columns)), batch.schema.names)
        for style in ("none", "needed"):
            options = arrow_csv.WriteOptions(include_header=False, delimiter=self._delimiter, quoting_style=style)
            text = pa.BufferOutputStream()
            try:
                arrow_csv.write_csv(batch, text, options)
            except pa.ArrowInvalid as error:
                if style == "needed":
                    do = "Leave the column out with --columns, or write .jsonl or .parquet"
                    raise BadData(
                        wanted("csv", "values that can be written as text", f"others ({error})", do)
                    ) from None
                continue
            self._begin()
            self._out.write(text.getvalue().to_pybytes())
            return

    def close(self) -> None:
        self._begin()


class _Columnar:
    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


def _pour(rows: Iterable[pa.RecordBatch], writer: _Writer) -> None:
    try:
        for batch in rows:
            writer.write(batch)
    except BaseException:
        # A parquet writer left open would write its footer later, into a closed file.
        if isinstance(writer, _Columnar):
            writer.close()
        raise
    writer.close()


def _to_file(rows: Iterable[pa.RecordBatch], schema: pa.Schema, path: str, outputs: OutputOptions) -> None:
    ending = ending_of(path)
    if ending not in (*TEXT, *LINES, *PARQUET, *ARROW):
        want = f"a file ending in {', '.join((*TEXT, *LINES, *PARQUET, *ARROW))}"
        raise BadOption(wanted(path, want, repr(Path(path).suffix)))
    with replacing(path, force=outputs.force) as file:
        codec = next((codec for suffix, codec in CODECS.items() if path.lower().endswith(suffix)), None)
        if codec is None:
            _pour(rows, _writer(file, schema, ending, raw=outputs.raw))
            return
        with pa.CompressedOutputStream(pa.OSFile(file.name, "wb"), codec) as out:
            _pour(rows, _writer(out, schema, ending, raw=outputs.raw))


def _writer(out: Any, schema: pa.Schema, ending: str, *, raw: bool) -> _Writer:
    if ending in TEXT:
        return _Delimited(out, schema.names, TEXT[ending], raw=raw)
    if ending in LINES:
        return _Lines(out)
    if ending in PARQUET:
        from pyarrow import parquet

        return _Columnar(parquet.ParquetWriter(out, schema))
    return _Columnar(pa.ipc.new_file(out, schema))


def _to_terminal(rows: Iterable[pa.RecordBatch], schema: pa.Schema, told: Sequence[str]) -> None:
    from rich.console import Console

    shown: list[dict[str, Any]] = []
    more = 0
    for batch in rows:
        room = _SHOWN - len(shown)
        shown += batch.slice(0, room).to_pylist()
        more += max(0, batch.num_rows - room)
    columns = tuple(Column(f.name, right=pa.types.is_floating(f.type) or pa.types.is_integer(f.type)) for f in schema)
    cells = tuple(tuple(_cell(row[name]) for name in schema.names) for row in shown)
    console = Console(highlight=False)
    kept = _columns_that_fit(schema.names, cells, console.width)
    notes = [f"And {more:,} more rows; write them to a file with -o."] if more else []
    if kept < len(columns):
        notes.append(f"And {len(columns) - kept:,} more columns; choose some with --columns, or write all with -o.")
    console.print(Grid("", columns[:kept], tuple(row[:kept] for row in cells), (*notes, *told)))


def terminal_width() -> int:
    """Return the width of the terminal in characters."""
    from rich.console import Console

    return Console().width


def answers_fit(fields: Sequence[pa.Field], classes: Sequence[Any]) -> bool:
    """Return whether predictions and probabilities leave room for a column on the terminal."""
    longest = min(max((len(str(name)) for name in classes), default=0), _LONGEST)
    widths = [max(longest, len(fields[0].name)), *(len(field.name) for field in fields[1:])]
    return sum(widths) + _GAP * len(widths) + _BESIDE <= terminal_width()


def _columns_that_fit(names: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> int:
    """Return how many columns fit side by side, at least one."""
    from rich.cells import cell_len

    used = 0
    for k, name in enumerate(names):
        used += max(cell_len(name), *(cell_len(row[k]) for row in cells), 0) + _GAP
        if used - _GAP > width:
            return max(k, 1)
    return len(names)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return number(value)
    text = str(value).replace("\n", "\\n")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _as_json(result: Result, values: dict[str, Any] | None) -> str:
    return json.dumps(result.to_dict() if values is None else values, indent=2, ensure_ascii=False)
