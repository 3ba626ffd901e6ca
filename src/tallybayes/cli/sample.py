"""`tally sample`: draw rows from a model's distribution."""

from __future__ import annotations

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import ModelFile, OutputOptions, Seed


@example(
    "tally sample weather.tally -n 5",
    "tally sample weather.tally -n 100 --given play=yes --given outlook=sunny --seed 1 -o sunny.parquet",
)
def sample(
    model: ModelFile,
    outputs: OutputOptions,
    n: int = option(10, "-n --rows N", "Number of rows."),
    given: list[str] | None = option(
        None, "--given NAME=VALUE", "A fixed value, of a column or of the label. Repeatable."
    ),
    missing: bool = option(False, "--missing", "Leave values missing as often as in training."),
    seed: Seed = 0,
) -> None:
    """Draw rows from a model's distribution.

    First the class, from the prior or its posterior given the fixed values; then each column from its distribution
    given the class. The rows have the columns and types of the training data.
    """
    from tallybayes.cli.inputs import load_model
    from tallybayes.cli.options import pairs
    from tallybayes.cli.outputs import write_rows
    from tallybayes.cli.parsing import class_of, row_of

    loaded = load_model(model)
    label = loaded.schema.label
    texts = pairs(given or (), "--given")
    columns = [f"{name}={value}" for name, value in texts.items() if name != label]
    fixed = row_of(loaded, columns) if columns else {}
    if label in texts:
        fixed[label] = class_of(loaded, texts[label], "--given")
    drawn = loaded.sample(n, fixed or None, missing=missing, seed=seed)
    write_rows(drawn.to_batches(), drawn.schema.remove_metadata(), outputs)
