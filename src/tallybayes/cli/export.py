"""`tally export`: write a model as SQL, ONNX, JSON or a web page."""

from __future__ import annotations

import sys
from pathlib import Path

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import ModelFile

_TARGETS = ("sql", "onnx", "json", "html")


@example(
    "tally export weather.tally --to sql --table days",
    "tally export weather.tally --to html -o weather.html",
    "tally export weather.tally -o weather.onnx",
)
def export(
    model: ModelFile,
    to: str | None = option(None, "--to TARGET", "sql, onnx, json or html; by default the ending of the file."),
    dialect: str = option(
        "duckdb", "--dialect NAME", "duckdb, sqlite, postgres, mysql, bigquery, snowflake or spark, for SQL."
    ),
    table: str = option("rows", "--table NAME", "The table that the query reads, for SQL."),
    keep: list[str] | None = option(
        None, "--keep COLUMN", "A column of the table beside the answers; by default the model's. Repeatable."
    ),
    contributions: bool = option(False, "--contributions", "Add what each column adds to each class, for SQL."),
    parameters: str = option(
        "auto", "--parameters WHERE", "Numbers in the query (inline) or in tables made before it (tables), for SQL."
    ),
    prefix: str = option("tally", "--prefix NAME", "The first part of the names of such tables."),
    output: str | None = option(None, "--output -o FILE", "Where to save it; by default it is printed."),
    force: bool = option(False, "--force -f", "Overwrite an existing file."),
) -> None:
    """Write a model as SQL, ONNX, JSON or a web page.

    SQL is one query over a table, JSON is read by tally-score.js and tb.from_json, ONNX runs in onnxruntime, and the
    web page has a form, the answer and the reasons for it, and needs no network.
    """
    from tallybayes.cli.outputs import check_free, replacing
    from tallybayes.errors import BadOption, wanted
    from tallybayes.storage.model_file import load

    target = (to or Path(output or "").suffix.removeprefix(".")).lower()
    if target not in _TARGETS:
        got, do = repr(to or output) if to or output else "none", "Pass --to, or a file with that ending"
        raise BadOption(wanted("--to", f"one of {', '.join(_TARGETS)}", got, do))
    if output is None and target == "onnx":
        raise BadOption(wanted("--output", "a file for ONNX", "none", "Pass -o model.onnx"))
    if output is not None:
        check_free(output, force=force)
    loaded = load(model)
    if target == "sql":
        script = loaded.to_sql(
            dialect, table, keep=keep or None, contributions=contributions, parameters=parameters, prefix=prefix
        )
        written = script.encode() + b";\n"
    elif target == "json":
        written = loaded.to_json().encode() + b"\n"
    elif target == "html":
        written = loaded.to_html().encode()
    else:
        written = loaded.to_onnx().SerializeToString()
    if output is None:
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
        return
    with replacing(output, force=force) as file:
        file.write(written)
    print(f"Wrote {output}.")
