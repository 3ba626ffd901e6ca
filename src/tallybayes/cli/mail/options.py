"""The options that the mail commands share, and the messages that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tallybayes.cli.option_groups import option
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.mail.mail_filter import Pair

# Options that take all paths up to the next option.
PATHS = ("--spam", "--ham", "--class")
FilterFile = Annotated[str, typer.Argument(metavar="FILTER", help="A filter that 'tally mail train' saved.")]
_Texts = list[str] | None


@dataclass(frozen=True)
class SortedMail:
    """Mailboxes by class."""

    spam: _Texts = option(None, "--spam PATH", "Mailboxes of spam.")
    ham: _Texts = option(None, "--ham PATH", "Mailboxes of wanted mail.")
    classes: _Texts = option(None, "--class NAME=PATH", "Mailboxes of another class, such as work=Maildir/.Work.")

    def places(self) -> list[tuple[str, str]]:
        """Return the class and path of each mailbox."""
        found = [(name, path) for name in ("spam", "ham") for path in getattr(self, name) or ()]
        for given in self.classes or ():
            name, equals, path = given.partition("=")
            if not (name and equals and path):
                raise BadOption(wanted("--class", "NAME=PATH", repr(given)))
            found.append((name, path))
        return found


def need(places: Sequence[tuple[str, str]], least: int) -> None:
    """Raise unless mailboxes of at least this many classes are named."""
    names = {name for name, _ in places}
    if len(names) < least:
        want = "mailboxes of two classes or more" if least > 1 else "mailboxes"
        got = f"only {names.pop()!r}" if names else "none"
        raise BadOption(wanted("mail", want, got, "Name them: --spam PATH --ham PATH, or --class NAME=PATH"))


def messages_of(places: Sequence[tuple[str, str]], name: str) -> Iterator[Pair]:
    """Yield the messages of mailboxes with their classes; a progress bar has the given name."""
    from tallybayes.display.progress import counting
    from tallybayes.sources.mail import read_messages

    with counting(name, "messages", None) as count:
        done = 0
        for label, path in places:
            before = done
            for message in read_messages(path):
                done += 1
                count(done)
                yield label, message.content
            if done == before:
                raise BadOption(wanted(path, "messages", "none"))
