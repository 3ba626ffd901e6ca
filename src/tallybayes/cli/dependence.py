"""`tally dependence`: measure how far columns depend on each other given the class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import argument, option
from tallybayes.cli.options import DisplayOptions, InputOptions

if TYPE_CHECKING:
    from tallybayes import sources


@example(
    "tally dependence weather.csv --label play",
    "tally dependence weather.tally weather.csv --column outlook --column 'h*' --json",
)
def dependence(
    inputs: InputOptions,
    display: DisplayOptions,
    data: list[str] | None = argument(None, "[MODEL] DATA", "Labelled rows, and optionally a model for its columns."),
    label: str | None = option(None, "--label -l NAME", "The column that holds the class; by default guessed."),
    weight: str | None = option(None, "--weight --weights NAME", "The column that holds the weights of the rows."),
    column: list[str] | None = option(None, "--column -c NAME", "Test only these columns or globs. Repeatable."),
    bins: int = option(10, "--bins N", "The largest number of bins of a column of numbers."),
) -> None:
    """Measure how far columns depend on each other given the class.

    Naive Bayes takes columns to be independent given the class. Shows the pairs that break this most, in bits per row,
    with a test of each. All pairs are counted in one pass.
    """
    from tallybayes.cli.inputs import load_model, open_inputs
    from tallybayes.cli.outputs import show
    from tallybayes.cli.show import matching
    from tallybayes.cli.training import label_of
    from tallybayes.structure.dependence import dependence as measure

    path, files = inputs.split_model(data)
    model = None if path is None else load_model(path)

    def work(source: sources.Source) -> Any:
        named = None if not column else list(matching(source.schema.names, column))
        options: dict[str, Any] = {"weights": weight, "columns": named, "bins": bins, "threads": inputs.threads}
        if model is not None:
            return model.dependence(source, label, **options)
        return measure(source, label_of(source, label), **options)

    with open_inputs(files, inputs) as rows:
        opened = rows if model is None else rows.like(model)
        show(opened.work(work), display)
