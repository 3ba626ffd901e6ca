"""What to expect of a filter: trained on the older messages, tested on the newer ones."""

from __future__ import annotations

import datetime
import email.utils
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallybayes.display.tables import Grid, Result, Sheet
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.evaluation.auc import area
from tallybayes.mail.mail_filter import SPAM, MailFilter, Pair
from tallybayes.mail.verdict import UNSURE

__all__ = ["MailCheck", "check", "one_minus_auc", "received"]

_DATED = re.compile(rb"^(received|date):((?:[^\n]*\n)(?:[ \t][^\n]*\n)*)", re.IGNORECASE | re.MULTILINE)
_HEADER_BYTES = 1 << 16
NEWEST = 1 / 3


def received(message: bytes) -> float:
    """Return when a message was received, as seconds since 1970; 0 if nothing says so.

    That is the first date of its Received fields that can be read: the receiving machine wrote it. The sender's Date
    is used where there is none.

    Examples
    --------
    >>> received(b"Received: from a by b; Thu, 22 Aug 2002 12:36:23 +0000\\nDate: no\\n\\n")
    1030019783.0
    """
    end = re.search(rb"\n\r?\n", message[:_HEADER_BYTES])
    head = message[: end.end() if end else _HEADER_BYTES] + b"\n"
    found = {b"received": 0.0, b"date": 0.0}
    for name, value in _DATED.findall(head):
        key = name.lower()
        found[key] = found[key] or _seconds(value.rpartition(b";")[2])
    return found[b"received"] or found[b"date"]


def _seconds(date: bytes) -> float:
    try:
        return max(email.utils.parsedate_to_datetime(date.decode("ascii", "replace").strip()).timestamp(), 0.0)
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0


def one_minus_auc(margins: Sequence[float], spam: Sequence[bool]) -> float | None:
    """Return how often another message ranks above spam, a tie counting half; None without both.

    Examples
    --------
    >>> one_minus_auc([3.0, 1.0, 2.0, -1.0], [True, True, False, False])
    0.25
    """
    if all(spam) or not any(spam):
        return None
    _, place = np.unique(-np.array(margins), return_inverse=True)
    positives, negatives = (np.bincount(place, np.equal(spam, side)).astype(np.float64) for side in (True, False))
    return 1 - area(positives, negatives).auc


@dataclass(frozen=True, repr=False)
class MailCheck(Result):
    """The figures of a filter on messages newer than those it learned."""

    trained: dict[str, int]  # messages of each class
    tested: dict[str, int]
    since: str | None  # the day of the first message of the test; None if messages have no dates
    confusion: dict[str, dict[str, int]]  # by class, how many messages were called what
    log_loss: float  # the mean of −ln p, p the probability of a message's class
    one_minus_auc: float | None  # the chance that ham ranks above spam; None without spam
    undated: int  # messages without a date, which are taken as the oldest

    def shown(self) -> Sheet:
        """Return the figures as a table."""
        names = [*self.trained, UNSURE]
        rows = tuple(
            (name, f"{n:,}", *(f"{self.confusion[name].get(one, 0):,}" for one in names))
            for name, n in self.tested.items()
        )
        grid = Grid("", ("class", "messages", *(f"called {name}" for name in names)), rows)
        trained = ", ".join(f"{n:,} {name}" for name, n in self.trained.items())
        when = f" before {self.since}" if self.since else ""
        notes = [f"Trained on {trained}{when}, tested on the messages after.", f"Log-loss {self.log_loss:.4f}."]
        if self.one_minus_auc is not None:
            notes.append(f"1 − AUC {100 * self.one_minus_auc:.3f} %: how often ham ranks above spam.")
        if self.undated:
            notes.append(f"{self.undated:,} messages have no date and count as the oldest.")
        return Sheet("What to expect", (grid,), tuple(notes))


def check(
    messages: Sequence[Pair],
    *,
    newest: float = NEWEST,
    false_positives: float | None = None,
    threads: int | None = None,
) -> MailCheck:
    """Train a filter on the older messages, and test it on the newest.

    Parameters
    ----------
    messages : sequence of (str, bytes)
        The class and the bytes of each message, in any order.
    newest : float
        The share of messages to test on.
    false_positives : float, optional
        As in `MailFilter.train`.
    threads : int, optional
        By default one per core.
    """
    if not 0 < newest < 1:
        raise BadOption(wanted("newest", "a share between 0 and 1", repr(newest)))
    dates = [received(message) for _, message in messages]
    order = sorted(range(len(messages)), key=lambda k: (dates[k], messages[k]))
    split = round(len(order) * (1 - newest))
    old, new = ([messages[k] for k in part] for part in (order[:split], order[split:]))
    mail = MailFilter.train(old, false_positives=false_positives, threads=threads)
    if len(mail.classes) < 2 or not new:
        got = f"{len(old)} older messages of {len(mail.classes)} classes, and {len(new)} newer"
        raise BadData(wanted("check", "messages of two classes before those to test on", got))
    verdicts = list(mail.classify_all((message for _, message in new), threads=threads))
    names = sorted({name for name, _ in new})
    confusion: dict[str, dict[str, int]] = {name: {} for name in names}
    loss = 0.0
    for (name, _), verdict in zip(new, verdicts, strict=True):
        confusion[name][verdict.label] = confusion[name].get(verdict.label, 0) + 1
        loss -= np.log(max(verdict.probabilities.get(name, 0.0), 1e-15))
    ranked = one_minus_auc([one.margin for one in verdicts], [name == SPAM for name, _ in new])
    since = datetime.datetime.fromtimestamp(dates[order[split]], datetime.UTC).date().isoformat()
    return MailCheck(
        mail.totals,
        {name: sum(confusion[name].values()) for name in names},
        since if dates[order[split]] else None,
        confusion,
        float(loss / len(new)),
        ranked,
        sum(not date for date in dates),
    )
