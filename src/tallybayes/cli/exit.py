"""How a command ends: what went wrong is one line on standard error and an exit code, never a stack trace."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer

from tallybayes.errors import TallyError, wanted

__all__ = ["ended", "note"]

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
# The base of what typer raises when the command line itself is wrong; which library has it depends on typer's version.
_Misused: Any = typer.BadParameter.__mro__[2]


def note(sentence: str) -> None:
    """Say something beside the answer, on standard error."""
    print(f"tally: {sentence}", file=sys.stderr)


def ended(work: Callable[[], Any]) -> int:
    """Do the work; the exit code is returned.

    Examples
    --------
    >>> ended(lambda: print("done"))
    done
    0
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: note(f"warning: {_one_line(str(message))}")
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
        except SystemExit as left:  # typer's own ways out: completion, and a pipe that nobody reads
            return _unread() if isinstance(left.__context__, BrokenPipeError) else int(left.code or 0)
        except BrokenPipeError:
            return _unread()
        except MemoryError:
            return _bad(wanted("memory", "enough for the work", "too little"))
        except OSError as error:
            where = str(error.filename) if error.filename else "the output"
            do = "Make room, or write elsewhere with -o" if error.errno == errno.ENOSPC else ""
            return _bad(wanted(where, "to read and write", error.strerror or str(error), do))


def _unread() -> int:
    """Whoever read the output has seen enough; what is still buffered has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
    return BROKEN_PIPE


def _bad(sentence: str) -> int:
    note(_one_line(sentence))
    return BAD_INPUT


def _one_line(text: str) -> str:
    return " ".join(text.split())
