"""Predictions and explanations in each format, equal to those of the model itself."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.server.answers import table_answer
from tallybayes.server.describe import describe
from tallybayes.server.scoring_model import ScoringModel
from tallybayes.sources.source import of_table

from .conftest import ROW, ages, weather, weather_rows
from .process import Server

CSV, ARROW = {"Content-Type": "text/csv"}, {"Content-Type": "application/vnd.apache.arrow.stream"}


def arrow_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def test_a_prediction_is_that_of_the_model(server: Server) -> None:
    asked = [ROW, {"outlook": "hail"}, {"temperature": None, "play": "ignored"}, {}]
    found = server.post("/models/weather/predict", asked).json()
    want = weather().predict_interval([{**dict.fromkeys(ROW), **row} for row in asked])
    for i, one in enumerate(found):
        assert list(one["probabilities"].values()) == want.probability[i].tolist()
        c = int(want.probability[i].argmax())
        assert one["prediction"] == want.classes[c]
        assert one["interval"] == [want.low[i, c], want.high[i, c]]
        assert one["rows_behind"] == want.rows[i, c]


def test_classes_keep_their_type(server: Server) -> None:
    [found] = server.post("/models/ages/predict", [{"height": 160}]).json()
    want = ages().predict_proba([{"height": 160}])[0]
    assert found["prediction"] == int(ages().predict([{"height": 160}])[0])
    assert found["probabilities"] == dict(zip("123", want.tolist(), strict=True))


def test_many_rows_are_predicted_as_few(server: Server) -> None:
    rows = pa.table(weather_rows(3000, seed=9)).drop_columns(["play"]).to_pylist()
    found = server.post("/models/weather/predict", rows).json()
    want = weather().predict_proba(pa.Table.from_pylist(rows))
    np.testing.assert_allclose([list(one["probabilities"].values()) for one in found], want, rtol=1e-12)
    assert server.post("/models/weather/predict", []).json() == []


def test_a_level_widens_the_interval(server: Server) -> None:
    low, high = (server.post(f"/models/weather/predict?level={p}", [ROW]).json()[0]["interval"] for p in (0.5, 0.99))
    assert high[0] < low[0] < low[1] < high[1]


def test_csv_comes_back_with_predictions(server: Server) -> None:
    text = 'id,outlook,temperature,windy,guests,note\n7,sunny,18.5,true,2,"the boat, again"\n8,,,,,\n'
    answer = server.post("/models/weather/predict", content=text, headers=CSV)
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert list(rows[0]) == [*text.splitlines()[0].split(","), "predicted", "P(no)", "P(yes)"]
    assert [row["id"] for row in rows] == ["7", "8"]
    want = weather().predict_proba([{**ROW, "note": "the boat, again"}])[0]
    assert [float(rows[0][f"P({c})"]) for c in ("no", "yes")] == want.tolist()
    alone = server.post("/models/weather/predict?only=1&level=0.9", content=text, headers=CSV).text
    assert alone.splitlines()[0] == '"predicted","P(no)","P(yes)","low(no)","low(yes)","high(no)","high(yes)"'


def test_csv_comes_back_without_formulas(server: Server) -> None:
    text = "=id,height\n=1+2,150\n-3,160\n@x,170\n"
    quoted = server.post("/models/ages/predict", content=text, headers=CSV).text
    assert [row[0] for row in csv.reader(io.StringIO(quoted))] == ["'=id", "'=1+2", "-3", "'@x"]
    raw = server.post("/models/ages/predict?raw=1", content=text, headers=CSV).text
    assert [row[0] for row in csv.reader(io.StringIO(raw))] == ["=id", "=1+2", "-3", "@x"]


def test_a_long_csv_keeps_its_order(server: Server) -> None:
    heights = np.random.default_rng(4).normal(150, 20, 100_000).round(2)
    text = "height\n" + "\n".join(map(str, heights.tolist()))
    found = server.post("/models/ages/predict", content=text, headers=CSV).text
    columns = np.array([row[0::2] for row in csv.reader(io.StringIO(found))][1:], float)  # height, P(1), P(3)
    np.testing.assert_array_equal(columns[:, 0], heights)
    np.testing.assert_array_equal(columns[:, 1], ages().predict_proba({"height": heights})[:, 0])


def test_a_bad_row_is_named_by_its_number_in_the_whole_stream() -> None:
    model = tb.fit({"n": [0, 1, 2, 3], "y": ["p", "q"] * 2}, "y", events={"n": "poisson"})
    numbers = np.zeros(100_000)
    numbers[70_000] = -1
    rows = of_table(pa.table({"n": numbers}), "the request")
    for form in (ARROW["Content-Type"], CSV["Content-Type"]):
        with pytest.raises(tb.errors.BadData, match="row 70001"):
            table_answer(ScoringModel(model, 0, ""), rows, form, only=True, level=None)


def test_arrow_comes_back_as_arrow(server: Server) -> None:
    rows = pa.table(weather_rows(5000, seed=2)).drop_columns(["play"])
    answer = server.post("/models/weather/predict?only=1", content=arrow_bytes(rows), headers=ARROW)
    assert answer.headers["content-type"] == ARROW["Content-Type"]
    table = pa.ipc.open_stream(answer.content).read_all()
    assert table.column_names == ["predicted", "P(no)", "P(yes)"]
    np.testing.assert_array_equal(table["P(yes)"].to_numpy(), weather().predict_proba(rows)[:, 1])


def test_a_long_stream_leaves_the_connection_as_it_was(server: Server) -> None:
    rows = pa.table({"height": np.random.default_rng(3).normal(150, 20, 400_000)})
    good = arrow_bytes(rows)
    bodies = [good, b"x" * len(good), good, good + b"x" * 3_000_000, good[:2_000_000], good]
    want = ages().predict_proba(rows)
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for body, status in zip(bodies, [200, 400, 200, 200, 422, 200], strict=True):
            answer = client.post("/models/ages/predict?only=1", content=body, headers=ARROW)
            assert answer.status_code == status, answer.text
            if status == 200:
                table = pa.ipc.open_stream(answer.content).read_all()
                np.testing.assert_array_equal(table["P(1)"].to_numpy(), want[:, 0])
            else:
                assert answer.json()["where"] == "the request"
            assert client.post("/models/ages/predict", json=[{"height": 140}]).status_code == 200  # the next request
        chunked = client.post("/models/ages/predict?only=1", content=iter([good[:1000], good[1000:]]), headers=ARROW)
        assert pa.ipc.open_stream(chunked.content).read_all().num_rows == len(rows)


def test_reasons_sum_to_the_log_odds(server: Server) -> None:
    [said] = server.post("/models/weather/explain", [ROW]).json()
    assert said["log_odds"] == pytest.approx(said["prior"] + said["split"] + sum(p["term"] for p in said["parts"]))
    want = weather().explain(ROW)
    assert said["probability"] == want.probability
    assert said["change"]["changes"][0]["column"] in {*ROW}
    flipped = {**ROW, **{one["column"]: one["new"] for one in said["change"]["changes"] if one["word"] is None}}
    if all(one["word"] is None for one in said["change"]["changes"]):
        assert weather().predict([flipped])[0] == said["change"]["new"]
    [beside] = server.post("/models/weather/predict?explain=1", [ROW]).json()
    assert beside["reasons"] == said["parts"]


def test_a_model_says_what_a_form_needs(server: Server) -> None:
    said = server.get("/models/weather").json()
    columns = {one["name"]: one for one in said["columns"]}
    rows = weather_rows()
    assert list(columns) == ["outlook", "temperature", "windy", "guests", "note"]
    assert columns["outlook"]["values"] == sorted(set(rows["outlook"]))
    assert columns["windy"]["values"] == [False, True]
    assert columns["note"]["kind"] == "text"
    temperature = columns["temperature"]
    assert temperature["min"] == pytest.approx(min(rows["temperature"]), abs=0.1)
    assert temperature["max"] == pytest.approx(max(rows["temperature"]), abs=0.1)
    assert abs(temperature["typical"] - np.median(rows["temperature"])) < 3
    assert (columns["guests"]["min"], columns["guests"]["max"], columns["guests"]["whole"]) == (0, 4, True)
    assert said["rows"] == 200
    assert {one["value"] for one in said["classes"]} == {"no", "yes"}
    assert [one["name"] for one in server.get("/models").json()] == ["ages", "weather"]


def test_a_model_says_how_well_it_was_validated() -> None:
    rows = weather_rows(60)
    model = tb.fit(rows, "play")
    assert describe(model)["validation"]["how"] == "leave-one-out"
    found = model.validate(rows, how="3-fold", seed=2)
    said = describe(model.with_validation(found))["validation"]
    assert (said["how"], said["seed"], said["rows"], said["stale"]) == ("3-fold", 2, 60, False)
    assert said["accuracy"] == found.evaluation.accuracy
    json.dumps(said, allow_nan=False)


def test_the_file_is_the_model(server: Server, tmp_path: Path) -> None:
    answer = server.get("/models/ages/file")
    (tmp_path / "got.tally").write_bytes(answer.content)
    assert tb.load(tmp_path / "got.tally") == ages()
    assert 'filename="ages.tally"' in answer.headers["content-disposition"]


def test_live_and_counted(server: Server) -> None:
    assert server.get("/healthz").json() == {"status": "ok"}
    server.post("/models/weather/predict", [ROW])
    text = server.get("/metrics").text
    assert 'tally_requests_total{route="/models/{name}/predict",status="200"}' in text
    assert 'tally_rows_total{model="weather",operation="predict"}' in text


def test_the_page_is_strict(server: Server) -> None:
    answer = server.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert httpx.get(server.url + "/page/index.html").status_code == 200
    assert httpx.get(server.url + "/page/..%2f..%2fserve.py").status_code == 404
