"""`tally sample`: draw rows from a model's distribution."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import ModelFile, OutputOptions, Seed

if TYPE_CHECKING:
    import pyarrow as pa

    from tallybayes.sources.reading import Reading


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
    given the class. The rows have the columns of the training data; a date is drawn by its day, and its month and
    weekday follow.
    """
    from tallybayes.cli.inputs import load_model
    from tallybayes.cli.options import pairs
    from tallybayes.cli.outputs import write_rows
    from tallybayes.cli.parsing import class_of, row_of

    loaded = load_model(model)
    label = loaded.schema.label
    texts = pairs(given or (), "--given")
    columns = [f"{name}={value}" for name, value in texts.items() if name != label]
    fixed = row_of(loaded, columns, "--given") if columns else {}
    if label in texts:
        fixed[label] = class_of(loaded, texts[label], "--given")
    drawn = loaded.sample(n, fixed or None, missing=missing, seed=seed)
    drawn = _as_written(drawn, loaded.schema.readings, fixed)
    write_rows(drawn.to_batches(), drawn.schema.remove_metadata(), outputs)


def _as_written(rows: pa.Table, readings: Mapping[str, Reading], fixed: Collection[str]) -> pa.Table:
    """Return the rows with dates and times as the training data had them.

    The parts of a date become one column, unless only some of them are fixed: they need not agree with its day.
    """
    for name, reading in readings.items():
        parts = [part for part in reading.columns(name) if part in rows.column_names]
        days = name if reading.kind == "times" else f"{name}.days"
        if reading.kind not in ("dates", "times") or days not in parts:
            continue
        texts = reading.write(rows.column(days).combine_chunks())
        if reading.kind == "times" or set(parts) & set(fixed):
            rows = rows.set_column(rows.column_names.index(days), days, texts)
        else:
            first = rows.column_names.index(parts[0])
            rows = rows.drop_columns(parts).add_column(first, name, texts)
    return rows
