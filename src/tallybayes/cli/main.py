"""The command `tally`: which commands there are, and how each ends: 0, 1 (a check failed) or 2 (bad input)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tallybayes import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "SUMMARY", "main", "program", "script"]

SUMMARY = "Naive Bayes: exact counts in, honest probabilities out."

# Where each command lives and what it is for. A command is imported when it is asked for, so that help is quick.
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "demo": ("demo.command", "Walk through the classic examples, with data that comes along."),
        "look": ("look", "Look at a file and suggest what to do next; `tally DATA` is the same."),
    },
    "Learn": {
        "fit": ("fit", "Learn a model from labelled rows and save it."),
        "learn": ("update", "Add rows to a model, exactly."),
        "forget": ("update", "Take rows back out of a model, exactly."),
        "merge": ("update", "Add models up."),
    },
    "Ask": {
        "predict": ("predict", "Say the class of each row, and how probable each class is."),
        "explain": ("explain", "Say why one row is answered as it is."),
        "show": ("show", "Show what a model has learned, column by column."),
        "query": ("query", "Ask for a probability, by counting rows or from a model."),
        "sample": ("sample", "Draw rows from what a model believes."),
    },
    "Judge": {
        "validate": ("validate", "Say how good a model is on rows that it has not seen."),
        "evaluate": ("evaluate", "Say how good predictions are, or a model on other rows."),
        "compare": ("compare", "Put event models, estimates and logistic regression side by side."),
        "report": ("report", "Write all of it into one HTML page."),
    },
}


def script() -> None:
    """What the shell runs."""
    sys.meta_path.insert(0, _WithoutPandas())
    sys.exit(main())


class _WithoutPandas:
    """Hides pandas: a command never meets a DataFrame, and Arrow would import it at the first array, at 0.3 s."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is returned.

    Parameters
    ----------
    args : sequence of str, optional
        What stands behind `tally`; by default what the shell gave.

    Examples
    --------
    >>> main(["--version"]) == 0      # doctest: +ELLIPSIS
    tallybayes ...
    True
    """
    given = list(sys.argv[1:] if args is None else args)
    if given == ["--version"]:  # answered before anything is imported that takes longer than the answer
        print(f"tallybayes {__version__}")
        return 0
    from tallybayes.cli.exit import ended

    return ended(lambda: program()(given or ["--help"], prog_name="tally", standalone_mode=False, obj=given))


def program() -> Any:
    """The whole command line as typer has it: a group of commands."""
    from tallybayes.cli.group import group

    return group(SUMMARY, COMMANDS)
