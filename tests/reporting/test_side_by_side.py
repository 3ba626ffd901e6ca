"""Two models on one page."""

from __future__ import annotations

import base64
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.cli.main import main

from .rows import HOSTILE, two, without_notes


def test_the_better_model_is_named_with_its_error() -> None:
    found = two()
    assert found.better == HOSTILE
    assert found.difference < -2 * found.error < 0
    assert found.verdict().startswith(f"{HOSTILE} is better: its log-loss is lower by ")
    a, b = found.answers
    assert found.difference == pytest.approx(float(b.losses.mean() - a.losses.mean()))


def test_agreement_counts_every_row_once() -> None:
    found = two()
    a, b = found.answers
    assert sum(found.agreement) == found.rows == 300
    assert found.agreement.both + found.agreement.first == round(a["accuracy"].value * 300)
    assert found.agreement.both + found.agreement.second == round(b["accuracy"].value * 300)
    assert found.agreement.first + found.agreement.second == len(found.disagreements)


def test_the_figures_are_those_of_each_report() -> None:
    rows = without_notes()
    model = tb.fit(rows, "state")
    assert two().answers[1]["log-loss"].value == tb.report(rows, "state", model).answer["log-loss"].value


def test_equal_models_are_not_ranked() -> None:
    rows = without_notes()
    model = tb.fit(rows, "state")
    found = tb.side_by_side(model, model, rows)
    assert found.better is None
    assert "about equally good" in found.verdict()
    assert "They decide every row alike." in found.to_html()


def test_a_model_of_other_rows_is_judged_as_it_is_and_the_page_says_so() -> None:
    rows = without_notes()
    some = {name: list(values)[:100] for name, values in rows.items()}
    found = tb.side_by_side(tb.fit(some, "state"), tb.fit(rows, "state"), rows, names=("early", "all"))
    assert [one.how for one in found.answers] == ["new rows", "10-fold"]
    assert "all has learned exactly these rows" in found.remarks[0]


def test_an_infinite_loss_is_said_and_not_compared() -> None:
    rows = {"x": ["p", "p", "q", "q", "r", "r"] * 10, "y": ["a", "b", "a", "b", "a", "a"] * 10}
    new = {"x": ["r", "r", "p", "q"], "y": ["b", "a", "a", "b"]}
    plain = tb.fit(rows, "y", estimate="mle", calibrate=None)
    found = tb.side_by_side(plain, tb.fit(rows, "y"), new, "y", names=("plain", "default"))
    assert math.isinf(found.difference)
    assert found.verdict() == ("plain gives a true class probability 0 at least once, so its log-loss is infinite.")
    found.to_html()


def test_columns_and_options_that_differ_are_listed() -> None:
    found = two()
    bits = {one.column: one.bits for one in found.columns}
    assert bits["smoker"][0] is None
    assert found.columns[0].column == "smoker"
    assert ("columns", "2", "3") in found.options
    rows = without_notes()
    other = tb.side_by_side(tb.fit(rows, "state", structure="tan"), tb.fit(rows, "state", calibrate=None), rows)
    assert {"structure", "calibrate"} <= {name for name, _, _ in other.options}


def test_rows_that_differ_can_be_downloaded() -> None:
    page = two().to_html()
    [packed] = re.findall(r'download="differences.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
    lines = base64.b64decode(packed).decode().splitlines()
    assert len(lines) == len(two().disagreements) + 1
    assert HOSTILE not in page


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 3, 90)
    lines = [f"{['north', 'south', 'west'][k]},{k + rng.normal():.2f},{'late' if k > 1 else 'on time'}" for k in kinds]
    data = tmp_path / "trains.csv"
    data.write_text("region,delay,state\n" + "\n".join(lines) + "\n")
    a, b, page = tmp_path / "a.tally", tmp_path / "b.tally", tmp_path / "both.html"
    assert main(["fit", str(data), "--label", "state", "--drop", "region", "-o", str(a)]) == 0
    assert main(["fit", str(data), "--label", "state", "-o", str(b)]) == 0
    assert main(["report", str(a), str(b), str(data), "-o", str(page)]) == 0
    assert "Which predicts <em>state</em> better?" in page.read_text()
    capsys.readouterr()
    assert main(["report", str(a), str(b), str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["names"] == ["a.tally", "b.tally"]
    assert main(["report", str(a), str(a), str(data), "-o", str(page), "--force"]) == 2
    assert capsys.readouterr().err == f"tally: MODEL: wanted two different models, got {a} twice.\n"


def test_bad_input_is_one_sentence() -> None:
    rows = without_notes()
    model = tb.fit(rows, "state")
    other = {**rows, "state": ["better"] * 300}
    with pytest.raises(
        tb.errors.BadData, match=r"^A: label 'state': wanted classes of the model \(ill, well\), got 'better'"
    ):
        tb.side_by_side(model, model, other)
    with pytest.raises(tb.errors.BadOption, match=r"^second: wanted a fitted Model, got 'b.tally'"):
        tb.side_by_side(model, "b.tally", rows)  # type: ignore[arg-type]
    with pytest.raises(tb.errors.BadOption, match=r"^names: wanted two different names"):
        tb.side_by_side(model, model, rows, names=("a", "a"))


def test_to_arrow_has_the_figures_of_both() -> None:
    table = two().to_arrow()
    assert table.column_names == ["figure", "without.tally", HOSTILE]
    assert table.column(0).to_pylist()[0] == "accuracy"
    assert table.column(2)[0].as_py() == two().answers[1]["accuracy"].value
