"""`tally learn`, `tally forget` and `tally merge`: update models exactly, without refitting."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Annotated

import typer

from tallybayes.cli.exit import note
from tallybayes.cli.group import example
from tallybayes.cli.options import Data, ModelFile, Reading
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.model import Model

__all__ = ["forget", "learn", "merge"]

Label = Annotated[
    str | None,
    typer.Option("--label", "-l", metavar="NAME", help="The class column, if its name differs from training."),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", "--weights", metavar="NAME", help="The column that holds the weights of the rows."),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Where to save the model; by default MODEL itself (needs --force)."
    ),
]
Calibrate = Annotated[
    str | None, typer.Option("--calibrate", metavar="DATA", help="Calibrate again with these rows: all rows learned.")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing model.")]


@example("tally learn weather.tally week.csv -o fortnight.tally", "tally learn weather.tally week.csv --force")
def learn(
    model: ModelFile,
    reading: Reading,
    data: Data = None,
    label: Label = None,
    weight: Weight = None,
    calibrate: Calibrate = None,
    output: Output = None,
    force: Force = False,
) -> None:
    """Add rows to a model, exactly.

    The counts are the same, to the last bit, as from fitting all rows at once.
    """
    _changed("learn", model, data, reading, label, weight, calibrate, output or model, force=force)


@example("tally forget fortnight.tally week.csv -o before.tally")
def forget(
    model: ModelFile,
    reading: Reading,
    data: Data = None,
    label: Label = None,
    weight: Weight = None,
    calibrate: Calibrate = None,
    output: Output = None,
    force: Force = False,
) -> None:
    """Remove rows from a model, exactly.

    The counts are the same, to the last bit, as if the model had never seen the rows. Fails for rows that were not
    learned.
    """
    _changed("forget", model, data, reading, label, weight, calibrate, output or model, force=force)


@example("tally merge weather.tally fortnight.tally -o all.tally")
def merge(
    models: Annotated[list[str], typer.Argument(metavar="MODEL", help="Models of the same columns, two or more.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to save the merged model.")],
    force: Force = False,
) -> None:
    """Merge models.

    The counts are the same, to the last bit, as those of one model fitted on all rows.
    """
    from tallybayes.cli.outputs import check_free
    from tallybayes.storage.model_file import load

    if len(models) < 2:
        raise BadOption(wanted("merge", "two models or more", "1"))
    target = check_free(output, force=force)
    _save(reduce(add, map(load, models)), target)


def _changed(
    how: str,
    model: str,
    data: list[str] | None,
    reading: Reading,
    label: str | None,
    weight: str | None,
    calibrate: str | None,
    output: str,
    *,
    force: bool,
) -> None:
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import check_free
    from tallybayes.storage.model_file import load

    target = check_free(output, force=force)
    changed = load(model)
    with open_inputs(data, reading) as rows:
        changed = rows.like(changed).work(
            lambda source: getattr(changed, how)(source, label, weights=weight, threads=reading.threads)
        )
    if calibrate is not None:
        with open_inputs([calibrate], replace(reading, sql=None, db=None)) as rows:
            changed = rows.like(changed).work(
                lambda source: changed.calibrate(source, label, weights=weight, threads=reading.threads)
            )
    _save(changed, target)


def _save(model: Model, target: str) -> None:
    model.save(target)
    print(f"{model!r}".strip("<>").removeprefix("tallybayes."))
    print(f"Saved to {target}.")
    if model.calibration is not None and model.calibration.stale:
        note("the calibration is older than this change; update it with --calibrate DATA.")
