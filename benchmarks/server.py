"""`tally serve` under load from other processes, compared with FastAPI, pandas and scikit-learn doing the same."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

import tallybayes as tb
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds

_PREDICTIONS, _RATIO, _LEARNED = 4000.0, 3.0, 2000.0  # a second, times the peer's, a second
_P99, _ARROW, _START, _GROWTH = 0.010, 1.5, 2.0, 20.0  # seconds, times local work, seconds, megabytes
_SECONDS = 5  # of load
_ROW = '{"outlook":"sunny","temperature":18.5,"windy":true,"humidity":44.0}'
_LABELLED = _ROW[:-1] + ',"play":"yes"}'
_WORDS = 1_000_000
_REQUESTS = 1_000_000  # over which memory must not grow

# The usual way: a frame of the rows, and a pipeline of scikit-learn.
_PEER = """
import sys
import pandas as pd, uvicorn
from fastapi import FastAPI
from sklearn.compose import make_column_transformer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
rows = pd.read_parquet(sys.argv[1])
kinds = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["outlook", "windy"]), remainder="passthrough"
)
model = make_pipeline(kinds, GaussianNB()).fit(rows.drop(columns="play"), rows["play"])
app = FastAPI()

@app.post("/predict")
async def predict(rows: list[dict]):
    found = model.predict_proba(pd.DataFrame(rows))
    names = model.classes_
    return [{"prediction": names[p.argmax()], "probabilities": dict(zip(names, p.tolist()))} for p in found]

uvicorn.run(app, port=int(sys.argv[2]), log_level="error", access_log=False)
"""
# Sends requests at a steady rate over some connections, and prints the time within which 99 % were answered.
_PACED = """
import asyncio, sys, time
host, path, body = sys.argv[1], sys.argv[3], sys.argv[4]
port, rate, length = int(sys.argv[2]), float(sys.argv[5]), float(sys.argv[6])
head = f"POST {path} HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: {len(body)}"
request = f"{head}\\r\\n\\r\\n{body}".encode()
took = []

async def client(number, count):
    reader, writer = await asyncio.open_connection(host, port)
    begin = time.perf_counter() + number / rate
    for turn in range(int(rate * length / count)):
        due = begin + turn * count / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        writer.write(request)
        head = await reader.readuntil(b"\\r\\n\\r\\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\\r")[0])
        await reader.readexactly(size)
        took.append(time.perf_counter() - due)
    writer.close()

async def main():
    await asyncio.gather(*(client(k, 16) for k in range(16)))

try:
    import uvloop
    uvloop.run(main())
except ImportError:
    asyncio.run(main())
took.sort()
print(took[int(0.99 * len(took))])
"""
# For machines without wrk: threads that ask again as soon as they are answered.
_CLIENTS = """
import http.client, sys, threading, time
host, path, body = sys.argv[1], sys.argv[3], sys.argv[4]
port, n, length = int(sys.argv[2]), int(sys.argv[5]), float(sys.argv[6])
done, end = [0] * n, time.perf_counter() + length

def client(k):
    connection = http.client.HTTPConnection(host, port)
    while time.perf_counter() < end:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        done[k] += answer.status == 200

