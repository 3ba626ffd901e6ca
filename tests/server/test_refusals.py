"""What is refused: one sentence with its parts, never a stack trace, and the server goes on."""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from .conftest import ROW
from .process import Server

PREDICT, JSON = "/models/weather/predict", {"Content-Type": "application/json"}
ARROW = {"Content-Type": "application/vnd.apache.arrow.stream"}
REFUSED: list[tuple[str, Any, dict[str, str], int, str]] = [
    (PREDICT, b"{", JSON, 400, "a JSON list of rows"),
    (PREDICT, b"\xff\xfe", JSON, 400, "a JSON list of rows"),
    (PREDICT, b"[" * 100_000, JSON, 400, "a JSON list of rows"),
    (PREDICT, b'{"outlook": "sunny"}', JSON, 422, "Put the row in a list"),
    (PREDICT, b"[1]", JSON, 422, "row 1: wanted an object of values by column, got a number"),
    (PREDICT, b'[{"outlok": "sunny"}]', JSON, 422, "Did you mean 'outlook'?"),
    (PREDICT, b'[{"outlook": ["sunny"]}]', JSON, 422, "row 1, column 'outlook': wanted a value, got a list"),
    (PREDICT, b'[{"outlook": 3}]', JSON, 422, "column 'outlook'"),
    (PREDICT, b'[{}, {"temperature": "hot"}]', JSON, 422, "column 'temperature'"),
    (PREDICT, b'[{"temperature": 1e999}]', JSON, 400, "a JSON list of rows"),
    (PREDICT, b"outlook\nsunny\nrainy,3\n", {"Content-Type": "text/csv"}, 422, "row"),
    (PREDICT, b"a,b\n1,2\n", {"Content-Type": "text/csv"}, 422, "the columns of the model"),
    (PREDICT, b"", {"Content-Type": "text/csv"}, 422, "the request"),
    (PREDICT, b"no stream", {"Content-Type": "application/vnd.apache.arrow.stream"}, 400, "an Arrow stream"),
    (PREDICT, b"<x/>", {"Content-Type": "application/xml"}, 415, "Content-Type: wanted application/json"),
    (PREDICT + "?level=2", b"[{}]", JSON, 422, "level: wanted a number between 0 and 1"),
    (PREDICT + "?level=x", b"[{}]", JSON, 422, "level: wanted a number between 0 and 1"),
    (PREDICT + "?explain=maybe", b"[{}]", JSON, 422, "explain: wanted 0 or 1"),
    (PREDICT + "?raw=", b"[{}]", JSON, 422, "raw: wanted 0 or 1"),
    ("/models/wether/predict", b"[{}]", JSON, 404, "Did you mean 'weather'?"),
    ("/models/..%2fweather/predict", b"[{}]", JSON, 404, ""),
    ("/models/weather/predictt", b"[{}]", JSON, 404, "/openapi.json"),
    ("/models/weather/learn", b'[{"outlook": "sunny"}]', JSON, 422, "label 'play': wanted a class in every row"),
    ("/models/weather/learn", b'[{"outlook": "sunny", "play": "?"}]', JSON, 422, "a missing one (row 1)"),
    ("/models/weather/learn", b"play\nyes\n\n", {"Content-Type": "text/csv"}, 422, "columns of the model"),
    ("/models/weather/learn", b"[]", JSON, 422, "at least one row"),
    ("/models/weather/learn", b'[{"outlook": 4, "play": "yes"}]', JSON, 409, "text (such as 'overcast')"),
    ("/models/weather/forget", b'[{"outlook": "fog", "temperature": 1, "play": "yes"}]', JSON, 409, ""),
    ("/models/ages/learn", b'[{"height": 1.5, "grade": 1}]', JSON, 422, "weight 'w'"),
    ("/models/ages/learn", b'[{"height": 1.5, "grade": 1, "w": -2}]', JSON, 422, "weight 'w'"),
    ("/models/ages/learn", b'[{"height": 1.5, "grade": "first", "w": 2}]', JSON, 409, "whole numbers"),
    ("/models/weather/learn", b'[{"outlook": "sunny", "play": "yes"}]', {**JSON, "Idempotency-Key": "k" * 256}, 422,
     "Idempotency-Key: wanted 1 to 255"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "headers", "status", "says"), REFUSED)
def test_bad_requests_are_refused_in_one_sentence(
    server: Server, path: str, body: bytes, headers: dict[str, str], status: int, says: str
) -> None:
    before = server.get("/models").json()
    answer = server.post(path, content=body, headers=headers)
    said = answer.json()
    assert (answer.status_code, said["status"]) == (status, status), said
    assert says in said["message"]
    assert {"error", "message"} <= set(said)
    assert "Traceback" not in answer.text
    assert "/tmp" not in answer.text
    assert server.get("/models").json() == before


def test_the_parts_of_a_sentence_are_fields(server: Server) -> None:
    said = server.post(PREDICT, [{"outlok": 1}]).json()
    assert (said["where"], said["wanted"], said["got"]) == ("row 1", "columns of the model", "'outlok'")
    assert said["do"] == "Did you mean 'outlook'?"


def test_other_methods_are_refused(server: Server) -> None:
    assert server.get(PREDICT).status_code == 405
    assert server.get(PREDICT).headers["allow"] == "POST"
    assert server.post("/models").status_code == 405


def test_journal_positions_are_checked(server: Server) -> None:
    for bad in ("-1", "x", "1e3", "9" * 30, "１"):
        assert server.get(f"/models/weather/journal?from={bad}").status_code == 422
    assert server.get("/models/weather/journal?limit=0").status_code == 422


