"""`tally drift`: measure what has changed between the rows of a model and new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Data, DisplayOptions, InputOptions, ModelFile

if TYPE_CHECKING:
    from tallybayes import sources
    from tallybayes.drift.result import Drift


@example("tally drift weather.tally week.csv", "tally drift weather.tally week.csv --json")
def drift(
    model: ModelFile,
    inputs: InputOptions,
    display: DisplayOptions,
    data: Data = None,
    label: str | None = option(None, "--label -l NAME", "The class column, if its name differs from training."),
    weight: str | None = option(None, "--weight --weights NAME", "The column that holds the weights of the rows."),
) -> None:
    """Measure what has changed since a model was fitted.

    Compares each column of new rows with the counts of the model, and the class shares if the rows have classes.
    Estimates the class shares from the probabilities of the rows too, which needs no classes.
    """
    from tallybayes.cli.inputs import load_model, open_inputs
    from tallybayes.cli.outputs import show

    loaded = load_model(model)

    def work(source: sources.Source) -> Drift:
        return loaded.drift(source, label, weights=weight, threads=inputs.threads)

    with open_inputs(data, inputs) as rows:
        show(rows.like(loaded).work(work), display)
