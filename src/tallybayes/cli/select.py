"""`tally select`: keep the columns that matter in a smaller model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallybayes.cli.exit import note
from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Data, InputOptions, ModelFile
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes import sources
    from tallybayes.model import Model

_NAMED = 20  # columns listed by name


@example(
    "tally select weather.tally weather.csv -o small.tally",
    "tally select weather.tally weather.csv -n 2 -o two.tally",
    "tally select weather.tally --column outlook --column 'h*' -o chosen.tally",
)
def select(
    model: ModelFile,
    inputs: InputOptions,
    data: Data = None,
    n: int | None = option(None, "-n --most N", "The largest number of columns to keep."),
    column: list[str] | None = option(None, "--column -c NAME", "Keep this column or glob. Repeatable."),
    output: str | None = option(
        None, "--output -o FILE", "Where to save the model; by default MODEL itself (needs --force)."
    ),
    force: bool = option(False, "--force -f", "Overwrite an existing model."),
) -> None:
    """Keep the columns that matter in a smaller model.

    With DATA, the rows that the model has learned, columns are left out as long as the leave-one-out log-loss surely
    does not rise, and the smaller model is calibrated again. Without, those with the most information about the class
    are kept (-n), or those you name (--column). The counts are the same as from fitting these columns alone.
    """
    from tallybayes.cli.inputs import load_model
    from tallybayes.cli.outputs import check_free
    from tallybayes.cli.show import named_columns

    loaded = load_model(model)
    has_rows = bool(data) or inputs.sql is not None
    if column and (n is not None or has_rows):
        raise BadOption(
            wanted("--column", "no DATA and no -n beside it", "both", "Name the columns, or have them chosen")
        )
    if not column and n is None and not has_rows:
        raise BadOption(wanted("select", "DATA to choose by, -n N, or --column NAME", "none of them"))
    target = check_free(output or model, force=force)
    if column:
        found = loaded.select(list(named_columns(loaded, column)))
    elif has_rows:
        found = _chosen(loaded, data, inputs, n)
    else:
        found = loaded.select(n)
    found.save(target)
    _say(loaded, found, target)


def _chosen(model: Model, data: list[str] | None, inputs: InputOptions, n: int | None) -> Model:
    from tallybayes.cli.inputs import open_inputs

    def work(source: sources.Source) -> Any:
        smaller = model.select(n, rows=source)
        return smaller.calibrate(source) if model.calibration is not None else smaller

    with open_inputs(data, inputs) as rows:
        found: Model = rows.like(model).work(work)
    return found


def _say(model: Model, found: Model, target: str) -> None:
    print(f"{found!r}".strip("<>").removeprefix("tallybayes."))
    kept = set(found.schema.columns)
    left = [name for name in model.schema.columns if name not in kept]
    for title, names in (("Kept", list(found.schema.columns)), ("Left out", left)):
        more = f", and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        print(f"{title}: {', '.join(names[:_NAMED]) or 'nothing'}{more}.")
    print(f"Saved to {target}.")
    if found.calibration is not None and found.calibration.stale:
        note("the calibration is that of all columns; fit these columns, or select with DATA, to have their own.")
