"""`MailFilter`: the classes of messages by counts of their tokens, learned and forgotten in place."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tallybayes.arguments import is_number, shown, whole_number
from tallybayes.engines.threads import default_threads, in_threads
from tallybayes.errors import BadData, BadOption, CannotMerge, wanted
from tallybayes.events.inputs import Floats
from tallybayes.kernels.mail import GROUPS, VERSION, MailCounts, MailTokens, tokenise
from tallybayes.mail.calibration import ScoreCalibration, fit_calibration, margins, threshold
from tallybayes.mail.evidence import MailEvidence, TokenTable
from tallybayes.mail.explain import MailExplanation, explain
from tallybayes.mail.messages import Pair, batched, check_message
from tallybayes.mail.sample import MessageSample
from tallybayes.mail.verdict import UNSURE, Verdict

__all__ = ["MAX_TOKENS", "SPAM", "MailFilter", "Pair", "check_name"]

MAX_TOKENS = 2_000_000  # about 64 MB with two classes
SPAM = "spam"
FEWEST = 5  # messages of each class before the filter is sure of anything
SURE = 0.9  # the probability from which it is: a wrong answer then costs ten times as much as none
_SLACK = 8  # tokens beyond the bound, as a fraction, before the rarest are dropped: dropping takes a pass over all
_ROOM = 4  # times the bound, while training: what is rare is known at the end
_CLASS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class MailFilter:
    """A filter that tells classes of messages apart, such as spam and ham.

    It counts in how many messages of each class each token is. Counts are exact: the same messages give the same
    filter in any order, `forget` undoes `learn` to the bit, and filters add. Threads may share a filter.

    Parameters
    ----------
    max_tokens : int
        The most distinct tokens to keep. Beyond it the rarest are dropped; `dropped` says how many.

    Examples
    --------
    >>> spam = [b"Subject: offer %d\\n\\nCheap watches, buy now!" % k for k in range(6)]
    >>> ham = [b"Subject: lunch %d\\n\\nShall we meet at noon?" % k for k in range(6)]
    >>> mail = MailFilter.train([("spam", one) for one in spam] + [("ham", one) for one in ham])
    >>> mail
    <tallybayes.MailFilter: 6 ham, 6 spam, 37 tokens>
    >>> mail.classify(b"Subject: offer 9\\n\\nCheap watches!").label
    'spam'
    >>> before = mail.evidence()
    >>> mail.learn([("ham", b"Subject: watches\\n\\nMine is broken.")])
    >>> mail.forget([("ham", b"Subject: watches\\n\\nMine is broken.")])
    >>> mail.evidence() == before
    True
    """

    def __init__(self, *, max_tokens: int = MAX_TOKENS) -> None:
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
            raise BadOption(wanted("max_tokens", "a whole number from 1", repr(max_tokens)))
        self.max_tokens = max_tokens
        self.dropped = 0
        self.version = VERSION
        self.calibration = ScoreCalibration()
        self._counts = MailCounts(0)
        self._names: list[str] = []  # the classes in the order of the table
        self._lock = threading.RLock()

    @classmethod
    def of(
        cls, evidence: MailEvidence, calibration: ScoreCalibration, *, max_tokens: int, dropped: int = 0
    ) -> MailFilter:
        """Return the filter of some evidence."""
        new = cls(max_tokens=max_tokens)
        new.dropped, new.version, new.calibration = dropped, evidence.version, calibration
        messages = evidence.rows.to_float().astype(np.int64)
        new.fill([str(name) for name in evidence.classes.values], messages, evidence.tables())
        return new

    def fill(self, classes: Sequence[str], messages: npt.NDArray[np.int64], tables: Iterable[TokenTable]) -> None:
        """Put the messages of each class and the tokens of each group into a filter."""
        self._names, self._counts = list(classes), MailCounts(len(classes))
        self._counts.load_totals(messages)
        for group, table in enumerate(tables):
            self._counts.load(group, *table)

    @classmethod
    def train(
        cls,
        messages: Iterable[Pair],
        *,
        false_positives: float | None = None,
        max_tokens: int = MAX_TOKENS,
        threads: int | None = None,
    ) -> MailFilter:
        """Return a filter that has learned messages, calibrated by leaving each of them out.

        Parameters
        ----------
        messages : iterable of (str, bytes)
            The class and the bytes of each message.
        false_positives : float, optional
            Call at most this share of the other messages spam: the threshold is the quantile of their scores, each
            computed without the message.
        max_tokens : int
            The most distinct tokens to keep.
        threads : int, optional
            By default one per core.
        """
        _check_share(false_positives)
        max_tokens = whole_number("max_tokens", max_tokens, 1)
        new, sample = cls(max_tokens=max_tokens), MessageSample()
        for tokens, codes in new._batches(messages, threads):
            new._add(tokens, codes, room=_ROOM)
            sample.add(tokens, codes)
        new._drop_rarest(room=0)
        new._calibrate(sample, false_positives, threads)
        return new

    def learn(self, messages: Iterable[Pair], *, threads: int | None = None) -> None:
        """Learn messages, each with its class; if reading them fails, those read before stay learned."""
        self._check_version("learn")
        for tokens, codes in self._batches(messages, threads):
            self._add(tokens, codes, room=1 / _SLACK)

    def forget(self, messages: Iterable[Pair], *, threads: int | None = None) -> None:
        """Forget messages that were learned; raise, and change nothing, if one of them was not.

        Once tokens were dropped, nothing tells a message that was not learned from one whose tokens are gone: then
        only what is there is subtracted, and only more messages than a class has are refused.
        """
        self._check_version("forget")
        done: list[tuple[MailTokens, npt.NDArray[np.int32]]] = []
        with self._lock:
            try:
                for tokens, codes in self._batches(messages, threads, known=True):
                    self._subtract(tokens, codes)
                    done.append((tokens, codes))
            except BaseException:
                for tokens, codes in done:
                    self._add(tokens, codes, room=_ROOM)
                raise

    def learn_tokens(self, name: str, tokens: MailTokens) -> None:
        """Learn messages of one class, given by their tokens."""
        self._check_version("learn")
        self._check_class(name, known=False)
        self._add(tokens, self._codes([name] * len(tokens)), room=1 / _SLACK)

    def forget_tokens(self, name: str, tokens: MailTokens) -> None:
        """Forget messages of one class, given by their tokens; raise as `forget` does."""
        self._check_version("forget")
        self._check_class(name, known=True)
        with self._lock:
            self._subtract(tokens, self._codes([name] * len(tokens)))

    def calibrate(
        self, messages: Iterable[Pair], *, false_positives: float | None = None, threads: int | None = None
    ) -> None:
        """Calibrate again, by leaving out each of these messages; all must have been learned."""
        self._check_version("calibrate")
        _check_share(false_positives)
        sample, some = MessageSample(), False
        for tokens, codes in self._batches(messages, threads, known=True):
            sample.add(tokens, codes)
            some = True
        if not some:
            raise BadData(wanted("calibrate", "messages that were learned", "none"))
        self._calibrate(sample, false_positives, threads)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that have messages, sorted."""
        return tuple(self.totals)

    @property
    def totals(self) -> dict[str, int]:
        """The number of messages of each class."""
        return _sorted(self._names, self._counts.totals())

    @property
    def n_tokens(self) -> int:
        """The number of distinct tokens."""
        return sum(self._counts.size(group) for group in range(len(GROUPS)))

    @property
    def ready(self) -> bool:
        """Whether there are at least two classes, with enough messages each."""
        return _ready(self.totals)

    def classify(self, message: bytes) -> Verdict:
        """Return the class of a message, and how probable each class is."""
        check_message(message)
        return self._verdicts(tokenise([message]))[0]

    def classify_all(self, messages: Iterable[bytes], *, threads: int | None = None) -> Iterator[Verdict]:
        """Yield the verdict on each message, in order."""

        def work(batch: list[bytes]) -> list[Verdict]:
            return self._verdicts(tokenise(batch))

        batches = ((batch,) for batch in batched(messages, alone=True))
        for verdicts in in_threads(batches, work, default_threads(threads)):
            yield from verdicts

    def explain(self, message: bytes) -> MailExplanation:
        """Return the tokens of a message that decided, with their counts."""
        check_message(message)
        with self._lock:
            totals = dict(zip(self._names, self._counts.totals().tolist(), strict=True))
            return explain(message, self.classify(message), self._counts, totals, _focus(self.classes))

    def evidence(self) -> MailEvidence:
        """Return the counts as a value."""
        with self._lock:
            return MailEvidence.of(self._counts, self._names, self.version)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the filter to a file, atomically; equal filters are equal bytes."""
        from tallybayes.mail import file

        file.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> MailFilter:
        """Read a filter that `save` wrote."""
        from tallybayes.mail import file

        return file.load(path)

    def __add__(self, other: MailFilter) -> MailFilter:
        """Return the filter of the messages of both, with the calibration that more messages made."""
        if not isinstance(other, MailFilter):
            return NotImplemented
        calibration = max(self.calibration, other.calibration, key=ScoreCalibration.rank)
        most, dropped = max(self.max_tokens, other.max_tokens), self.dropped + other.dropped
        new = MailFilter.of(self.evidence() + other.evidence(), calibration, max_tokens=most, dropped=dropped)
        new._drop_rarest(room=0)
        return new

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MailFilter):
            return NotImplemented
        same = (self.max_tokens, self.dropped, self.calibration) == (other.max_tokens, other.dropped, other.calibration)
        return same and self.evidence() == other.evidence()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = ", ".join(f"{n:,} {name}" for name, n in self.totals.items()) or "no messages"
        return f"<tallybayes.MailFilter: {counts}, {self.n_tokens:,} tokens>"

    def _scores(
        self, tokens: MailTokens, own: npt.NDArray[np.int32] | None = None
    ) -> tuple[Floats, dict[str, int]]:  # (n, C)
        """Return the scores of messages for the classes, sorted, and the messages of each class at that moment."""
        flat, messages = self._counts.score(tokens, own)
        totals = _sorted(self._names, messages)
        places = [self._names.index(name) for name in totals]
        return flat.reshape(len(tokens), len(messages))[:, places], totals

    def _verdicts(self, tokens: MailTokens) -> list[Verdict]:
        scores, totals = self._scores(tokens)
        classes, ready, limit = tuple(totals), _ready(totals), self.calibration.threshold
        if not classes:
            return [Verdict("", {}, sure=False, margin=0.0) for _ in scores]
        log_odds, focus = self.calibration.log_odds(scores, classes), classes.index(_focus(classes))
        margin = margins(log_odds, focus) if len(classes) > 1 else np.zeros(len(log_odds))
        p = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        order = np.argsort(-p, axis=1, kind="stable")
        out = []
        for row, odds, ranks in zip(p.tolist(), margin.tolist(), order.tolist(), strict=True):
            strict = limit is not None and ranks[0] == focus
            sure = ready and (odds > limit if strict else row[ranks[0]] >= SURE)
            out.append(Verdict(classes[ranks[0]], {classes[c]: row[c] for c in ranks}, sure, odds))
        return out

    def _batches(
        self, messages: Iterable[Pair], threads: int | None, *, known: bool = False
    ) -> Iterator[tuple[MailTokens, npt.NDArray[np.int32]]]:
        """Yield the tokens of messages, batch by batch, with the classes' places in the table."""

        def pieces() -> Iterator[tuple[list[Pair]]]:
            for pairs in batched(messages):
                for name in {name for name, _ in pairs}:
                    self._check_class(name, known=known)
                yield (pairs,)

        def work(pairs: list[Pair]) -> tuple[MailTokens, list[str]]:
            return tokenise([message for _, message in pairs]), [name for name, _ in pairs]

        for tokens, names in in_threads(pieces(), work, default_threads(threads)):
            yield tokens, self._codes(names)

    def _codes(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the places of classes in the table; classes that it does not have are added."""
        with self._lock:
            for name in dict.fromkeys(names):
                if name not in self._names:
                    self._names.append(name)
                    self._counts.extend(len(self._names))
            places = {name: c for c, name in enumerate(self._names)}
        return np.array([places[name] for name in names], np.int32)

    def _check_class(self, name: object, *, known: bool) -> None:
        check_name(name)
        if known and name not in self.classes:
            has = ", ".join(self.classes) or "none"
            raise BadData(wanted("class", f"one that the filter has ({has})", repr(name)))

    def _check_version(self, what: str) -> None:
        if self.version != VERSION:
            do = "Train the filter again: tally mail train"
            raise BadData(wanted(f"cannot {what}", f"a filter with tokens {VERSION}", self.version, do))

    def _add(self, tokens: MailTokens, codes: npt.NDArray[np.int32], *, room: float) -> None:
        with self._lock:
            self._counts.add(tokens, codes)
            self._drop_rarest(room=room)

    def _subtract(self, tokens: MailTokens, codes: npt.NDArray[np.int32]) -> None:
        first = self._counts.subtract(tokens, codes, not self.dropped)
        if first >= 0:
            got = f"one that was not learned as {self._names[codes[first]]!r}"
            raise CannotMerge(wanted("cannot forget", "a message that was learned", got))

    def _drop_rarest(self, *, room: float) -> None:
        """Drop the rarest tokens, those with the larger hash first, if there are too many."""
        if self.n_tokens > self.max_tokens * (1 + room):
            self.dropped += self._counts.keep_most_frequent(self.max_tokens)

    def _calibrate(self, sample: MessageSample, false_positives: float | None, threads: int | None) -> None:
        found, classes = sample.take(), self.classes
        if len(classes) < 2:
            return
        place = np.array([classes.index(name) if name in classes else -1 for name in self._names], np.int32)
        own = place[found.classes]
        ends = np.cumsum([len(batch) for batch in found.batches])
        pieces = zip(found.batches, np.split(found.classes, ends[:-1]), strict=True)
        scores = np.concatenate(list(in_threads(pieces, lambda *one: self._scores(*one)[0], default_threads(threads))))
        calibration = fit_calibration(scores, own, classes, found.weights)
        if false_positives is not None:
            if SPAM not in classes:
                do = "Name one of the classes 'spam'"
                raise BadOption(wanted("false_positives", f"a class {SPAM!r}", ", ".join(classes), do))
            spam = classes.index(SPAM)
            margin, others = margins(calibration.log_odds(scores, classes), spam), own != spam
            calibration = calibration.strict(
                threshold(margin[others], found.weights[others], false_positives), false_positives
            )
        self.calibration = calibration


def check_name(name: object) -> None:
    """Raise unless a class may have this name."""
    if not isinstance(name, str) or not _CLASS.fullmatch(name) or name == UNSURE:
        want = f"up to 40 letters, digits, '.', '_' and '-', and not {UNSURE!r}"
        raise BadOption(wanted("class", want, repr(name)))


def _sorted(names: Sequence[str], messages: npt.NDArray[np.int64]) -> dict[str, int]:
    """Return the messages of each class that has any, sorted by name; names beyond the table are newer than it."""
    return {name: n for name, n in sorted(zip(names, messages.tolist(), strict=False)) if n}


def _ready(totals: dict[str, int]) -> bool:
    return len(totals) > 1 and min(totals.values()) >= FEWEST


def _focus(classes: Sequence[str]) -> str:
    """Return the class whose margin counts: spam, or the last one."""
    return SPAM if SPAM in classes or not classes else classes[-1]


def _check_share(false_positives: float | None) -> None:
    if false_positives is not None and not (is_number(false_positives) and 0 <= false_positives < 1):
        raise BadOption(wanted("false_positives", "a share from 0 to 1", shown(false_positives)))
