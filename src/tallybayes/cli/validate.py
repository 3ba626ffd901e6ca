"""`tally validate`: cross-validate a model, and fail if a required figure is missed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tallybayes.cli.exit import note
from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Data, DisplayOptions, InputOptions, ModelOptions, Seed, pairs
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.evaluation import Confusion, Evaluation
    from tallybayes.validation import Validation

# Named here, because importing them would make help slow; a test compares them with evaluation.figures.
_REQUIRED = (
    "accuracy, log_loss, brier, ece, auc, average_precision, f1, macro_f1, macro_precision, macro_sensitivity, mcc,"
    " kappa"
)
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="FIGURE=X",
        help=f"Exit with code 1 unless a figure is at least X (a loss: at most): {_REQUIRED}. Repeatable.",
    ),
]


@example(
    "tally validate weather.csv --label play",
    "tally validate weather.csv --label play --how loo --require accuracy=0.5 --require log_loss=0.9",
    "tally validate weather.csv --label play --how 10x10 --seed 1 --json",
)
def validate(
    choices: ModelOptions,
    inputs: InputOptions,
    display: DisplayOptions,
    data: Data = None,
    how: str = option(
        "10-fold", "--how HOW", "loo, 10-fold, 10x10, holdout, holdout(0.25), 10xholdout, prequential, ..."
    ),
    groups: str | None = option(None, "--groups NAME", "The group column; a group stays in one fold."),
    folds: str | None = option(None, "--folds NAME", "The column that holds the fold of each row."),
    order: str | None = option(None, "--order NAME", "The column that sorts rows for prequential."),
    seed: Seed = 0,
    positive: str | None = option(None, "--positive CLASS", "The class of AUC, average precision and F1, of two."),
    rows: bool = option(False, "--rows", "With --json, add label, fold, probabilities and scores of every row."),
    require_: Require = None,
) -> None:
    """Cross-validate a model: measure it on rows it has not seen.

    The rows are counted once. Each fold's training counts are the total minus the fold, exactly, so even leave-one-out
    (--how loo) takes one pass.
    """
    from tallybayes import sources, validation
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import show
    from tallybayes.cli.parsing import one_of
    from tallybayes.cli.training import fit_options, label_of
    from tallybayes.display.progress import working

    limits = required_figures(require_)

    def work(source: sources.Source) -> Validation:
        label = label_of(source, choices.label)
        return validation.validate(
            source,
            label,
            how,
            seed=seed,
            groups=groups,
            folds=folds,
            order=order,
            threads=inputs.threads,
            **fit_options(source, label, choices),
        )

    with open_inputs(data, inputs) as opened, working("validating"):
        found = opened.work(work)
    found = replace(found, positive=one_of(found.classes, positive, "--positive"))
    show(found, display, None if rows else found.summary())
    require(found.evaluation, limits)


def require(found: Evaluation | Confusion, limits: dict[str, float]) -> None:
    """Exit with code 1 if a figure misses its limit, naming each that does."""
    from tallybayes.evaluation.figures import FIGURES

    for name in limits:
        if FIGURES[name].needs_probabilities and not hasattr(found, "curves"):
            raise BadOption(wanted("--require", "a figure that needs no probabilities", repr(name)))
    measured = {name: float(FIGURES[name].of(found)) for name in limits}
    missed = [
        f"{name} is {value:.4g}, {'at least' if FIGURES[name].higher else 'at most'} {limits[name]:g} was required."
        for name, value in measured.items()
        if not (value >= limits[name] if FIGURES[name].higher else value <= limits[name])
    ]
    for sentence in missed:
        note(sentence)
    if missed:
        raise typer.Exit(1)


def required_figures(given: list[str] | None) -> dict[str, float]:
    """Parse the limits of --require, by figure."""
    from tallybayes.errors import did_you_mean
    from tallybayes.evaluation.figures import FIGURES

    out = {}
    for name, value in pairs(given or (), "--require").items():
        if name not in FIGURES:
            raise BadOption(
                wanted("--require", f"one of {', '.join(FIGURES)}", repr(name), did_you_mean(name, FIGURES))
            )
        try:
            out[name] = float(value)
        except ValueError:
            raise BadOption(wanted("--require", f"a number after {name}=", repr(value))) from None
    return out
