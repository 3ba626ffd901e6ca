"""`tally fit`: labelled rows in, a model file out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallybayes.cli.exit import note
from tallybayes.cli.group import example
from tallybayes.cli.options import Choosing, Data, Reading
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.storage.checkpoint import Checkpoint

__all__ = ["fit"]


@example(
    "tally fit weather.csv --label play",
    "tally fit weather.csv --label play --event temperature=lognormal --drop windy -o dry.tally",
    """tally fit --sql "select * from 'weather.csv' where temperature > 65" --label play -o warm.tally""",
    "cat weather.csv | tally fit - --label play --estimate mle --no-calibrate -o plain.tally",
    "tally fit weather.csv --label play --checkpoint half.tally -o whole.tally",
)
def fit(
    choosing: Choosing,
    reading: Reading,
    data: Data = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where the model goes; by default DATA's name with .tally."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite a model that is there.")] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Save a long run here on its way; killed, the same command goes on from there, to the same bits.",
        ),
    ] = None,
    checkpoint_every: Annotated[
        float,
        typer.Option("--checkpoint-every", metavar="SECONDS", help="How many seconds lie between two savings."),
    ] = 60.0,
) -> None:
    """Learn a model from labelled rows and save it.

    One pass over the rows, which may be more than memory holds. What each column is, is inferred from its values
    unless --event says otherwise: numbers are gaussian, a few words categorical, prose a bag of words.
    """
    from tallybayes.cli.inputs import opened
    from tallybayes.cli.outputs import check_free
    from tallybayes.cli.training import learn_from

    target = check_free(output or _beside(data), force=force)
    saved = None if checkpoint is None else _saved(checkpoint, checkpoint_every, data, target)
    with opened(data, reading) as rows:
        model = learn_from(rows, choosing, saved)
    model.save(target)
    if saved is not None:
        saved.remove()
    print(f"{model!r}".strip("<>").removeprefix("tallybayes."))
    print(f"Saved to {target}.")
    named = shlex.join(reading.words((data or [])[:1]))
    note(f"next: tally show {target}, or tally validate {named} --label {model.schema.label}")


def _saved(path: str, every: float, data: list[str] | None, target: str) -> Checkpoint:
    """Where the run is saved on its way; it stays until the model is."""
    from tallybayes.storage.checkpoint import Checkpoint

    if "-" in (data or ()):
        do = "Save it to a file first"
        raise BadOption(wanted("--checkpoint", "files, which can be read again", "standard input", do))
    if Path(path).expanduser().resolve() == Path(target).resolve():
        raise BadOption(wanted("--checkpoint", "another file than the model's", repr(path), "Name the model with -o"))
    return Checkpoint(path, every, kept=True, say=note)


def _beside(data: list[str] | None) -> str:
    from tallybayes.sources.locations import name_of

    name = Path(name_of(data[0])).name.split(".")[0].strip("*?-") if data else ""
    return f"{name or 'model'}.tally"
