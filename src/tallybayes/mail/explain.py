"""Why a message has its class: the tokens that decided, with their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tallybayes.display.tables import Grid, Result, Sheet
from tallybayes.kernels.mail import GROUPS, MailCounts, read
from tallybayes.mail.verdict import Verdict

__all__ = ["DecidingToken", "MailExplanation", "explain"]

# As cpp/mail/score.hpp has them.
_COUNT, _TOTAL, _LEAST, _DIVISOR = 0.01, 0.02, 2.5, 5.0


@dataclass(frozen=True)
class DecidingToken:
    """A token that decided, with its counts.

    Attributes
    ----------
    group : {"header", "body"}
        Where it is.
    token : str
        The token; bytes that are not UTF-8 are replaced.
    counts : dict of str to int
        The messages of each class that have it.
    weight : float
        Its log-odds, for the class asked for against the rest.
    part : float
        What it adds to the score: its weight over the number of deciding tokens of its group, plus 5.
    """

    group: str
    token: str
    counts: dict[str, int]
    weight: float
    part: float


@dataclass(frozen=True, repr=False)
class MailExplanation(Result):
    """The tokens of a message that decided, the most telling first."""

    verdict: Verdict
    towards: str  # the class that positive weights speak for
    score: float  # the sum of all parts
    messages: dict[str, int]  # in each class
    tokens: tuple[DecidingToken, ...]
    n_tokens: int  # in the message
    n_known: int  # of these, seen before
    skipped: int  # bytes of the message beyond a bound
    attached: int  # bytes of attachments, which have no words
    most: int = 20  # how many tokens to print

    def shown(self) -> Sheet:
        """Return the tokens as a table."""
        classes = list(self.messages)
        rows = tuple(
            (one.token, one.group, *(f"{one.counts[name]:,}" for name in classes), f"{one.part:+.3f}")
            for one in self.tokens[: self.most]
        )
        grid = Grid("", ("token", "in", *classes, f"towards {self.towards}"), rows)
        return Sheet(self.verdict.line, (grid,), tuple(self._notes()))

    def _notes(self) -> list[str]:
        listed = ", ".join(f"{n:,} {name}" for name, n in self.messages.items())
        notes = [
            f"Score {self.score:+.3f}: {len(self.tokens):,} of {self.n_tokens:,} tokens decided, {self.n_known:,} were "
            f"seen before. Counts are messages with the token, among {listed or 'none'}."
        ]
        if self.attached:
            notes.append(f"Attachments of {self.attached:,} bytes were not read.")
        if self.skipped:
            notes.append(f"{self.skipped:,} bytes beyond the bounds of a message were not read.")
        return notes


def explain(
    message: bytes, verdict: Verdict, counts: MailCounts, totals: Mapping[str, int], towards: str
) -> MailExplanation:
    """Return the tokens that decided, under the counts of a table whose classes `totals` lists in order."""
    found, listed = read(message), list(totals)
    messages = {name: totals[name] for name in sorted(totals) if totals[name]}
    tokens: list[DecidingToken] = []
    n_known, all_messages = 0, sum(totals.values())
    own = totals.get(towards, 0)
    for group, (texts, hashes) in enumerate(zip(found.texts, found.hashes, strict=True)):
        table = counts.find(group, hashes).reshape(len(hashes), len(listed))
        n_known += int((table.sum(axis=1) > 0).sum())
        if not own or own == all_messages:
            continue
        mine = table[:, listed.index(towards)]
        rest = table.sum(axis=1) - mine
        weights = np.log((mine + _COUNT) / (own + _TOTAL)) - np.log((rest + _COUNT) / (all_messages - own + _TOTAL))
        told = np.flatnonzero((mine + rest > 0) & (np.abs(weights) >= _LEAST))
        for k in told:
            numbers = {name: int(table[k, listed.index(name)]) for name in messages}
            part = float(weights[k] / (len(told) + _DIVISOR))
            tokens.append(
                DecidingToken(GROUPS[group], texts[k].decode("utf-8", "replace"), numbers, float(weights[k]), part)
            )
    tokens.sort(key=lambda one: (-abs(one.part), one.group, one.token))
    score = sum(one.part for one in tokens)
    n_tokens = sum(map(len, found.hashes))
    return MailExplanation(
        verdict, towards, score, messages, tuple(tokens), n_tokens, n_known, found.skipped, found.attached
    )
