"""Kill a mail daemon in the middle of learning, again and again: ``python -m tests.mail.kill --times 200``.

Each time, several clients learn, forget and move messages until the daemon is killed with SIGKILL at a random moment.
Then they send again what was not acknowledged, as mail servers do. What must hold after each kill, by the journal
alone: nothing acknowledged is lost, nothing is counted twice, and the filter is, to the bit, the one that learned
exactly the messages that remain.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path

from tallybayes.mail.file import dump
from tallybayes.mail.journaled_filter import JournaledFilter
from tallybayes.mail.mail_filter import Pair
from tallybayes.storage.journal.sqlite import SqliteJournal

from .served import ask, message, start, trained

CLIENTS = 4
CLASSES = ("spam", "ham", "news")


@dataclass
class Client:
    """Messages of its own, what it knows of them, and what it was not told."""

    number: int
    draw: random.Random
    classes: dict[int, str | None] = field(default_factory=dict)  # acknowledged; None is forgotten
    unknown: tuple[int, str, str | None] | None = None  # a message, a request, and its class if it was made
    acknowledged: int = 0

    def content(self, one: int) -> bytes:
        """Return a message."""
        return message("spam", one * CLIENTS + self.number, identified=one % 3 > 0)

    def pair(self, one: int, name: str) -> Pair:
        """Return a message with a class."""
        return name, self.content(one)

    def work(self, address: Path) -> None:
        """Send requests until the daemon is gone."""
        while True:
            if self.unknown is None:
                self.unknown = self._next()
            one, request, after = self.unknown
            try:
                status, text = ask(address, request, self.content(one))
            except (OSError, ValueError):
                return
            assert status == 0, text
            self.classes[one], self.unknown = after, None
            self.acknowledged += 1

    def _next(self) -> tuple[int, str, str | None]:
        known = [one for one, name in self.classes.items() if name is not None]
        if not known or self.draw.random() < 0.6:
            one, name = len(self.classes), self.draw.choice(CLASSES)
            return one, f"learn {name}", name
        one = self.draw.choice(known)
        now = self.classes[one]
        other = self.draw.choice([name for name in CLASSES if name != now])
        requests = [(f"forget {now}", None), (f"move {now} {other}", other), (f"learn {now}", now)]
        return one, *self.draw.choice(requests)


def kill(times: int, *, every: int = 50, seed: int = 1) -> int:
    """Kill a daemon so many times, and check the journal after each; return how many changes were acknowledged."""
    draw = random.Random(seed)
    clients = [Client(number, random.Random(f"{seed} {number}")) for number in range(CLIENTS)]
    with tempfile.TemporaryDirectory(prefix="mail") as name:
        folder = Path(name)
        trained().save(folder / "mail.tally")
        for _ in range(times):
            daemon = start(folder / "mail.tally", folder / "s", "--snapshot-every", str(every))
            threads = [threading.Thread(target=client.work, args=(folder / "s",)) for client in clients]
            for thread in threads:
                thread.start()
            time.sleep(draw.uniform(0.01, 0.4))
            daemon.kill()
            for thread in threads:
                thread.join()
            daemon.communicate()
            check(folder, clients)
    return sum(client.acknowledged for client in clients)


def check(folder: Path, clients: list[Client]) -> None:
    """Assert that the journal has all that was acknowledged, and of what was not, each once or not at all."""
    with closing(SqliteJournal(folder / "mail.journal" / "journal.sqlite", "mail")) as journal:
        got = dump(JournaledFilter(folder / "mail.tally", journal, folder / "mail.journal").mail)
        with tempfile.TemporaryDirectory() as none:
            replayed = dump(JournaledFilter(folder / "mail.tally", journal, Path(none)).mail)
    assert got == replayed, "a snapshot with the changes after it differs from the whole journal"
    certain: list[Pair] = []
    uncertain: list[tuple[list[Pair], list[Pair]]] = []  # before and after each request without an answer
    for client in clients:
        asked = None if client.unknown is None else client.unknown[0]
        certain += [client.pair(one, name) for one, name in client.classes.items() if name is not None and one != asked]
        if client.unknown is not None:
            one, _, after = client.unknown
            states = client.classes.get(one), after
            before, then = ([client.pair(one, name)] if name is not None else [] for name in states)
            uncertain.append((before, then))
    possible = []
    for states in product(*uncertain):
        mail = trained()
        mail.learn(chain(certain, *states))
        possible.append(dump(mail))
    assert got in possible, "the filter is not that of the messages that were learned"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    changes = kill(given.times, seed=given.seed)
    print(f"killed {given.times} times; {changes:,} changes were acknowledged, and all are there, once")
