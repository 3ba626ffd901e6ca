"""`tally mail explain`: the tokens of a message that decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from tallybayes.cli.group import example
from tallybayes.cli.mail.options import FilterFile
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import DisplayOptions


@example("tally mail explain mail.tally message.eml", "tally mail explain mail.tally message.eml --top 5 --json")
def explain(
    filter: FilterFile,
    display: DisplayOptions,
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="A message, the first of a mailbox, or - for standard input.")
    ] = "-",
    top: int = option(20, "--top N", "How many tokens to show."),
) -> None:
    """Show the tokens of a message that decided.

    Beside each are the messages of each class that have it.
    """
    from tallybayes.cli.outputs import show
    from tallybayes.errors import BadData, wanted
    from tallybayes.mail.file import load
    from tallybayes.sources.mail import read_messages

    mail = load(filter)
    message = next(read_messages(path), None)
    if message is None:
        raise BadData(wanted(path, "a message", "none"))
    found = mail.explain(message.content)
    show(replace(found, tokens=found.tokens[:top], most=top) if display.json else replace(found, most=top), display)
