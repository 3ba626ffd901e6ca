"""Random requests to the server, in process: an answer, or one sentence with its fields; never a stack trace."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.csv

from tallybayes.server.app import build
from tallybayes.server.body import Limits
from tallybayes.server.served_model import ServedModel

from . import mutate, values
from .calls import ROWS, Call, World, shown

KINDS = ("application/json", "text/csv", "application/vnd.apache.arrow.stream")
ROUTES = (
    *(
        ("POST", "/models/model/predict"),
        ("POST", "/models/model/predict?explain=1"),
        ("POST", "/models/model/explain"),
    ),
    *(("POST", "/models/model/learn"), ("POST", "/models/model/forget"), ("GET", "/models/model/drift")),
    *(("GET", "/models/model"), ("GET", "/models/model/journal"), ("GET", "/openapi.json"), ("GET", "/metrics")),
)
WORDS = ("", "0", "1", "-1", "0.5", "nan", "1e999", "9" * 30, "é", "a" * 300, "%00", "..%2f..", "%1b[31m")
NAMES = ("explain", "only", "raw", "count", "level", "from", "limit", "x")
FIELDS = {"error", "message", "status"}  # of every refusal


def targets() -> list[str]:
    """Return the name of the one target."""
    return ["server"]


def make(world: World, name: str, rng: Random) -> Call:
    """Return a random request: a route, parameters, and rows that are good, strange or mutated."""
    method, path = rng.choice(ROUTES)
    given = [f"{rng.choice(NAMES)}={rng.choice(WORDS)}" for _ in range(rng.choice((0, 0, 1, 2)))]
    path += ("&" if "?" in path else "?") + "&".join(given) if given else ""
    path = path.replace("model/", rng.choice(WORDS) + "/") if rng.random() < 0.05 else path
    kind = rng.choice(KINDS)
    body = _body(rng, kind)
    headers = {"Content-Type": kind if rng.random() < 0.9 else rng.choice(WORDS[:9])}
    if rng.random() < 0.2:
        headers["Idempotency-Key"] = rng.choice(("a", "", "b c", "k" * 300))
    return Call(name, lambda: _ask(world, method, path, headers, body), f"{method} {path} {headers} {shown(body)}")


def _ask(world: World, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
    headers = {name: value.encode() for name, value in headers.items()}  # type: ignore[misc]
    answer = _client(world).request(method, path, headers=headers, content=body if method == "POST" else None)
    assert answer.status_code < 500, answer.text[:2000]
    assert "Traceback" not in answer.text, answer.text[:2000]
    if answer.status_code >= 400:
        said = answer.json()
        assert said.keys() >= FIELDS, said
        assert said["message"].endswith((".", "?")), said


def _client(world: World) -> Any:
    if "client" not in world.kept:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # starlette would have another client than httpx
            from starlette.testclient import TestClient
        path = world.folder / "served" / "model.tally"
        path.parent.mkdir()
        world.models[2].save(path)
        app = build([ServedModel("model", path, learn=True)], limits=Limits(1 << 20))
        client = TestClient(app, "http://localhost", raise_server_exceptions=False)
        world.kept["client"] = world.stack.enter_context(client)  # starts the threads that learn
    return world.kept["client"]


def _body(rng: Random, kind: str) -> bytes:
    """Return rows in one of the formats, as often as not mutated."""
    rows: Any = ROWS if rng.random() < 0.5 else values.table(rng)
    try:
        table = pa.table(rows)
        if kind == KINDS[0]:
            made = orjson.dumps(table.to_pylist())
        else:
            sink = pa.BufferOutputStream()
            writer = pa.ipc.new_stream(sink, table.schema) if kind == KINDS[2] else pa.csv.CSVWriter(sink, table.schema)
            with writer:
                writer.write_table(table)
            made = sink.getvalue().to_pybytes()
    except Exception:  # values that the format cannot hold
        made = b'[{"x": 1.0, "s": "a", "y": "p"}]'
    return mutate.mutated(rng, made) if rng.random() < 0.5 else made
