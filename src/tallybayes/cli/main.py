"""The command `tally`: exit codes 0 (done), 1 (a check failed), 2 (bad input)."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tallybayes import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

SUMMARY = "Naive Bayes: exact counts in, honest probabilities out."

# The module and summary of each command. A module is imported when its command is used, so that help is quick.
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "demo": ("demo.command", "See what it does, in a few seconds and with bundled data."),
        "look": ("look", "Look at a file and suggest what to do next; `tally DATA` is the same."),
    },
    "Learn": {
        "fit": ("fit", "Learn a model from labelled rows and save it."),
        "learn": ("update", "Add rows to a model, exactly."),
        "forget": ("update", "Remove rows from a model, exactly."),
        "merge": ("update", "Merge models."),
        "select": ("select", "Keep the columns that matter in a smaller model."),
    },
    "Ask": {
        "predict": ("predict", "Predict the class of each row, with the probability of each class."),
        "explain": ("explain", "Explain the prediction for one row."),
        "show": ("show", "Show what a model has learned, column by column."),
        "query": ("query", "Compute a probability, by counting rows or from a model."),
        "sample": ("sample", "Draw rows from a model's distribution."),
        "serve": ("serve", "Serve models over HTTP: predict, explain, learn and forget."),
        "export": ("export", "Write a model as SQL, ONNX, JSON or a web page."),
    },
    "Judge": {
        "validate": ("validate", "Cross-validate a model: measure it on rows it has not seen."),
        "evaluate": ("evaluate", "Evaluate predictions, or a model on other rows."),
        "compare": ("compare", "Compare event models, estimates, structures and other kinds of models."),
        "dependence": ("dependence", "Measure how far columns depend on each other given the class."),
        "drift": ("drift", "Measure what has changed since a model was fitted."),
        "report": ("report", "Write a full report as one HTML page."),
    },
    "Filter": {
        "mail": ("mail.command", "Filter mail: train, classify, explain, learn and forget messages."),
    },
}


def script() -> None:
    """Run the command line and exit: the entry point of the shell command."""
    start_quickly()
    if len(sys.argv) > 1 and not {"--help", "--version"} & set(sys.argv):  # these need no Arrow
        keep_pandas_out()
        keep_documentation_out()
    sys.exit(main())


def start_quickly() -> None:
    """Spare the process work that takes longer than fitting a small file."""
    # Imports make some 100,000 objects that stay; looking through them for garbage again and again takes 30 ms.
    gc.set_threshold(50_000)
    # NumPy's BLAS starts a thread for each core when it is imported, 50 ms of CPU on two cores. Our kernels share
    # rows among threads of their own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def keep_pandas_out() -> None:
    """Let Arrow find, once for the process, that there is no pandas.

    No command has a DataFrame. `pyarrow.array` and `Array.to_numpy` import pandas, if it is installed, to check whether
    they were given its types, which costs a quarter of a second. Arrow has no switch for the check, but makes it once,
    and a pandas too old for it is as good as none.
    """
    import pyarrow as pa

    if "pandas" in sys.modules:
        return
    old = ModuleType("pandas")
    old.__version__ = "0.0"  # type: ignore[attr-defined]
    sys.modules["pandas"] = old
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pa.scalar(0)
    finally:
        del sys.modules["pandas"]


def keep_documentation_out() -> None:
    """Let Arrow make its functions without the documentation that it puts together from that of their options.

    No command shows it, and reading it takes 20 ms, with `pydoc`, a sixteenth of fitting a small file.
    """
    name = "pyarrow.vendored.docscrape"
    if "pyarrow.compute" in sys.modules or name in sys.modules:
        return
    unread = ModuleType(name)
    unread.NumpyDocString = lambda _: {"Parameters": []}  # type: ignore[attr-defined]
    sys.modules[name] = unread
    try:
        import pyarrow.compute  # noqa: F401
    except (AttributeError, ImportError, KeyError):
        pass  # this Arrow reads more of it: the command imports it as it is
    finally:
        del sys.modules[name]


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Examples
    --------
    >>> main(["--version"]) == 0      # doctest: +ELLIPSIS
    tallybayes ...
    True
    """
    given = list(sys.argv[1:] if args is None else args)
    if given == ["--version"]:  # answered before any slow import
        print(f"tallybayes {__version__}")
        return 0
    from tallybayes.cli.exit import run

    return run(lambda: program()(given or ["--help"], prog_name="tally", standalone_mode=False, obj=given))


def program() -> Any:
    """Return the whole command line as a typer group."""
    from tallybayes.cli.group import group

    return group(SUMMARY, COMMANDS)
