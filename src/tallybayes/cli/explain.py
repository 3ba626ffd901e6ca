"""`tally explain`: explain the prediction for one row."""

from __future__ import annotations

import os
from typing import Any

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import argument, option
from tallybayes.cli.options import DisplayOptions, InputOptions, ModelFile
from tallybayes.errors import BadData, BadOption, wanted


@example(
    "tally explain weather.tally outlook=sunny temperature=66 humidity=90 windy=true",
    "tally explain weather.tally days.csv:2",
    """tally explain weather.tally '{"outlook": "overcast", "temperature": 70}' --of yes --json""",
)
def explain(
    model: ModelFile,
    inputs: InputOptions,
    display: DisplayOptions,
    row: list[str] | None = argument(
        None, "ROW", "NAME=VALUE for some columns, a JSON object, a text, or FILE:ROW; with --sql its first row."
    ),
    of: str | None = option(None, "--of --positive CLASS", "The class to explain."),
    against: str | None = option(None, "--against CLASS", "The class to compare it with."),
) -> None:
    """Explain the prediction for one row.

    Shows what each column, or each word, adds to the log-odds of the class, and the number of rows behind it. A column
    that is not named counts as missing and adds nothing.
    """
    from tallybayes.cli.inputs import load_model
    from tallybayes.cli.outputs import show
    from tallybayes.cli.parsing import class_of, row_of

    loaded = load_model(model)
    if not row and inputs.sql is None:
        raise BadOption(wanted("ROW", "NAME=VALUE for some columns, a JSON object, a text, or FILE:ROW", "none"))
    if not row or inputs.sql is not None:
        found = _row(loaded, row, inputs, 1)
    else:
        found = _in_file(loaded, row, inputs) or row_of(loaded, row)
    classes = {"of": class_of(loaded, of, "--of"), "against": class_of(loaded, against, "--against")}
    show(loaded.explain(found, **classes), display)


def _in_file(model: Any, row: list[str], inputs: InputOptions) -> dict[str, Any] | None:
    """Return the row of FILE:ROW, counted from 1; None for anything else."""
    from tallybayes.sources.locations import is_uri

    path, colon, place = row[0].rpartition(":")
    if len(row) == 1 and os.path.isfile(row[0]):
        do = f"Its first row is {row[0]}:1"
        raise BadOption(wanted("ROW", "NAME=VALUE for some columns, or FILE:ROW", f"the file {row[0]!r}", do))
    if len(row) > 1 or not colon or not place.isdigit() or not (os.path.exists(path) or is_uri(path)):
        return None
    return _row(model, [path], inputs, int(place))


def _row(model: Any, data: list[str] | None, inputs: InputOptions, place: int) -> dict[str, Any]:
    """Return row number `place`, counted from 1."""
    from tallybayes import sources
    from tallybayes.cli.inputs import open_inputs

    def work(source: sources.Source) -> dict[str, Any]:
        left, total = place - 1, 0
        for batch in source:
            if 0 <= left < batch.num_rows:
                return dict(batch.slice(left, 1).to_pylist()[0])
            left, total = left - batch.num_rows, total + batch.num_rows
        if not total:
            raise BadData(wanted(source.name, "rows", "none"))
        raise BadData(wanted(source.name, f"a row from 1 to {total:,}", f"{place:,}"))

    with open_inputs(data, inputs) as rows:
        return rows.like(model).work(work)
