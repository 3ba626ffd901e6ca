"""`tally mail check`: what to expect of a filter."""

from __future__ import annotations

from typing import Annotated

import typer

from tallybayes.cli.group import example, many
from tallybayes.cli.mail.options import PATHS, SortedMail, messages_of, need
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import DisplayOptions, Threads


@many(*PATHS)
@example("tally mail check --spam spam.mbox --ham ham.mbox", "tally mail check sorted --newest 0.5")
def check(
    mail: SortedMail,
    display: DisplayOptions,
    path: Annotated[
        str | None, typer.Argument(metavar="[PATH]", help="A folder with a folder of mail for each class.")
    ] = None,
    newest: float | None = option(None, "--newest SHARE", "The share of messages to test on, the newest; default 1/3."),
    false_positives: float | None = option(
        None, "--false-positives SHARE", "Call at most this share of other mail spam, such as 0.001."
    ),
    threads: Threads = None,
) -> None:
    """Train a filter on older mail and test it on newer mail.

    Nothing is saved.
    """
    from tallybayes.cli.outputs import show
    from tallybayes.mail.check import NEWEST
    from tallybayes.mail.check import check as check_mail
    from tallybayes.sources.mail import class_folders

    places = mail.places() + ([] if path is None else class_folders(path))
    need(places, 2)
    found = check_mail(
        list(messages_of(places, "Reading")),
        newest=NEWEST if newest is None else newest,
        false_positives=false_positives,
        threads=threads,
    )
    show(found, display)
