"""`tally query`: a probability, by counting rows or from a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tallybayes.cli.group import example
from tallybayes.cli.options import Reading, Showing

if TYPE_CHECKING:
    from tallybayes.explain.probability import Probability

__all__ = ["query"]


@example(
    "tally query weather.csv 'play=yes | outlook=sunny'",
    "tally query weather.csv 'temperature>70, windy=true'",
    "tally query weather.tally 'play=yes | outlook=sunny, temperature=66' --json",
)
def query(
    source: Annotated[str, typer.Argument(metavar="DATA|MODEL", help="Rows to count, or a model to ask.")],
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="Such as 'circle, red', 'play=yes | outlook=sunny' or 'text~prince'."),
    ],
    reading: Reading,
    showing: Showing,
    interval: Annotated[
        Literal["wilson", "beta"], typer.Option("--interval", help="Which interval is put around a share of rows.")
    ] = "wilson",
    level: Annotated[
        float, typer.Option("--level", metavar="LEVEL", help="How often the interval holds the truth.")
    ] = 0.95,
) -> None:
    """Ask for a probability, by counting rows or from a model.

    Terms between commas hold together, those behind the bar are given. A value alone is looked for in all columns;
    =, !=, <, <=, > and >= compare, ~ looks for words in a text.
    """
    from tallybayes import batches
    from tallybayes.cli.opened import opened
    from tallybayes.cli.written import show
    from tallybayes.explain.queries import probability
    from tallybayes.modelfile import load

    if source.lower().endswith(".tally"):
        show(load(source).probability(question, level=level), showing)
        return

    def counted(rows: batches.Source) -> Probability:
        return probability(rows, question, interval=interval, level=level, threads=reading.threads)

    with opened([source], reading) as rows:
        show(rows.work(counted), showing)
