"""`tally mail serve`: a filter in memory, for mail servers."""

from __future__ import annotations

from pathlib import Path

from tallybayes.cli.group import example
from tallybayes.cli.mail.options import FilterFile
from tallybayes.cli.option_groups import option
from tallybayes.errors import BadOption, wanted


@example("tally mail serve mail.tally --socket mail.sock")
def serve(
    filter: FilterFile,
    socket: str | None = option(
        None, "--socket PATH", "Where to listen; by default $TALLY_MAIL_SOCKET, or tally-mail.sock in $XDG_RUNTIME_DIR."
    ),
    snapshot_every: int = option(1000, "--snapshot-every N", "Records between two snapshots of the filter."),
) -> None:
    """Serve a filter at a Unix socket, to the client tally-mail.

    Only the user who runs it may connect. What it learns is in a journal beside the filter before it is acknowledged,
    and is there after a crash. SIGTERM ends it. See docs/mail-server.md for Dovecot, procmail, maildrop and Postfix.
    """
    from tallybayes.mail.daemon import serve as run
    from tallybayes.mail.listen import default_address

    if snapshot_every < 1:
        raise BadOption(wanted("--snapshot-every", "a whole number from 1", str(snapshot_every)))
    run(Path(filter), default_address() if socket is None else Path(socket), every=snapshot_every)
