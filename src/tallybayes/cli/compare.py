"""`tally compare`: compare event models, estimates, structures and other kinds of models, and recommend one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tallybayes.cli.event_patterns import short_patterns
from tallybayes.cli.exit import suggest
from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option, option_words
from tallybayes.cli.options import Data, DisplayOptions, InputOptions, ModelOptions, Seed
from tallybayes.cli.phrases import in_options

if TYPE_CHECKING:
    from tallybayes import sources
    from tallybayes.validation.comparison import Comparison


@example(
    "tally compare weather.csv --label play --how 5-fold",
    "tally compare weather.csv --label play --partner ridge --partner lasso --json",
)
def compare(
    choices: ModelOptions,
    inputs: InputOptions,
    display: DisplayOptions,
    data: Data = None,
    how: str = option("10-fold", "--how HOW", "Folds: 10-fold, 5-fold, 10x10."),
    partner: list[str] | None = option(
        None,
        "--partner NAME",
        "Compare with ridge, lasso, forest, lightgbm, xgboost, catboost, ebm or none. Repeatable.",
    ),
    seed: Seed = 0,
) -> None:
    """Compare event models, estimates, structures and other kinds of models.

    All are cross-validated on the same folds (ten by default). The arrow marks the recommendation: the inferred event
    models, unless something else is better by more than chance; then the simplest that is about as good as the best.
    """
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import show
    from tallybayes.cli.training import fit_options, label_of
    from tallybayes.display.progress import working
    from tallybayes.validation import compare as compare_models

    partners = None if not partner else tuple(name for name in partner if name != "none")

    def work(source: sources.Source) -> Comparison:
        label = label_of(source, choices.label)
        options = fit_options(source, label, choices)
        return compare_models(source, label, how, partners=partners, seed=seed, threads=inputs.threads, **options)

    with open_inputs(data, inputs) as rows, working("comparing"):
        found = rows.work(work)
    found = replace(found, notes=tuple(map(in_options, found.notes)))
    show(found, display)
    suggest("fit", *inputs.words(data), *option_words(_recommended(choices, found)))


def _recommended(choices: ModelOptions, found: Comparison) -> ModelOptions:
    """Return the options of the command with those of the recommended model."""
    options = found.recommended.options
    events = short_patterns(options.get("events", {}), found.events)
    kept = [text for text in choices.event or () if text.rpartition("=")[0] not in events]
    ignored = [text for text in kept if text.endswith("=ignore")]  # the first glob that matches wins
    event = [
        *ignored,
        *(f"{name}={event}" for name, event in events.items()),
        *(one for one in kept if one not in ignored),
    ]
    return replace(
        choices,
        label=found.label,
        event=event or None,
        estimate=options.get("estimate", choices.estimate),
        alpha=[options["alpha"]] if "alpha" in options else choices.alpha,
        structure=options.get("structure", choices.structure),
        calibrate=choices.calibrate and options.get("calibrate", "auto") is not None,
    )
