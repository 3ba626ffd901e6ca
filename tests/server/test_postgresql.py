"""Two servers that share a journal in a real PostgreSQL; skipped without one, unless CI is true."""

from __future__ import annotations

import threading
from pathlib import Path

from tallybayes.evidence.serialize import evidence_hash

from .conftest import weather
from .kill import Client
from .process import Server, wait_until
from .test_learning import DAY, post


def test_two_servers_arrive_at_the_same_evidence(postgresql: str, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        weather().save(folder / "weather.tally")
    one, two = (
        Server(folder, "--learn", "--journal", postgresql, "--snapshot-every", "20").start() for folder in folders
    )
    stop = threading.Event()
    clients = [Client((one, two)[k % 2].url, k, stop) for k in range(4)]
    try:
        for client in clients:
            client.start()
        wait_until(lambda: sum(client.receipts for client in clients) > 30)
        two.kill()
        before = sum(client.receipts for client in clients)
        wait_until(lambda: sum(client.receipts for client in clients) > before + 20)  # the other goes on
        two.start()
        wait_until(lambda: all(client.receipts > 5 for client in clients))
        stop.set()
        for client in clients:
            client.join(60)
        assert [client.failure for client in clients] == [None] * 4
        total = sum(client.receipts for client in clients)
        want = evidence_hash(weather().learn([row for client in clients for row in client.rows]).evidence)

        def arrived() -> bool:
            said = [each.get("/models/weather").json() for each in (one, two)]
            return all(each["position"] == total and each["evidence"] == want for each in said)

        wait_until(arrived)
        # A key is known to both, and rows learned by one are forgotten by the other.
        first = post(one, "learn", [DAY], "shared")
        assert post(two, "learn", [DAY], "shared") == first
        assert post(two, "forget", [DAY])["after"] == want
        assert "Traceback" not in one.stop() + two.stop()
    finally:
        stop.set()
        one.stop()
        two.stop()
