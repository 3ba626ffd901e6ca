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
from tallybayes.cli.phrases import in_options
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes import sources
    from tallybayes.cli.inputs import InputRows


@example(
    "tally report weather.csv --label play",
    "tally report weather.tally weather.csv -o weather-model.html",
    "tally report weather.csv --no-label -o profile.html",
)
def report(
    ctx: typer.Context,
    choices: ModelOptions,
    inputs: InputOptions,
    data: list[str] | None = argument(
        None, "[MODEL [MODEL]] DATA", "Labelled rows, and a model or two to compare; otherwise one is fitted."
    ),
    how: str | None = option(None, "--how HOW", "Validation scheme, as in 'tally validate'."),
    positive: str | None = option(
        None, "--positive CLASS", "The class that is singled out; by default the second of two."
    ),
    new: list[str] | None = option(None, "--new FILE", "Later rows, for a section on drift. Repeatable."),
    no_label: bool = option(False, "--no-label", "Describe the columns alone, without a class or a model."),
    seed: Seed = 0,
    json: bool = option(False, "--json", "Print the figures of the report as JSON instead."),
    output: str | None = option(None, "--output -o FILE", "Where to save it; by default DATA's name with .html."),
    force: bool = option(False, "--force -f", "Overwrite an existing page."),
) -> None:
    """Write a full report as one HTML page.

    The data, the quality of the model on rows it has not seen, each column's evidence, the columns that break the
    independence assumption, and the worst mistakes explained: one file that needs no network. Two models are shown side
    by side. With --no-label, the page says what is in the columns.
    """
    from tallybayes.cli.inputs import load_model, open_inputs
    from tallybayes.cli.outputs import check_free, replacing
    from tallybayes.display.progress import span, working
    from tallybayes.sources.locations import name_of

    first, files = inputs.split_model(data)
    second, files = inputs.split_model(files)
    paths = [path for path in (first, second) if path is not None]
    _check(paths, choices, {"--how": how, "--new": new, "--positive": positive}, no_label=no_label)
    models = [load_model(path) for path in paths]
    name = Path(name_of(files[0])).name.split(".")[0] if files else "report"
    target = None if json else check_free(output or f"{name}.html", force=force)
    with open_inputs(files, inputs) as rows, working("making the report"):
        command = shlex.join(["tally", *map(name_of, ctx.obj)])
        options: dict[str, Any] = {"command": command, "seed": seed, "threads": inputs.threads}
        with span(0.0, 0.9):
            if no_label:
                found = _profile(rows, choices, options)
            elif len(models) == 2:
                found = _side_by_side(rows, models, paths, choices, options | {"how": how, "positive": positive})
            else:
                more = {"how": how, "positive": positive} | ({"new_rows": new} if new else {})
                found = _report(rows, models[0] if models else None, choices, options | more)
        text = json_.dumps(found.to_dict(), indent=2, ensure_ascii=False) if target is None else found.to_html()
    if target is None:
        print(text)
        return
    with replacing(target, force=force) as file:
        file.write(text.encode())
    print(f"Wrote {target}.")


def _check(models: list[str], choices: ModelOptions, others: dict[str, Any], *, no_label: bool) -> None:
    """Raise if options do not go together."""
    given = option_words(replace(choices, label=None, weight=None))
    if models and given:
        do = "Leave out the model to fit one with it"
        raise BadOption(wanted(given[0], "no model, which has its own options", repr(models[0]), do))
    if len(models) == 2 and others["--new"]:
        raise BadOption(wanted("--new", "one model", "two", "Leave out one of them"))
    if not no_label:
        return
    if models:
        raise BadOption(wanted("--no-label", "no model", repr(models[0]), "Leave out the model"))
    about = {"--label": choices.label, "--weight": choices.weight} | others
    for name, value in about.items():
        if value:
            raise BadOption(wanted("--no-label", f"no {name}", f"{name} {value}", "Leave out one of them"))


def _profile(rows: InputRows, choices: ModelOptions, options: dict[str, Any]) -> Any:
    from tallybayes.reporting import profile

    source = rows.read()
    keywords = choices.keywords(source.schema.names)
    given = {name: keywords[name] for name in ("events", "missing") if keywords[name] not in (None, "skip")}
    found = profile(rows.files or source, source=rows.name, **options, **given, **_reading(rows))
    return _in_options(found)


def _side_by_side(
    rows: InputRows, models: list[Any], paths: list[str], choices: ModelOptions, options: dict[str, Any]
) -> Any:
    from tallybayes.cli.parsing import class_of
    from tallybayes.reporting import side_by_side

    short = [Path(path).name for path in paths]
    names = short if short[0] != short[1] else paths
    if names[0] == names[1]:
        raise BadOption(wanted("MODEL", "two different models", f"{names[0]} twice"))
    label = choices.label or models[0].schema.label
    options["positive"] = class_of(models[0], options["positive"], "--positive")
    options |= {"names": names, "source": rows.name} | _reading(rows)
    options |= {} if choices.weight is None else {"weights": choices.weight}
    files: Any = rows.files or rows.read()
    found = side_by_side(models[0], models[1], files, label, **options)
    return replace(found, remarks=tuple(map(in_options, found.remarks)))


def _report(rows: InputRows, model: Any, choices: ModelOptions, options: dict[str, Any]) -> Any:
    """Make the report from the files themselves, so that it can give their hashes."""
    from tallybayes.cli.training import fit_options, label_of
    from tallybayes.reporting import report as make

    source = rows.read()
    label = label_of(source, choices.label if model is None else choices.label or model.schema.label)
    options["positive"] = _positive(options["positive"], source, label, model)
    own = {} if choices.weight is None else {"weights": choices.weight}
    options |= fit_options(source, label, choices) if model is None else own
    files: Any = rows.files or source  # a query has no files: pass its open rows
    return _in_options(make(files, label, model, source=rows.name, **options, **_reading(rows)))


def _positive(text: str | None, source: sources.Source, label: str, model: Any) -> Any:
    """Return the class with this text, in the type of the label."""
    from tallybayes.cli.parsing import as_type, class_of

    if text is None or model is not None:
        return class_of(model, text, "--positive") if model is not None else None
    kind = source.schema.field(label).type
    return as_type(text, getattr(kind, "value_type", kind), "--positive")


def _reading(rows: InputRows) -> dict[str, Any]:
    """Return how rows are read, as keywords that differ from their defaults."""
    from tallybayes.sources.options import ReadOptions

    reading = rows.inputs.read_options()
    given = {field.name: getattr(reading, field.name) for field in fields(reading) if field.name != "connection"}
    return {name: value for name, value in given.items() if value != getattr(ReadOptions, name)}


def _in_options(found: Any) -> Any:
    """Return the report with its remarks in the language of the command line."""
    remarks = tuple(replace(one, sentence=in_options(one.sentence)) for one in found.remarks)
    return replace(found, remarks=remarks, left_out=tuple(map(in_options, found.left_out)))
