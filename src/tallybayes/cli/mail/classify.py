"""`tally mail classify`: the class of messages."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import tee
from typing import TYPE_CHECKING, Annotated

import typer

from tallybayes.cli.exit import note
from tallybayes.cli.group import example
from tallybayes.cli.mail.options import FilterFile
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Threads
from tallybayes.errors import TallyError

if TYPE_CHECKING:
    from tallybayes.mail.verdict import Verdict
    from tallybayes.sources.mail import StoredMessage

ERROR = 3  # as bogofilter's; Verdict has the others
Mailboxes = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", help="Mailboxes or messages; - or none for a message on standard input."),
]


@example("tally mail classify mail.tally spam.mbox ham.mbox", "tally mail classify mail.tally spam.mbox --json")
def classify(
    filter: FilterFile,
    paths: Mailboxes = None,
    json: bool = option(False, "--json", "Print one JSON object per line."),
    threads: Threads = None,
) -> None:
    """Say which class messages have.

    For one message the exit code is bogofilter's: 0 spam, 1 ham (any other class), 2 unsure, 3 error. For several it is
    0, or 3 after an error.
    """
    code = exit_code(lambda: _classify(filter, paths or ["-"], threads, as_json=json))
    raise typer.Exit(code)


def exit_code(work: Callable[[], int]) -> int:
    """Return what a command returns, or print an error and return 3."""
    try:
        return work()
    except TallyError as error:
        note(str(error))
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        note(f"{error.filename or 'mail'}: {error.strerror or error}.")
    except MemoryError:
        note("memory: wanted enough for this command, got too little.")
    return ERROR


def _classify(filter: str, paths: list[str], threads: int | None, *, as_json: bool) -> int:
    from tallybayes.mail.file import load
    from tallybayes.sources.mail import read_messages

    mail = load(filter)

    def messages() -> Iterator[StoredMessage]:
        for path in paths:
            yield from read_messages(path)

    first, second = tee(messages())
    verdicts = mail.classify_all((one.content for one in first), threads=threads)
    last, n = None, 0
    for message, verdict in zip((one.path for one in second), verdicts, strict=True):
        sys.stdout.write(_line(message, verdict, as_json=as_json))
        last, n = verdict, n + 1
    return last.exit_code if last is not None and n == 1 else 0


def _line(path: str, verdict: Verdict, *, as_json: bool) -> str:
    from tallybayes.display.tables import visible
    from tallybayes.mail.verdict import rounded

    if as_json:
        return json.dumps({"path": path, "class": verdict.label, "probabilities": verdict.probabilities}) + "\n"
    probabilities = "  ".join(f"{name} {rounded(p)}" for name, p in verdict.probabilities.items())
    return f"{verdict.label:<8} {probabilities}  {visible(path)}\n"
