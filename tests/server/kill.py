"""Kill a server at random moments while clients teach it, and see that it lost and doubled nothing.

``python -m tests.server.kill --times 300`` runs the long version.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx

import tallybayes as tb
from tallybayes.evidence.serialize import evidence_hash

from .conftest import weather, weather_rows
from .process import Server, wait_until

CLIENTS = 8
_VALUES = {
    "outlook": ["sunny", "rainy", "overcast", "hail", None],
    "windy": [True, False, None],
    "note": ["the boat", "read by the fire", None],
    "play": ["yes", "no", "maybe"],
}


class Client(threading.Thread):
    """Teaches and takes back rows, each request with its own key, and sends it again until it is answered."""

    def __init__(self, url: str, number: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._url, self._number, self._ended = url, number, stop
        self._random = random.Random(number)
        self.rows: list[dict[str, Any]] = []  # those that are in, by the receipts
        self.receipts = 0
        self.failure: str | None = None

    def run(self) -> None:
        with httpx.Client(timeout=30) as session:
            turn = 0
            while not self._ended.is_set() and self.failure is None:
                turn += 1
                forget = bool(self.rows) and self._random.random() < 0.25
                rows = (
                    [self._random.choice(self.rows)]
                    if forget
                    else [self._row() for _ in range(self._random.choice([1, 1, 3]))]
                )
                operation = "forget" if forget else "learn"
                if self._sent(session, operation, rows, f"{self._number}-{turn}"):
                    for row in rows:
                        self.rows.remove(row) if forget else self.rows.append(row)

    def _row(self) -> dict[str, Any]:
        some = {name: self._random.choice(values) for name, values in _VALUES.items()}
        return {**some, "temperature": round(self._random.gauss(15, 6), 1), "guests": self._random.randrange(6)}

    def _sent(self, session: httpx.Client, operation: str, rows: list[dict[str, Any]], key: str) -> bool:
        """Send until there is an answer: a client that got none cannot know, so it tries again with the same key."""
        url, headers = f"{self._url}/models/weather/{operation}", {"Idempotency-Key": key}
        while True:
            try:
                answer = session.post(url, json=rows, headers=headers)
            except httpx.HTTPError:
                time.sleep(0.01)
                continue
            if answer.status_code == 200 and answer.json()["rows"] == len(rows):
                self.receipts += 1
                return True
            self.failure = answer.text
            return False


# Temperatures have one digit, so that they never fill the 1,024 buckets of a histogram: beyond, a column that has
# forgotten rows keeps wider buckets than a fit on the others would have.


def run(times: int, folder: Path, seed: int = 0, words: tuple[str, ...] = ()) -> int:
    """Kill a server so many times; return the number of receipts. Raise if anything was lost or doubled."""
    weather().save(folder / "weather.tally")
    moments = random.Random(seed)
    server = Server(folder / "weather.tally", "--learn", "--snapshot-every", "40", *words).start()
    stop = threading.Event()
    clients = [Client(server.url, number, stop) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        for _ in range(times):
            before = sum(client.receipts for client in clients)
            time.sleep(moments.uniform(0.0, 0.15))
            server.kill()
            server.start()
            # Some kills come before any request is answered, but a run of them must get somewhere.
            if moments.random() < 0.5:
                wait_until(
                    lambda before=before: any(c.failure for c in clients) or sum(c.receipts for c in clients) > before
                )
        stop.set()
        for client in clients:
            client.join(60)
        assert not any(client.is_alive() for client in clients)
        assert [client.failure for client in clients] == [None] * CLIENTS
        rows = [row for client in clients for row in client.rows]
        receipts = sum(client.receipts for client in clients)
        _check(server, rows, receipts)
        server.kill()  # once more, and nothing is asked in between
        server.start()
        _check(server, rows, receipts)
        return receipts
    finally:
        stop.set()
        server.stop()


def _check(server: Server, rows: list[dict[str, Any]], receipts: int) -> None:
    """Raise unless the evidence is that of a fit on exactly the rows that receipts were given for."""
    # Predictions follow a change a moment after its receipt, where several clients teach at the same time.
    wait_until(lambda: server.get("/models/weather").json()["position"] >= receipts)
    said = server.get("/models/weather").json()
    base = weather_rows()
    fitted = tb.fit(
        {name: [*base[name], *(row[name] for row in rows)] for name in base}, "play", events={"note": "text"}
    )
    assert said["evidence"] == evidence_hash(fitted.evidence)
    assert said["position"] == receipts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tally-kill-") as where:
        began = time.monotonic()
        total = run(given.times, Path(where), given.seed)
        took = time.monotonic() - began
        print(f"{given.times} kills, {total:,} receipts of {CLIENTS} clients in {took:.0f} s: nothing lost or doubled")
