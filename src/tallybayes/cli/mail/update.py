"""`tally mail learn`, `forget` and `merge`: change filters exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Annotated

import typer

from tallybayes.cli.group import example, many
from tallybayes.cli.mail.options import PATHS, FilterFile, SortedMail, messages_of, need
from tallybayes.cli.mail.train import say
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Threads
from tallybayes.errors import BadOption, wanted


@dataclass(frozen=True)
class Change:
    """Where a changed filter is saved."""

    output: str | None = option(None, "--output -o FILE", "Where to save the filter; by default FILTER itself.")
    force: bool = option(False, "--force -f", "Overwrite another existing filter.")
    threads: Threads = None


@many(*PATHS)
@example("tally mail learn mail.tally --spam message.eml", "tally mail learn mail.tally --ham - < message.eml")
def learn(filter: FilterFile, mail: SortedMail, change: Change) -> None:
    """Add messages to a filter, exactly.

    The filter is the same, to the last bit, as if all messages had been learned at once.
    """
    _change("learn", filter, mail, change)


@many(*PATHS)
@example("tally mail forget mail.tally --spam message.eml")
def forget(filter: FilterFile, mail: SortedMail, change: Change) -> None:
    """Remove messages from a filter, exactly.

    The filter is the same, to the last bit, as if it had never learned them. Fails, and changes nothing, for messages
    that were not learned.
    """
    _change("forget", filter, mail, change)


@example("tally mail merge mail.tally other.tally -o both.tally")
def merge(
    filters: Annotated[list[str], typer.Argument(metavar="FILTER", help="Two filters or more.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to save the merged filter.")],
    force: bool = option(False, "--force -f", "Overwrite an existing filter."),
) -> None:
    """Merge filters.

    The counts are the same, to the last bit, as those of one filter that learned all messages.
    """
    from tallybayes.cli.outputs import check_free
    from tallybayes.mail.file import load

    if len(filters) < 2:
        raise BadOption(wanted("merge", "two filters or more", "1"))
    target = check_free(output, force=force)
    merged = reduce(add, map(load, filters))
    merged.save(target)
    say(merged, target)


def _change(how: str, path: str, mail: SortedMail, change: Change) -> None:
    from tallybayes.cli.outputs import check_free
    from tallybayes.mail.file import load

    places = mail.places()
    need(places, 1)
    target = path if change.output in (None, path) else check_free(str(change.output), force=change.force)
    loaded = load(path)
    word = "Learning" if how == "learn" else "Forgetting"
    getattr(loaded, how)(messages_of(places, word), threads=change.threads)
    loaded.save(target)
    say(loaded, target)
