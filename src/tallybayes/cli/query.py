"""`tally query`: compute a probability, by counting rows or from a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import argument, option
from tallybayes.cli.options import DisplayOptions, InputOptions
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.queries.probability import Probability


@example(
    "tally query weather.csv 'play=yes | outlook=sunny'",
    "tally query weather.csv 'temperature>70, windy=true'",
    "tally query weather.tally 'play=yes | outlook=sunny, temperature=66' --json",
)
def query(
    source: Annotated[str, typer.Argument(metavar="DATA|MODEL", help="Rows to count, or a model; omitted with --sql.")],
    inputs: InputOptions,
    display: DisplayOptions,
    question: str | None = argument(
        None, "QUESTION", "Such as 'circle, red', 'play=yes | outlook=sunny' or 'text~prince'."
    ),
    interval: Literal["wilson", "beta"] = option("wilson", "--interval", "Interval around a share of rows."),
    level: float = option(0.95, "--level LEVEL", "Confidence level of the interval."),
) -> None:
    """Compute a probability, by counting rows or from a model.

    A comma means "and"; terms after the bar are the condition. A value without a column is searched in all columns.
    =, !=, <, <=, > and >= compare; ~ searches for words in a text.
    """
    from tallybayes import sources
    from tallybayes.cli.inputs import load_model, open_inputs
    from tallybayes.cli.outputs import show
    from tallybayes.queries.count_rows import probability

    files, text = ([source], question) if inputs.sql is None or question is not None else ([], source)
    if text is None:
        raise BadOption(wanted("QUESTION", "one after DATA, such as 'play=yes | outlook=sunny'", "none"))
    if inputs.sql is None and source.lower().endswith(".tally"):
        show(load_model(source).probability(text, level=level), display)
        return

    def work(rows: sources.Source) -> Probability:
        return probability(rows, text, interval=interval, level=level, threads=inputs.threads)

    with open_inputs(files, inputs) as rows:
        show(rows.work(work), display)
