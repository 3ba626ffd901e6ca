"""`tally report`: write a full report on rows and their model as one HTML page."""

from __future__ import annotations

import json as json_
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import argument, option, option_words
from tallybayes.cli.options import InputOptions, ModelOptions, Seed
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.cli.inputs import InputRows


@example("tally report weather.csv --label play", "tally report weather.tally weather.csv -o weather-model.html")
def report(
    ctx: typer.Context,
    choices: ModelOptions,
    inputs: InputOptions,
    data: list[str] | None = argument(
        None, "[MODEL] DATA", "Labelled rows, and optionally a model; otherwise one is fitted."
    ),
    how: str | None = option(None, "--how HOW", "Validation scheme, as in 'tally validate'."),
    new: list[str] | None = option(None, "--new FILE", "Later rows, for a section on drift. Repeatable."),
    seed: Seed = 0,
    json: bool = option(False, "--json", "Print the figures of the report as JSON instead."),
    output: str | None = option(None, "--output -o FILE", "Where to save it; by default DATA's name with .html."),
    force: bool = option(False, "--force -f", "Overwrite an existing page."),
) -> None:
    """Write a full report as one HTML page.

    The data, the quality of the model on rows it has not seen, each column's evidence, the columns that break the
    independence assumption, and the worst mistakes explained: one file that needs no network.
    """
    from tallybayes.cli.inputs import load_model, open_inputs
    from tallybayes.cli.outputs import check_free, replacing
    from tallybayes.display.progress import busy
    from tallybayes.sources.locations import name_of

    path, files = inputs.split_model(data)
    model = None if path is None else load_model(path)
    given = option_words(replace(choices, label=None, weight=None))
    if model is not None and given:
        do = "Leave out the model to fit one with it"
        raise BadOption(wanted(given[0], "no model, which has its own options", repr(path), do))
    name = Path(name_of(files[0])).name.split(".")[0] if files else "report"
    target = None if json else check_free(output or f"{name}.html", force=force)
    with open_inputs(files, inputs) as rows, busy("making the report"):
        command = shlex.join(["tally", *map(name_of, ctx.obj)])
        options: dict[str, Any] = {"command": command, "how": how, "seed": seed, "threads": inputs.threads}
        options |= {"new_rows": new} if new else {}
        found = _report(replace(rows, quiet=True), model, choices, options)
    if target is None:
        print(json_.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return
    with replacing(target, force=force) as file:
        file.write(found.to_html().encode())
    print(f"Wrote {target}.")


def _report(rows: InputRows, model: Any, choices: ModelOptions, options: dict[str, Any]) -> Any:
    """Make the report from the files themselves, so that it can give their hashes."""
    from tallybayes.cli.training import fit_options, label_of
    from tallybayes.reporting import report as make
    from tallybayes.sources.options import ReadOptions

    source = rows.read()
    label = label_of(source, choices.label if model is None else choices.label or model.schema.label)
    own = {} if choices.weight is None else {"weights": choices.weight}
    options |= fit_options(source, label, choices) if model is None else own
    reading = rows.inputs.read_options()
    given = {field.name: getattr(reading, field.name) for field in fields(reading) if field.name != "connection"}
    options |= {name: value for name, value in given.items() if value != getattr(ReadOptions, name)}
    files: Any = rows.files or source  # a query has no files: pass its open rows
    return make(files, label, model, source=rows.name, **options)
