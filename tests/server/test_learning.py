"""Learning and forgetting: receipts, retries, crashes, full disks and calibration."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.evidence.serialize import evidence_hash

from .conftest import ROW, weather, weather_rows
from .kill import run
from .process import Server, wait_until
from .test_answers import ARROW, CSV, arrow_bytes

DAY = {**ROW, "play": "yes"}


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[Server]:
    """Return a server of one model, with a journal of its own."""
    weather().save(tmp_path / "weather.tally")
    with Server(tmp_path / "weather.tally", "--learn") as server:
        yield server
    assert "Traceback" not in "".join(server.log)


def post(server: Server, path: str, rows: object, key: str | None = None) -> dict[str, object]:
    headers = {} if key is None else {"Idempotency-Key": key}
    answer = server.post(f"/models/weather/{path}", rows, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def hash_of(model: tb.Model) -> str:
    return evidence_hash(model.evidence)


def test_a_receipt_has_the_hash_of_a_fit(learner: Server) -> None:
    new = {**DAY, "outlook": "hail", "play": "maybe"}
    receipt = post(learner, "learn", [DAY, new])
    assert receipt["before"] == hash_of(weather())
    assert receipt["after"] == hash_of(weather().learn([DAY, new]))
    assert (receipt["position"], receipt["rows"], receipt["operation"]) == (1, 2, "learn")
    said = learner.get("/models/weather").json()
    assert {one["value"] for one in said["classes"]} == {"yes", "no", "maybe"}
    assert said["stale"] is True
    assert said["rows"] == 202
    back = post(learner, "forget", [new])
    assert back["after"] == hash_of(weather().learn([DAY]))
    assert post(learner, "forget", [DAY])["after"] == receipt["before"]


def test_the_last_model_that_can_answer_stays(tmp_path: Path) -> None:
    rows = {"x": ["a", "b"] * 20, "y": ["p", "q"] * 20, "w": [1.0] * 40}
    tb.fit(rows, "y", weights="w").save(tmp_path / "weather.tally")
    with Server(tmp_path / "weather.tally", "--learn") as server:
        for weight in (1.7e308, 1.0):  # too large to estimate from, and what is learned after it
            post(server, "learn", [{"x": "a", "y": "p", "w": weight}])
        assert server.post("/models/weather/predict", [{"x": "a"}]).json()[0]["prediction"] == "p"
    said = "".join(server.log)
    assert "got an overflow" in said
    assert "Traceback" not in said


def test_predictions_follow_from_what_was_learned(learner: Server) -> None:
    def probability() -> float:
        found: float = learner.post("/models/weather/predict", [ROW]).json()[0]["probabilities"]["no"]
        return found

    before = probability()
    post(learner, "learn", [{**ROW, "play": "no"}] * 100)
    wait_until(lambda: probability() > before)
    post(learner, "forget", [{**ROW, "play": "no"}] * 100)
    wait_until(lambda: probability() == before)


def test_rows_come_in_every_format(learner: Server) -> None:
    want = weather().learn([DAY] * 3)
    post(learner, "learn", [DAY])
    text = "outlook,temperature,windy,guests,note,play,id\nsunny,18.5,true,2,the boat,yes,7\n"
    assert httpx.post(learner.url + "/models/weather/learn", content=text, headers=CSV).status_code == 200
    content = arrow_bytes(pa.Table.from_pylist([DAY]))
    answer = httpx.post(learner.url + "/models/weather/learn", content=content, headers=ARROW)
    assert answer.json()["after"] == hash_of(want)


def test_a_column_left_out_is_missing(learner: Server) -> None:
    receipt = post(learner, "learn", [{"outlook": "sunny", "play": "no"}, {"temperature": 3, "play": "yes"}])
    blank = dict.fromkeys(ROW)
    rows = [{**blank, "outlook": "sunny", "play": "no"}, {**blank, "temperature": 3, "play": "yes"}]
    assert receipt["after"] == hash_of(weather().learn(rows))


def test_a_retry_is_harmless(learner: Server) -> None:
    first = post(learner, "learn", [DAY], "one")
    assert post(learner, "learn", [DAY], "one") == first
    learner.kill()
    learner.start()
    assert post(learner, "learn", [DAY], "one") == first
    answer = learner.post("/models/weather/learn", [DAY] * 2, headers={"Idempotency-Key": "one"})
    assert answer.status_code == 409
    assert learner.get("/models/weather").json()["position"] == 1


def test_rows_learned_at_the_same_moment_are_packed_together_and_judged_alone(learner: Server) -> None:
    good = {**DAY, "temperature": 9007199254740993}  # beyond 2^53: rounded
    bodies: list[list[dict[str, Any]]] = [[good], [{"play": "no", "guests": 1}], [{**DAY, "outlook": 3}], [good] * 2]
    bodies = [bodies[i % 4] for i in range(40)]

    def send(i: int) -> int:
        headers = {"Idempotency-Key": f"moment-{i % 40}"}  # each is sent twice
        return learner.post("/models/weather/learn", bodies[i % 40], headers=headers).status_code

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(send, range(80))) == [200, 200, 409, 200] * 20
    kept = [row for i, rows in enumerate(bodies) for row in rows if i % 4 != 2]
    wait_until(lambda: learner.get("/models/weather").json()["position"] >= 30)  # predictions follow a moment later
    said = learner.get("/models/weather").json()
    assert (said["position"], said["evidence"]) == (30, hash_of(weather().learn(kept)))


def test_numbers_of_several_kinds_are_doubles(server: Server) -> None:
    rows = [{"grade": 1, "w": True, "height": 140}, {"grade": 2.0, "w": 0.5, "height": True}]
    answer = server.post("/models/ages/learn", rows)
    assert answer.status_code == 409, answer.text  # as many of them as are whole would do as classes
    assert "whole numbers" in answer.json()["message"]
    rows[1]["grade"] = 2
    first = server.post("/models/ages/learn", rows).json()
    assert server.post("/models/ages/forget", rows).json()["after"] == first["before"]


def test_the_journal_can_be_audited(learner: Server) -> None:
    given = [post(learner, "learn", [DAY]) for _ in range(5)]
    found = learner.get("/models/weather/journal?from=2&limit=2").json()
    assert found == {"receipts": given[2:4], "next": 4}
    assert [one["before"] for one in given[1:]] == [one["after"] for one in given[:-1]]


def test_a_calibration_runs_beside_predictions_and_survives(learner: Server) -> None:
    rows = pa.table(weather_rows(400, seed=11)).to_pylist()
    post(learner, "learn", rows)
    gone = rows[:50]
    post(learner, "forget", gone)
    assert learner.get("/models/weather").json()["stale"] is True
    answer = learner.post("/models/weather/calibrate")
    assert (answer.status_code, answer.json()) == (202, {"state": "running"})
    assert learner.post("/models/weather/predict", [ROW]).status_code == 200
    wait_until(lambda: learner.get("/models/weather").json()["stale"] is False)
    said = learner.get("/models/weather").json()
    assert said["calibrate"] == {"running": False, "error": None}
    assert said["calibration"]["rows"] == 350  # what the journal keeps, without those taken back
    [before] = learner.post("/models/weather/predict", [ROW]).json()
    want = weather().learn(rows).forget(gone).calibrate(rows[50:])
    assert list(before["probabilities"].values()) == want.predict_proba([ROW])[0].tolist()
    learner.kill()
    learner.start()
    assert learner.post("/models/weather/predict", [ROW]).json() == [before]


def test_nothing_to_calibrate_with_is_said(learner: Server) -> None:
    learner.post("/models/weather/calibrate")
    wait_until(lambda: learner.get("/models/weather").json()["calibrate"]["error"] is not None)
    assert "rows in the journal" in learner.get("/models/weather").json()["calibrate"]["error"]


def test_another_base_model_is_refused(tmp_path: Path) -> None:
    weather().save(tmp_path / "weather.tally")
    with Server(tmp_path / "weather.tally", "--learn") as server:
        post(server, "learn", [DAY])
    weather().learn([DAY]).save(tmp_path / "weather.tally")
    with (
        pytest.raises(RuntimeError, match="the journal began with") as found,
        Server(tmp_path / "weather.tally", "--learn"),
    ):
        pass
    assert "Traceback" not in str(found.value)


def test_a_read_only_server_follows_the_journal(learner: Server, tmp_path: Path) -> None:
    post(learner, "learn", [DAY])
    with Server(tmp_path / "weather.tally") as reader:
        assert reader.get("/models/weather").json()["position"] == 1
        after = post(learner, "learn", [DAY] * 2)["after"]
        wait_until(lambda: reader.get("/models/weather").json()["evidence"] == after)


def test_thirty_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    assert run(30, tmp_path) > 30


def test_a_full_disk_stops_learning_only(tmp_path: Path) -> None:
    """Learn on a tiny file system until it is full; where none can be mounted, files may not grow beyond a size."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    mounted = (
        mounted
        and not subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], check=False).returncode
    )
    try:
        weather().save(small / "weather.tally")
        with Server(small / "weather.tally", "--learn", preexec=None if mounted else _small_files) as server:
            rows, answers = [DAY] * 500, []
            for _ in range(200):
                answers.append(server.post("/models/weather/learn", rows))
                if answers[-1].status_code != 200:
                    break
            full, good = answers[-1], answers[:-1]
            assert full.status_code == 507, full.text
            assert "Free some space" in full.json()["message"]
            assert good
            assert server.post("/models/weather/predict", [ROW]).status_code == 200
            said = server.get("/models/weather").json()
            assert said["position"] == len(good)
            assert said["evidence"] == hash_of(weather().learn(rows * len(good)))
            if mounted:
                subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
                assert post(server, "learn", [DAY])["position"] == len(good) + 1
        assert "Traceback" not in "".join(server.log)
    finally:
        if mounted:
            subprocess.run(["umount", small], check=True)


def _small_files() -> None:
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
