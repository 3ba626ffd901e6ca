"""Exit codes and messages: an error is one line, never a stack trace."""

from __future__ import annotations

import errno
import os
import shlex
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer

from tallybayes.cli.phrases import in_options
from tallybayes.display.tables import visible
from tallybayes.errors import TallyError, wanted

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
# The base class of typer's usage errors. Which library defines it depends on typer's version.
_Misused: Any = typer.BadParameter.__mro__[2]


def note(sentence: str) -> None:
    """Print a note on standard error, beside the answer on standard output."""
    print(f"tally: {visible(sentence)}", file=sys.stderr)


def suggest(*words: str) -> None:
    """Print a command to run next, quoted for a shell, on standard error."""
    note(f"next: {shlex.join(('tally', *words))}")


def run(work: Callable[[], Any]) -> int:
    """Run a command and return its exit code.

    Examples
    --------
    >>> run(lambda: print("done"))
    done
    0
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: note(f"warning: {in_options(str(message))}")
        try:
            code = work()
            sys.stdout.flush()
            if code == INTERRUPTED:  # typer has caught it already
                raise KeyboardInterrupt
            return code if isinstance(code, int) else 0
        except typer.Exit as left:
            return left.exit_code
        except TallyError as error:
            return _bad(str(error))
        except _Misused as error:
            return _bad(error.format_message())
        except (KeyboardInterrupt, typer.Abort):
            note("interrupted.")
            return INTERRUPTED
        except SystemExit as left:  # typer exits this way after completion and on a closed pipe
            return _unread() if isinstance(left.__context__, BrokenPipeError) else int(left.code or 0)
        except BrokenPipeError:
            return _unread()
        except MemoryError:
            return _bad(wanted("memory", "enough for this command", "too little"))
        except OSError as error:
            where = str(error.filename) if error.filename else "the output"
            do = "Free some space, or write elsewhere with -o" if error.errno == errno.ENOSPC else ""
            return _bad(wanted(where, "to read and write", error.strerror or str(error), do))


def _unread() -> int:
    """Return the exit code of a closed pipe; discard what is still buffered."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
    return BROKEN_PIPE


def _bad(sentence: str) -> int:
    note(in_options(sentence))
    return BAD_INPUT