def test_one_bad_row_fails_one_request(server: Server) -> None:
    with ThreadPoolExecutor(16) as pool:
        bodies = [[ROW] if i % 4 else [{"temperature": "hot"}] for i in range(200)]
        found = list(pool.map(lambda body: server.post(PREDICT, body).status_code, bodies))
    assert found == [200 if i % 4 else 422 for i in range(200)]


def test_a_read_only_server_learns_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "weather.tally").write_bytes((folder / "weather.tally").read_bytes())
    with Server(tmp_path / "weather.tally") as server:
        for path in ("learn", "forget", "calibrate"):
            answer = server.post(f"/models/weather/{path}", [{**ROW, "play": "yes"}])
            assert answer.status_code == 403
            assert "--learn" in answer.json()["message"]
        assert server.get("/models/weather/journal").status_code == 404
        assert server.post(PREDICT, [ROW]).status_code == 200
        # A name of another machine that resolves to this one: a page elsewhere must not get through.
        assert server.get("/models", headers={"Host": "evil.example:80"}).status_code == 421
        assert "access-control-allow-origin" not in server.get("/models", headers={"Origin": "https://x.org"}).headers
    assert os.listdir(tmp_path) == ["weather.tally"]


def test_a_token_is_asked_for(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("correct-horse-battery\n")
    words = (folder / "ages.tally", "--host", "0.0.0.0", "--token-file", secret, "--allow-origin", "https://x.org")
    with Server(*words) as server:
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert server.get("/healthz").status_code == 200
        assert server.get("/").status_code == 200
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "correct-horse-battery"}):
            answer = server.get("/models", headers=given)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        good = {"Authorization": "Bearer correct-horse-battery"}
        assert server.get("/models", headers=good).status_code == 200
        seen = server.get("/models", headers={**good, "Origin": "https://x.org"}).headers
        assert seen["access-control-allow-origin"] == "https://x.org"
        assert (
            "access-control-allow-origin"
            not in server.get("/models", headers={**good, "Origin": "https://y.org"}).headers
        )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--host", "0.0.0.0"], "Give --token-file"),
        (["--token-file", "absent"], "--token-file 'absent'"),
        (["--port", "70000"], "--port"),
        (["--max-body", "0"], "--max-body"),
        (["--journal", "mysql://x/y"], "postgresql://"),
        (["absent.tally"], "absent.tally"),
    ],
)
def test_a_wrong_start_is_one_sentence(folder: Path, words: list[str], says: str) -> None:
    with pytest.raises(RuntimeError, match=says) as found, Server(folder / "ages.tally", *words):
        pass
    assert "Traceback" not in str(found.value)


def raw(server: Server) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def test_large_and_slow_requests_are_cut_off(folder: Path) -> None:
    with Server(folder / "weather.tally", "--max-body", "1", "--timeout", "1") as server:
        big = json.dumps([{"note": "x" * (2 << 20)}]).encode()
        answer = server.post(PREDICT, content=big, headers=JSON)
        assert answer.status_code == 413
        assert "--max-body" in answer.json()["message"]

        def pieces() -> Any:
            for _ in range(40):
                yield b" " * (1 << 16)

        assert server.post(PREDICT, content=pieces(), headers=JSON).status_code == 413  # of unknown length
        head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with raw(server) as slow:  # a gigabyte is announced, and nothing is sent
            slow.sendall((head + "Content-Length: 1000000000\r\n\r\n").encode())
            assert b" 413 " in slow.recv(4096)
        with raw(server) as slow:
            slow.sendall((head + "Content-Length: 100\r\n\r\n[").encode())
            assert b" 408 " in slow.recv(4096)
        with raw(server) as slow:  # headers that never end
            slow.sendall(head.encode())
            began = time.monotonic()
            assert slow.recv(4096) == b""
            assert time.monotonic() - began < 20
        with raw(server) as silent:
            assert silent.recv(4096) == b""
        assert server.post(PREDICT, [ROW]).status_code == 200


def test_many_connections_are_served(server: Server) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n = 10_000
    if hard != resource.RLIM_INFINITY and hard < n + 500:
        pytest.skip(f"the system allows {hard} open files: 10,000 connections need more")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    idle: list[socket.socket] = []
    try:
        for _ in range(n):
            idle.append(raw(server))
        body = json.dumps([ROW])
        head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
        began = time.monotonic()
        for one in idle[:: n // 50]:
            one.sendall(f"{head}\r\n\r\n{body}".encode())
            assert b" 200 " in one.recv(4096)
        assert time.monotonic() - began < 20
    finally:
        for one in idle:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("offset", [1 << 30, -5, 3])
def test_offsets_beyond_a_stream_are_refused(server: Server, offset: int) -> None:
    rows = pa.table({"outlook": ["a", "b", "c", "d"], "play": ["yes", "no", "yes", "no"]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    good, bad = struct.pack("<5i", 0, 1, 2, 3, 4), struct.pack("<5i", 0, offset, 2, 3, 4)
    body = sink.getvalue().to_pybytes()
    assert good in body
    for path in ("predict", "learn", "explain"):
        answer = server.post(f"/models/weather/{path}", content=body.replace(good, bad), headers=ARROW)
        assert answer.status_code == 422, answer.text
        assert answer.json()["where"] == "the request"
    assert server.post("/models/weather/predict", [ROW]).status_code == 200
