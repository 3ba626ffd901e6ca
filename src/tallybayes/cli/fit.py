"""`tally fit`: learn a model from labelled rows and save it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tallybayes.cli.exit import note, suggest
from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option, option_words
from tallybayes.cli.options import Data, InputOptions, ModelOptions
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.model import Model
    from tallybayes.storage.checkpoint import Checkpoint


@example(
    "tally fit weather.csv --label play",
    "tally fit weather.csv --label play --event temperature=lognormal --drop windy -o dry.tally",
    """tally fit --sql "select * from 'weather.csv' where temperature > 65" --label play -o warm.tally""",
    "cat weather.csv | tally fit - --label play --estimate mle --no-calibrate -o plain.tally",
    "tally fit weather.csv --label play --checkpoint half.tally -o whole.tally",
)
def fit(
    choices: ModelOptions,
    inputs: InputOptions,
    data: Data = None,
    output: str | None = option(
        None, "--output -o FILE", "Where to save the model; by default DATA's name with .tally."
    ),
    force: bool = option(False, "--force -f", "Overwrite an existing model."),
    checkpoint: str | None = option(
        None,
        "--checkpoint FILE",
        "Save progress of a long run here. After a crash the same command resumes, with the same result.",
    ),
    checkpoint_every: float = option(60.0, "--checkpoint-every SECONDS", "Seconds between two checkpoints."),
) -> None:
    """Learn a model from labelled rows and save it.

    Reads the rows once; they need not fit into memory. The event model of each column is inferred from its values
    unless --event sets it: numbers are histograms, names categorical, longer texts a bag of words.
    """
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import check_free
    from tallybayes.cli.training import learn_from

    target = check_free(output or _beside(data), force=force)
    saved = None if checkpoint is None else _saved(checkpoint, checkpoint_every, data, target)
    with open_inputs(data, inputs) as rows:
        model = learn_from(rows, choices, saved)
    model.save(target)
    if saved is not None:
        saved.remove()
    print(f"{model!r}".strip("<>").removeprefix("tallybayes."))
    print(f"Saved to {target}.")
    _warn_if_worse_than_prior(model)
    suggest("show", target)
    suggest("validate", *inputs.words(data), *option_words(replace(choices, label=model.schema.label)))


def _warn_if_worse_than_prior(model: Model) -> None:
    """Warn if the log-loss on rows left out exceeds that of the class shares."""
    import numpy as np

    found = model.calibration
    if found is None or found.after is None or found.stale:
        return
    counts = model.evidence.rows.to_float()
    counts = counts[counts > 1]
    if len(counts) < 2:
        return
    share, losses = counts / counts.sum(), -np.log((counts - 1) / (counts.sum() - 1))  # each row left out, too
    mean = float(share @ losses)
    error = float(np.sqrt(share @ (losses - mean) ** 2 / found.rows))
    if found.after > mean + error:
        note(
            f"warning: the log-loss on rows left out is {found.after:.4f}; the class shares alone, without any column, "
            f"have {mean:.4f}. The probabilities of this model are worse than no model."
        )


def _saved(path: str, every: float, data: list[str] | None, target: str) -> Checkpoint:
    """Return the checkpoint of this run; it is kept until the model is saved."""
    from tallybayes.storage.checkpoint import Checkpoint

    if "-" in (data or ()):
        do = "Save it to a file first"
        raise BadOption(wanted("--checkpoint", "files, which can be read again", "standard input", do))
    try:
        same = Path(path).expanduser().resolve() == Path(target).resolve()
    except (ValueError, OSError):  # no name of a file, as the checkpoint will say
        same = False
    if same:
        raise BadOption(wanted("--checkpoint", "another file than the model's", repr(path), "Name the model with -o"))
    return Checkpoint(path, every, kept=True, say=note)


def _beside(data: list[str] | None) -> str:
    from tallybayes.sources.locations import name_of

    name = Path(name_of(data[0])).name.split(".")[0].strip("*?-") if data else ""
    return f"{name or 'model'}.tally"
