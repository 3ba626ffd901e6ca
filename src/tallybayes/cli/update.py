"""`tally learn`, `tally forget` and `tally merge`: update models exactly, without refitting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Annotated

import typer

from tallybayes.cli.exit import note
from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Data, InputOptions, ModelFile
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.model import Model

Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing model.")]


@dataclass(frozen=True)
class Change:
    """The options of a command that changes a model."""

    data: Data = None
    label: str | None = option(None, "--label -l NAME", "The class column, if its name differs from training.")
    weight: str | None = option(None, "--weight --weights NAME", "The column that holds the weights of the rows.")
    calibrate: str | None = option(None, "--calibrate DATA", "Calibrate again with these rows: all rows learned.")
    output: str | None = option(
        None, "--output -o FILE", "Where to save the model; by default MODEL itself (needs --force)."
    )
    force: Force = False


@example("tally learn weather.tally week.csv -o fortnight.tally", "tally learn weather.tally week.csv --force")
def learn(model: ModelFile, inputs: InputOptions, change: Change) -> None:
    """Add rows to a model, exactly.

    The counts are the same, to the last bit, as from fitting all rows at once.
    """
    _change("learn", model, inputs, change)


@example("tally forget fortnight.tally week.csv -o before.tally")
def forget(model: ModelFile, inputs: InputOptions, change: Change) -> None:
    """Remove rows from a model, exactly.

    The counts are the same, to the last bit, as if the model had never seen the rows. Fails for rows that were not
    learned.
    """
    _change("forget", model, inputs, change)


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


def _change(how: str, path: str, inputs: InputOptions, change: Change) -> None:
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import check_free
    from tallybayes.storage.model_file import load

    def changed(model: Model, how: str, data: list[str] | None, inputs: InputOptions) -> Model:
        with open_inputs(data, inputs) as rows:
            new: Model = rows.like(model).work(
                lambda source: getattr(model, how)(source, change.label, weights=change.weight, threads=inputs.threads)
            )
        return new

    target = check_free(change.output or path, force=change.force)
    model = changed(load(path), how, change.data, inputs)
    if change.calibrate is not None:
        model = changed(model, "calibrate", [change.calibrate], replace(inputs, sql=None, db=None))
    _save(model, target)


def _save(model: Model, target: str) -> None:
    model.save(target)
    print(f"{model!r}".strip("<>").removeprefix("tallybayes."))
    print(f"Saved to {target}.")
    if not model.classes:
        note("the model knows nothing now: no row is left. Add rows with 'tally learn'.")
    elif model.calibration is not None and model.calibration.stale:
        note("the calibration is older than this change; update it with --calibrate DATA.")
