"""`tally fit`: labelled rows in, a model file out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tallybayes.cli.ending import note
from tallybayes.cli.group import example
from tallybayes.cli.options import Choosing, Data, Reading

__all__ = ["fit"]


@example(
    "tally fit weather.csv --label play",
    "tally fit weather.csv --label play --event temperature=lognormal --drop windy -o dry.tally",
    """tally fit --sql "select * from 'weather.csv' where temperature > 65" --label play -o warm.tally""",
    "cat weather.csv | tally fit - --label play --estimate mle --no-calibrate -o plain.tally",
)
def fit(
    choosing: Choosing,
    reading: Reading,
    data: Data = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where the model goes; by default DATA's name with .tally."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite a model that is there.")] = False,
) -> None:
    """Learn a model from labelled rows and save it.

    One pass over the rows, which may be more than memory holds. What each column is, is inferred from its values
    unless --event says otherwise: numbers are gaussian, a few words categorical, prose a bag of words.
    """
    from tallybayes.cli.learned import learn_from
    from tallybayes.cli.opened import opened
    from tallybayes.cli.written import check_free

    target = check_free(output or _beside(data), force=force)
    with opened(data, reading) as rows:
        model = learn_from(rows, choosing)
    model.save(target)
    print(f"{model!r}".strip("<>").removeprefix("tallybayes."))
    print(f"Saved to {target}.")
    named = shlex.join(reading.words((data or [])[:1]))
    note(f"next: tally show {target}, or tally validate {named} --label {model.schema.label}")


def _beside(data: list[str] | None) -> str:
    from tallybayes.batches.places import name_of

    name = Path(name_of(data[0])).name.split(".")[0].strip("*?-") if data else ""
    return f"{name or 'model'}.tally"
