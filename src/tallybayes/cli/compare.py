"""`tally compare`: compare event models, estimates and logistic regression, and recommend one."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallybayes.cli.exit import note
from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Data, DisplayOptions, InputOptions, ModelOptions, Seed

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
        None, "--partner NAME", "Logistic regression to compare with: ridge, lasso or none. Repeatable."
    ),
    seed: Seed = 0,
) -> None:
    """Compare event models, estimates and logistic regression.

    All are cross-validated on the same folds (ten by default). The arrow marks the recommendation: the inferred event
    models, unless something else is better by more than chance.
    """
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import show
    from tallybayes.cli.training import fit_options, label_of
    from tallybayes.display.progress import busy
    from tallybayes.validation import compare as compare_models

    partners = tuple(name for name in partner or ["ridge"] if name != "none")

    def work(source: sources.Source) -> Comparison:
        label = label_of(source, choices.label)
        options = fit_options(source, label, choices)
        return compare_models(source, label, how, partners=partners, seed=seed, threads=inputs.threads, **options)

    with open_inputs(data, inputs) as rows, busy("comparing"):
        found = replace(rows, quiet=True).work(work)
    show(found, display)
    note(f"next: {_command(inputs.words(data), found.label, found.recommended.options)}")


def _command(data: list[str], label: str, options: dict[str, Any]) -> str:
    """Return the command that fits the recommended model."""
    words = ["tally", "fit", *data, "--label", label]
    for name, event in (options.get("events") or {}).items():
        words += ["--event", f"{name}={event}"]
    for name in ("estimate", "alpha"):
        words += [f"--{name}", str(options[name])] if name in options else []
    words += ["--no-calibrate"] if options.get("calibrate", "loo") is None else []
    return shlex.join(words)
