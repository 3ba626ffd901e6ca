"""`tally mail train`: learn a filter from sorted mail."""

from __future__ import annotations

from tallybayes.cli.exit import note
from tallybayes.cli.group import example, many
from tallybayes.cli.mail.options import PATHS, SortedMail, messages_of, need
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Threads


@many(*PATHS)
@example(
    "tally mail train --spam spam.mbox --ham ham.mbox -o mail.tally",
    "tally mail train --spam spam.mbox --ham ham.mbox -o mail.tally --false-positives 0.001 --force",
    "tally mail train --class spam=spam.mbox --class ham=ham.mbox --class news=news.mbox -o three.tally",
)
def train(
    mail: SortedMail,
    output: str = option("mail.tally", "--output -o FILE", "Where to save the filter."),
    force: bool = option(False, "--force -f", "Overwrite an existing filter."),
    false_positives: float | None = option(
        None, "--false-positives SHARE", "Call at most this share of other mail spam, such as 0.001."
    ),
    max_tokens: int | None = option(
        None, "--max-tokens N", "The most distinct tokens to keep; beyond 2,000,000 the rarest are dropped."
    ),
    threads: Threads = None,
) -> None:
    """Learn a filter from sorted mail and save it.

    A class can have several mailboxes: --spam Junk old-junk.mbox.gz. Probabilities are calibrated by leaving each
    message out.
    """
    from tallybayes.cli.outputs import check_free
    from tallybayes.mail.mail_filter import MAX_TOKENS, MailFilter

    target, places = check_free(output, force=force), mail.places()
    need(places, 2)
    most = MAX_TOKENS if max_tokens is None else max_tokens
    trained = MailFilter.train(
        messages_of(places, "Learning"), false_positives=false_positives, max_tokens=most, threads=threads
    )
    trained.save(target)
    say(trained, target)
    if (
        false_positives
        and (others := sum(n for name, n in trained.totals.items() if name != "spam")) * false_positives < 1
    ):
        note(
            f"{others:,} messages are too few for a share of {false_positives:g}: none of them was called spam when it "
            "was left out."
        )


def say(mail: object, target: str) -> None:
    """Print what a filter has learned, and where it was saved."""
    from tallybayes.mail.mail_filter import FEWEST, MailFilter

    assert isinstance(mail, MailFilter)
    print(repr(mail).strip("<>").removeprefix("tallybayes."))
    print(f"Saved to {target}.")
    if mail.dropped:
        note(f"{mail.dropped:,} tokens were dropped so far, the rarest first, to keep {mail.max_tokens:,}.")
    if not mail.ready:
        note(f"the filter is unsure of everything until it has two classes with {FEWEST} messages each.")