threads = [threading.Thread(target=client, args=(k,)) for k in range(n)]
for one in threads: one.start()
for one in threads: one.join()
print(sum(done) / length)
"""


def run(repeat: int) -> str:
    """Measure the server, and return the table; a cross marks a missed target."""
    table = Growing("work", "tallybayes", "FastAPI + sklearn", "ratio", "target")
    few = min(repeat, 3)
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as name:
        folder = Path(name)
        rows = _weather(5000)
        tb.fit(rows, "play").save(folder / "weather.tally")
        with _served(folder / "weather.tally", "--learn") as server:
            mine = max(_rate(server.port, "/models/weather/predict", f"[{_ROW}]", 32) for _ in range(few))
            peer = _peer(rows, folder, few)
            slow = mine < _PREDICTIONS or (peer is not None and mine / peer < _RATIO)
            table.add(
                "predictions of one JSON row a second, 32 connections",
                f"{mine:,.0f}{_cross(slow)}",
                "–" if peer is None else f"{peer:,.0f}",
                "–" if peer is None else f"{mine / peer:.1f}×",
                f"{_PREDICTIONS:,.0f}, {_RATIO:g}×",
            )
            half = min(mine, _PREDICTIONS) / 2
            late = min(_paced(server.port, "/models/weather/predict", f"[{_ROW}]", half) for _ in range(few))
            table.add(
                f"p99 at {half:,.0f} predictions a second", seconds(late) + _cross(late > _P99), "–", "–", seconds(_P99)
            )
            learned = max(_rate(server.port, "/models/weather/learn", f"[{_LABELLED}]", 64) for _ in range(few))
            table.add(
                "rows learned durably a second, 64 clients, one row each",
                f"{learned:,.0f}{_cross(learned < _LEARNED)}",
                "–",
                "–",
                f"{_LEARNED:,.0f}",
            )
            first = server.resident_mb()
            asked = 0.0
            while asked < _REQUESTS:
                asked += _SECONDS * _rate(server.port, "/models/weather/predict", f"[{_ROW}]", 32)
            grown = server.resident_mb() - first
            cross = _cross(grown > _GROWTH)
            table.add(f"memory grown over {asked:,.0f} requests", f"{grown:.1f} MB{cross}", "–", "–", f"{_GROWTH:g} MB")
        _arrow(table, folder, few)
        _start(table, folder, few)
    return table.markdown()


class _Server:
    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port

    def resident_mb(self) -> float:
        """Return the resident size of the server."""
        content = Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(content.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextlib.contextmanager
def _served(*words: object) -> Iterator[_Server]:
    command = [sys.executable, "-c", "from tallybayes.cli.main import script; script()", "serve", "--port", "0"]
    process = subprocess.Popen([*command, *map(str, words)], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"serving on http://.*:(\d+)", line):
                yield _Server(process, int(found[1]))
                return
        raise RuntimeError("the server did not start")
    finally:
        process.terminate()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def _weather(n: int) -> pa.Table:
    rng = np.random.default_rng(0)
    play = rng.random(n) < 0.5
    return pa.table(
        {
            "outlook": np.where(rng.random(n) < 0.5, rng.choice(["sunny", "rain", "overcast"], n), "sunny"),
            "temperature": rng.normal(18 + 4 * play, 5, n),
            "windy": rng.integers(0, 2, n).astype(bool),
            "humidity": rng.normal(50, 9, n),
            "play": np.where(play, "yes", "no"),
        }
    )


def _rate(port: int, path: str, body: str, connections: int) -> float:
    """Return the requests a second that are answered with 200, from as many connections as fast as they can."""
    wrk = shutil.which("wrk")
    if wrk is None:
        words = [sys.executable, "-c", _CLIENTS, "127.0.0.1", str(port), path, body, str(connections), str(_SECONDS)]
        return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(f"wrk.method = 'POST'\nwrk.body = '{body}'\nwrk.headers['Content-Type'] = 'application/json'\n")
        script.flush()
        words = [wrk, "-t1", f"-c{connections}", f"-d{_SECONDS}s", "-s", script.name, f"http://127.0.0.1:{port}{path}"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said:
        raise RuntimeError(said)
    return float(re.search(r"Requests/sec:\s*([\d.]+)", said)[1])  # type: ignore[index]


def _paced(port: int, path: str, body: str, rate: float) -> float:
    words = [sys.executable, "-c", _PACED, "127.0.0.1", str(port), path, body, str(rate), str(_SECONDS)]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def _peer(rows: pa.Table, folder: Path, repeat: int) -> float | None:
    import pyarrow.parquet as pq

    try:
        import fastapi  # noqa: F401
        import pandas  # noqa: F401
    except ImportError:
        print("fastapi is not installed: pip install fastapi pandas")
        return None
    pq.write_table(rows, folder / "rows.parquet")
    port = "18017"
    process = subprocess.Popen([sys.executable, "-c", _PEER, str(folder / "rows.parquet"), port])
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                http.client.HTTPConnection("127.0.0.1", int(port)).connect()
                break
            time.sleep(0.2)
        return max(_rate(int(port), "/predict", f"[{_ROW}]", 32) for _ in range(repeat))
    finally:
        process.terminate()
        process.wait()


def _arrow(table: Growing, folder: Path, repeat: int) -> None:
    """Compare a million rows of fifty numbers through the server with the same work here."""
    rng = np.random.default_rng(1)
    rows = pa.table({f"c{f}": rng.standard_normal(1_000_000) for f in range(50)})
    labels = pa.array(np.where(rows["c0"].to_numpy()[:20_000] + rng.standard_normal(20_000) > 0, "yes", "no"))
    model = tb.fit(rows.slice(0, 20_000).append_column("y", labels), "y")
    model.save(folder / "wide.tally")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=65_536)
    body = memoryview(sink.getvalue())
    here, there = float("inf"), float("inf")
    with _served(folder / "wide.tally", "--max-body", "1024") as server:
        for _ in range(repeat):
            start = time.perf_counter()
            model.predict_proba(rows)
            here = min(here, time.perf_counter() - start)
            start = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            headers = {"Content-Type": "application/vnd.apache.arrow.stream", "Content-Length": str(len(body))}
            connection.request("POST", "/models/wide/predict?only=1", body, headers)
            answer = connection.getresponse()
            content = answer.read()
            there = min(there, time.perf_counter() - start)
            assert answer.status == 200, content[:500]
            assert pa.ipc.open_stream(content).read_all().num_rows == len(rows)
    slow = there / here > _ARROW
    table.add(
        f"1,000,000 × 50 as one Arrow stream, against {seconds(here)} locally",
        f"{seconds(there)}{_cross(slow)}",
        "–",
        f"{there / here:.2f}×",
        f"{_ARROW:g}×",
    )


def _start(table: Growing, folder: Path, repeat: int) -> None:
    """Time the start of a server with a million words, from the command to the first answer."""
    rng = np.random.default_rng(2)
    n = 100_000
    picks = np.concatenate([rng.permutation(_WORDS), (_WORDS * rng.random(2 * _WORDS) ** 4).astype(int)])
    words = pa.array(np.char.add("w", np.arange(_WORDS).astype(str)))
    bounds = pa.array(np.linspace(0, len(picks), n + 1).astype(np.int32))
    column = pa.compute.binary_join(pa.ListArray.from_arrays(bounds, words.take(pa.array(picks))), " ")
    first = picks[bounds.to_numpy()[:-1]]  # the first word of each text tells its class half of the time
    labels = np.where(np.where(rng.random(n) < 0.5, first, rng.integers(0, 2, n)) % 2 == 0, "ham", "spam")
    rows = pa.table({"text": column, "label": labels})
    tb.fit(rows, "label", events="text").save(folder / "words.tally")
    took = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        with _served(folder / "words.tally") as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.request(
                "POST", "/models/words/predict", '[{"text": "w1 w2"}]', {"Content-Type": "application/json"}
            )
            assert connection.getresponse().status == 200
            took = min(took, time.perf_counter() - start)
    table.add(
        "start with a model of 1,000,000 words, to the first answer",
        seconds(took) + _cross(took > _START),
        "–",
        "–",
        seconds(_START),
    )


def _cross(missed: bool) -> str:
    return f" {MISSED}" if missed else ""
