"""`tally mail filter`: a message in, the same message out with X-Tally."""

from __future__ import annotations

import sys

import typer

from tallybayes.cli.exit import note
from tallybayes.cli.group import example
from tallybayes.cli.mail.options import FilterFile

FAILED = 3


@example("tally mail filter mail.tally < message.eml")
def filter(filter: FilterFile) -> None:
    """Copy a message from standard input to standard output, with the header field X-Tally added.

    The field has the class and the probability of each class; one that is there already is replaced. Nothing else
    changes. If anything fails, the message is copied unchanged and the exit code is 3.
    """
    message = sys.stdin.buffer.read()
    try:
        from tallybayes.mail.file import load
        from tallybayes.mail.header import with_header

        out, code = with_header(message, load(filter).classify(message)), 0
    except Exception as error:  # whatever it is, no mail may be lost
        note(str(error) or type(error).__name__)
        out, code = message, FAILED
    sys.stdout.buffer.write(out)
    sys.stdout.buffer.flush()
    raise typer.Exit(code)
