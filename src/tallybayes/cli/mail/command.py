"""`tally mail`: the group of its commands."""

from __future__ import annotations

from tallybayes.cli.group import example, subcommands

COMMANDS = {
    "train": ("mail.train", "Learn a filter from sorted mail and save it."),
    "classify": ("mail.classify", "Say which class messages have."),
    "filter": ("mail.filter", "Copy a message, with the header field X-Tally added."),
    "explain": ("mail.explain", "Show the tokens of a message that decided."),
    "learn": ("mail.update", "Add messages to a filter, exactly."),
    "forget": ("mail.update", "Remove messages from a filter, exactly."),
    "merge": ("mail.update", "Merge filters."),
    "serve": ("mail.serve", "Serve a filter at a Unix socket, for mail servers."),
    "check": ("mail.check", "Train on older mail, test on newer: what to expect."),
}


@subcommands(COMMANDS)
@example(
    "tally mail train --spam spam.mbox --ham ham.mbox -o mail.tally",
    "tally mail filter mail.tally < message.eml",
)
def mail() -> None:
    """Filter mail: spam and ham, or any other classes.

    A mailbox is an mbox (also .gz), a Maildir, an MH folder, a folder of messages, or one message. 'tally mail COMMAND
    --help' shows the options and examples of a command.
    """
