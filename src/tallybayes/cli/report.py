"""`tally report`: everything about some rows and their model in one HTML page."""

from __future__ import annotations

import json as json_
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallybayes.cli.group import example
from tallybayes.cli.options import Choosing, Reading, Seed

if TYPE_CHECKING:
    from tallybayes.cli.inputs import InputRows

__all__ = ["report"]


@example(
    "tally report weather.csv --label play",
    "tally report weather.tally weather.csv -o weather-model.html",
)
def report(
    ctx: typer.Context,
    choosing: Choosing,
    reading: Reading,
    data: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODEL] DATA", help="Labelled rows; and a model, unless one is to be fitted."),
    ] = None,
    how: Annotated[
        str | None, typer.Option("--how", metavar="HOW", help="How rows are held out, as in 'tally validate'.")
    ] = None,
    seed: Seed = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the figures of the report as JSON instead.")] = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the page goes; by default DATA's name with .html."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite a page that is there.")] = False,
) -> None:
    """Write all of it into one HTML page.

    What the data is, how good the model is on rows it has not seen, what each column says, which columns break its
    assumption, its worst mistakes and their reasons: one file, which needs no network.
    """
    from tallybayes.cli.inputs import opened
    from tallybayes.cli.outputs import check_free, replacing
    from tallybayes.display.progress import busy
    from tallybayes.sources.locations import name_of
    from tallybayes.storage.model_file import load

    path, files = reading.apart(data)
    model = None if path is None else load(path)
    name = Path(name_of(files[0])).name.split(".")[0] if files else "report"
    target = None if json else check_free(output or f"{name}.html", force=force)
    with opened(files, reading) as rows, busy("making the report"):
        command = shlex.join(["tally", *map(name_of, ctx.obj)])
        told = {"command": command, "how": how, "seed": seed, "threads": reading.threads}
        found = _reported(replace(rows, quiet=True), model, choosing, told)
    if target is None:
        print(json_.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return
    with replacing(target, force=force) as file:
        file.write(found.to_html().encode())
    print(f"Wrote {target}.")


def _reported(rows: InputRows, model: Any, choosing: Choosing, told: dict[str, Any]) -> Any:
    """The report of the files themselves, so that it can tell their hashes."""
    from tallybayes.cli.training import fit_options, label_of
    from tallybayes.reporting import report as make
    from tallybayes.sources.options import ReadOptions

    source = rows.read()
    label = label_of(source, choosing.label if model is None else choosing.label or model.schema.label)
    options = fit_options(source, label, choosing) if model is None else {}
    reading = rows.reading.options()
    given = {field.name: getattr(reading, field.name) for field in fields(reading) if field.name != "connection"}
    options |= {name: value for name, value in given.items() if value != getattr(ReadOptions, name)}
    files: Any = rows.files or source  # of a query the rows, open already
    return make(files, label, model, source=rows.name, **told, **options)
