"""Transcripts of each command on the weather data, complete if short."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.cli import predict
from tallybayes.cli.validate import _REQUIRED
from tallybayes.evaluation.figures import FIGURES

from .shell import WEATHER, Shell


def test_version_and_help(tally: Shell) -> None:
    assert tally.done("--version") == f"tallybayes {tb.__version__}\n"
    shown = tally.done("--help")
    assert shown == tally.done("")
    for name in ("fit", "predict", "validate", "evaluate", "show", "explain", "report", "learn", "forget", "merge"):
        assert f"\n  {name} " in shown
    assert "--install-completion" in shown


def test_fit_saves_the_model_that_python_fits(tally: Shell) -> None:
    ran = tally("fit weather.csv --label play")
    assert ran.out == (
        "Model of 'play': 2 classes, 4 columns (categorical, histogram), 14 rows\nSaved to weather.tally.\n"
    )
    assert ran.err == ("tally: next: tally show weather.tally\ntally: next: tally validate weather.csv --label play\n")
    assert tb.load("weather.tally") == tb.fit("weather.csv", "play")


def test_every_option_of_fit_reaches_it(tally: Shell) -> None:
    rows = WEATHER.replace("96,", "?,").splitlines()
    text = "\n".join([f"{rows[0]},w"] + [f"{row},{1 + k % 2}" for k, row in enumerate(rows[1:])])
    Path("w.csv").write_text(text + "\n")
    tally.done(
        "fit w.csv --label play --event temperature=lognormal --event 'h*=gaussian' --drop windy --weight w "
        "--missing '?' --estimate map --alpha outlook=2 --alpha '*=0.5' --prior yes=0.3,no=0.7 --variance n-1 "
        "--floor 1e-6 "
        "--no-calibrate --missing-as category --unseen skip --threads 1 --errors replace -o all.tally"
    )
    assert tb.load("all.tally") == tb.fit(
        "w.csv",
        "play",
        events={"temperature": "lognormal", "h*": "gaussian", "windy": "ignore"},
        weights="w",
        missing_values=["?"],
        estimate="map",
        alpha={"outlook": 2.0, "*": 0.5},
        prior={"yes": 0.3, "no": 0.7},
        variance="n-1",
        floor=1e-6,
        calibrate=None,
        missing="category",
        unseen="skip",
    )


def test_one_event_model_for_all_columns(tally: Shell) -> None:
    Path("bits.csv").write_text("a,b,y\n0,200,1\n130,0,2\n200,255,2\n")
    tally.done(
        "fit bits.csv --label y --event 'bernoulli(threshold=127)' --alpha loo --prior 1=0.5,2=0.5 -o bits.tally"
    )
    found = tb.load("bits.tally")
    assert found.schema.events() == {"a": "bernoulli(threshold=127)", "b": "bernoulli(threshold=127)"}
    assert found.choices.prior == {1: 0.5, 2: 0.5}


def test_the_label_is_guessed_and_reported(tally: Shell) -> None:
    assert "label: 'play' looks like the class; set another with --label." in tally("fit weather.csv").err
    assert tb.load("weather.tally").schema.label == "play"


PREDICTED = """\
outlook,temperature,humidity,windy,predicted,P(no),P(yes)
sunny,66,90,true,no,0.79210,0.20790
overcast,70,,false,yes,0,1
"""


def test_predict_writes_the_rows_and_the_answers(tally: Shell) -> None:
    tally.done("fit weather.csv -l play --estimate mle --variance n-1 --no-calibrate -o t.tally")
    lines = [line.split(",") for line in tally.done("predict t.tally days.csv").splitlines()]
    rounded = [[f"{float(cell):.5f}" if "." in cell else cell for cell in line] for line in lines]
    assert "\n".join(map(",".join, rounded)) + "\n" == PREDICTED


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.csv.gz", "a.parquet", "a.arrow"])
def test_predict_writes_files_of_all_kinds(tally: Shell, model: str, name: str) -> None:
    assert tally.done(f"predict {model} days.csv --only --threshold yes=0.6 -o {name}") == ""
    source = tb.read(name)
    found = pa.Table.from_batches(list(source), source.schema)
    assert found.column_names == ["predicted", "P(no)", "P(yes)"]
    assert found.column("predicted").to_pylist() == ["no", "yes"]
    want = tb.load(model).predict_proba("days.csv")
    np.testing.assert_array_equal(found.column("P(yes)").to_numpy(), want[:, 1])


def test_predict_decides_by_its_options(tally: Shell, model: str) -> None:
    def said(options: str) -> list[str | None]:
        lines = tally.done(f"predict {model} days.csv --only --json {options}").splitlines()
        return [json.loads(line)["predicted"] for line in lines]

    assert said("") == ["yes", "yes"]
    assert said("--threshold yes=0.6") == ["no", "yes"]
    assert said("--costs '0,1;5,0'") == ["no", "no"]
    assert said("--abstain 0.7") == [None, "yes"]
    assert said("--confidence 0.95") == [None, None]
    bounds = json.loads(tally.done(f"predict {model} days.csv --only --json --interval 0.95").splitlines()[0])
    found = tb.load(model).predict_interval("days.csv")
    assert (bounds["low(no)"], bounds["high(no)"]) == (found.low[0, 0], found.high[0, 0])


def test_what_needs_quotation_marks_has_them(tally: Shell) -> None:
    Path("t.csv").write_text('text,y\n"one, two ""three""",a\nplain,b\n"one, four",a\nplain,b\n')
    tally.done("fit t.csv --label y --event text=text -o t.tally")
    Path("out.csv").write_text(tally.done("predict t.tally t.csv"))
    rows = [row for batch in tb.read("out.csv") for row in batch.to_pylist()]
    assert rows[0]["text"] == 'one, two "three"'
    assert [row["predicted"] for row in rows] == ["a", "b", "a", "b"]


def test_many_classes_are_predicted_a_few_rows_at_a_time(
    tally: Shell, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = tally.done(f"predict {model} weather.csv")
    monkeypatch.setattr(predict, "_CELLS", 6)  # three rows of two classes
    assert tally.done(f"predict {model} weather.csv") == want


def test_of_many_classes_the_first_are_shown(tally: Shell) -> None:
    rows = [f"{k % 7},class {k % 400:03}" for k in range(800)]
    Path("many.csv").write_text("\n".join(["x,y", *rows]))
    tally.done("fit many.csv --label y --event x=categorical -o many.tally")
    shown = tally.done("show many.tally").splitlines()
    assert sum(line.startswith("class ") for line in shown) == 200
    assert "And 200 more; --json has all." in shown
    assert len(json.loads(tally.done("show many.tally --json"))["classes"]) == 400


def test_predict_streams_batch_by_batch(tally: Shell, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tallybayes.sources import parquet

    table = pa.Table.from_batches(list(tb.read("weather.csv")))
    pq.write_table(pa.concat_tables([table] * 300), "many.parquet")
    monkeypatch.setattr(parquet, "BATCH_BYTES", 1 << 14)
    tally.done(f"predict {model} many.parquet --only -o answers.parquet")
    assert pq.ParquetFile("answers.parquet").metadata.num_row_groups > 1
    want = tb.load(model).predict("weather.csv").tolist() * 300
    assert pq.read_table("answers.parquet").column("predicted").to_pylist() == want


def test_validate_prints_the_figures_and_checks_them(tally: Shell) -> None:
    want = tb.validate("weather.csv", "play", "loo")
    assert tally.done("validate weather.csv --label play --how loo") == f"{want}\n"
    assert json.loads(tally.done("validate weather.csv --label play --how loo --json")) == want.summary()
    assert json.loads(tally.done("validate weather.csv --label play --how loo --json --rows")) == want.to_dict()
    ran = tally("validate weather.csv --label play --how loo --require accuracy=0.9 --require log_loss=0.1")
    figures = want.evaluation
    assert ran.code == 1
    assert ran.out == f"{want}\n"
    assert ran.err.splitlines() == [
        f"tally: accuracy is {figures.accuracy:.4g}, at least 0.9 was required.",
        f"tally: log_loss is {figures.log_loss:.4g}, at most 0.1 was required.",
    ]
    tally.done("validate weather.csv --label play --how loo --require accuracy=0.5 --require log_loss=0.9")


def test_validate_with_groups_folds_and_order(tally: Shell) -> None:
    rows = WEATHER.splitlines()
    Path("g.csv").write_text(
        "\n".join([f"{rows[0]},part"] + [f"{row},{k % 3}" for k, row in enumerate(rows[1:])]) + "\n"
    )
    for option, keyword in (("--groups part --how loo", "groups"), ("--folds part", "folds")):
        want = tb.validate("g.csv", "play", "loo" if keyword == "groups" else "10-fold", **{keyword: "part"})
        assert tally.done(f"validate g.csv --label play {option}") == f"{want}\n"
    want = tb.validate("g.csv", "play", "prequential", order="temperature")
    assert tally.done("validate g.csv --label play --how prequential --order temperature") == f"{want}\n"


def test_evaluate_a_model_and_a_file_of_its_answers_alike(tally: Shell, model: str) -> None:
    by_model = tally.done(f"evaluate {model} weather.csv")
    tally.done(f"predict {model} weather.csv -o answers.csv")
    assert tally.done("evaluate answers.csv --label play") == by_model
    loaded = tb.load(model)
    true = [row.split(",")[-1] for row in WEATHER.splitlines()[1:]]
    want = tb.evaluate(true, loaded.predict_proba("weather.csv"), loaded.classes, costs=[[0, 5], [1, 0]], positive="no")
    options = "--costs '0,5;1,0' --positive no --json"
    assert json.loads(tally.done(f"evaluate answers.csv --label play {options}")) == want.to_dict()
    assert json.loads(tally.done(f"evaluate {model} weather.csv {options}")) == want.to_dict()
    assert tally(f"evaluate {model} weather.csv --require log_loss=0.01").code == 1


def test_evaluate_classes_alone(tally: Shell) -> None:
    Path("said.csv").write_text("play,predicted\nyes,yes\nyes,no\nno,no\n")
    assert json.loads(tally.done("evaluate said.csv --label play --json"))["matrix"] == [[1.0, 0.0], [1.0, 1.0]]
    assert "wanted a figure that needs no probabilities" in tally("evaluate said.csv -l play --require log_loss=1").err


def test_show_has_the_figures_of_a_validation(tally: Shell, model: str) -> None:
    assert "Validation" not in tally.done(f"show {model}")
    assert "validation" not in json.loads(tally.done(f"show {model} --json"))
    plain = tb.load(model)
    found = plain.validate("weather.csv", how="7-fold", seed=3)
    plain.with_validation(found).save("seen.tally")
    shown = tally.done("show seen.tally")
    assert f"accuracy {found.evaluation.accuracy:.4f} by 7-fold" in shown
    assert "Validation by 7-fold, seed 3" in shown
    assert json.loads(tally.done("show seen.tally --json"))["validation"]["rows"] == 14


def test_show_has_classes_columns_choices_calibration_and_tables(tally: Shell, model: str) -> None:
    shown = tally.done(f"show {model}")
    loaded = tb.load(model)
    for part in (loaded.tables().prior, loaded.table("outlook"), loaded.table("temperature")):
        assert f"{part}\n" in shown
    for line in ("outlook       categorical", "estimate    bayes", "rows left out         14"):
        assert line in shown
    assert tally.done(f"show {model} --column outlook") == f"{loaded.table('outlook')}\n"
    told = json.loads(tally.done(f"show {model} --json"))
    assert told["classes"] == ["no", "yes"]
    assert told["rows"] == 14
    assert told["events"]["humidity"] == "histogram"
    assert_weights_are_shown(shown, told, loaded)
    assert tally.done(f"show {model} --nomogram") == f"{loaded.nomogram()}\n"
    assert tally.done(f"show {model} --importance") == f"{loaded.importance()}\n"


def assert_weights_are_shown(shown: str, told: dict[str, Any], model: tb.Model) -> None:
    """Each column is in the table of weights, highest first; bias and losses are shown too."""
    assert model.calibration is not None
    assert model.calibration.weights is not None
    found = model.calibration.weights.columns
    weights = {name: found[name].weight for name in model.schema.columns}
    ranked = sorted(weights, key=lambda name: -weights[name])
    lines = shown[shown.index("Weights of columns") :].splitlines()[3:]
    assert [line.split() for line in lines[: len(ranked)]] == [[name, f"{weights[name]:.2f}"] for name in ranked]
    assert lines[len(ranked)].endswith("below 1 it repeats other columns.")
    assert lines[len(ranked) + 1].startswith("Bias, added to the log of the prior: no ")
    assert told["weights"]["columns"] == weights
    assert list(told["weights"]["bias"]) == ["no", "yes"]
    for name, loss in (("before", model.calibration.before), ("after", model.calibration.after)):
        assert f"log-loss {name:<6}   {loss:.4f}\n" in shown
    assert "temperature:" not in shown


def test_show_ranks_columns_by_their_weights(tally: Shell) -> None:
    head, *rows = WEATHER.splitlines()
    Path("many.csv").write_text("\n".join([head, *(rows * 5)]) + "\n")  # with fewer than 50 rows all weights are equal
    tally.done("fit many.csv -l play -o many.tally")
    loaded = tb.load("many.tally")
    told = json.loads(tally.done("show many.tally --json"))
    assert len(set(told["weights"]["columns"].values())) > 2
    assert_weights_are_shown(tally.done("show many.tally"), told, loaded)


def test_show_has_no_weights_without_calibration(tally: Shell) -> None:
    tally.done("fit weather.csv -l play --no-calibrate -o plain.tally")
    assert "Weights" not in tally.done("show plain.tally")
    assert json.loads(tally.done("show plain.tally --json"))["weights"] is None


def test_explain_takes_pairs_json_text_and_a_row_of_a_file(tally: Shell, model: str) -> None:
    loaded = tb.load(model)
    day = {"outlook": "sunny", "temperature": 66, "humidity": 90, "windy": True}
    want = f"{loaded.explain(day)}\n"
    assert tally.done(f"explain {model} outlook=sunny temperature=66 humidity=90 windy=true") == want
    assert tally.done(f"explain {model} days.csv:1") == want
    assert tally.done(f"explain {model} '{json.dumps(day)}'") == want
    against = f"{loaded.explain({'outlook': 'rainy'}, of='yes', against='no')}\n"
    assert tally.done(f"explain {model} outlook=rainy --of yes --against no") == against
    Path("t.csv").write_text(
        "text,y\nwin a big prize now,spam\nsee you at lunch then,ham\nwin big cash today now,spam\n"
    )
    tally.done("fit t.csv --label y --event text=text -o t.tally")
    assert tally.done("explain t.tally win at lunch") == f"{tb.load('t.tally').explain({'text': 'win at lunch'})}\n"


def test_learn_forget_and_merge_are_exact(tally: Shell, model: str) -> None:
    once = tb.load(model)
    out = tally.done(f"learn {model} week.csv -o more.tally")
    assert out.endswith("19 rows, calibrated before the last change\nSaved to more.tally.\n")
    assert tb.load("more.tally") == once.learn("week.csv")
    tally.done("forget more.tally week.csv -o back.tally")
    assert tb.load("back.tally").evidence == once.evidence
    tally.done(f"merge {model} more.tally -o sum.tally")
    assert tb.load("sum.tally") == once + once.learn("week.csv")
    tally.done("forget more.tally week.csv --calibrate weather.csv --force")
    assert tb.load("more.tally") == once


def test_sample_draws_what_python_draws(tally: Shell, model: str) -> None:
    loaded = tb.load(model)
    drawn = loaded.sample(5, {"play": "yes", "windy": True}, seed=3)
    lines = tally.done(f"sample {model} -n 5 --given play=yes --given windy=true --seed 3 --json").splitlines()
    assert [json.loads(line) for line in lines] == drawn.to_pylist()
    tally.done(f"sample {model} -n 7 -o seven.parquet")
    assert pq.read_table("seven.parquet").equals(loaded.sample(7).replace_schema_metadata())


def test_query_counts_rows_and_asks_models(tally: Shell, model: str) -> None:
    assert tally.done("query weather.csv 'play=yes | outlook=sunny'") == (
        "P(play=yes | outlook=sunny) = 0.4000\n\n2 of 5 rows; between 0.1176 and 0.7693 at 95 %.\n"
    )
    want = tb.load(model).probability("play=yes | outlook=sunny", level=0.9)
    assert tally.done(f"query {model} 'play=yes | outlook=sunny' --level 0.9") == f"{want}\n"
    asked = json.loads(tally.done("query weather.csv 'temperature>70' --interval beta --json"))
    assert (asked["hits"], asked["total"]) == (9, 14)


def without_times(text: str) -> str:
    return re.sub(r" +\d+\.\d s$", " s", text, flags=re.MULTILINE)


def test_compare_ends_with_a_recommendation(tally: Shell) -> None:
    want = tb.compare("weather.csv", "play", "5-fold", partners=("ridge",))
    ran = tally("compare weather.csv --label play --how 5-fold --partner ridge")
    assert without_times(ran.out) == without_times(f"{want}\n")
    assert ran.out.endswith(f"{want.recommendation}\n")
    assert ran.err.startswith("tally: next: tally fit weather.csv --label play")
    names = [
        one["name"] for one in json.loads(tally.done("compare weather.csv -l play --partner none --json"))["candidates"]
    ]
    assert "logistic regression (ridge)" not in names


LOOK = """\
weather.csv: 14 rows, 5 columns
column        taken as      values   missing   such as
────────────────────────────────────────────────────────────────────────────────────
outlook       categorical        3         0   sunny, overcast, rainy
temperature   histogram         12         0   85, 80, 83
humidity      histogram         10         0   85, 90, 86
windy         categorical        2         0   false, true
play          label              2         0   no, yes                  ← the class?
'play' looks like the class: yes 9, no 5.
Next:
  tally report weather.csv --label play
  tally fit weather.csv --label play
  tally validate weather.csv --label play
"""


def test_data_alone_is_looked_at(tally: Shell) -> None:
    assert tally.done("weather.csv") == tally.done("look weather.csv") == LOOK


def test_a_look_notices_what_is_an_id_and_what_never_changes(tally: Shell) -> None:
    rows = "".join(f"{k},same,{k % 2}\n" for k in range(40))
    Path("ids.csv").write_text(f"id,c,class\n{rows}")
    told = json.loads(tally.done("ids.csv --json"))
    remark = "an id? a different value in each row, and called an id"
    assert [one["remark"] for one in told["columns"]] == [remark, "always the same", "← the class?"]
    assert [one["event"] for one in told["columns"]] == ["not used", "categorical", "label"]
    assert told["commands"][1] == "tally fit ids.csv --label class"
    Path("none.csv").write_text("a,b\n1.5,2.5\n3.5,4.5\n")
    assert "No column looks like a class" in tally.done("none.csv")


def test_standard_input_of_all_kinds(tally: Shell) -> None:
    want = tb.fit("weather.csv", "play")
    table = pa.Table.from_batches(list(tb.read("weather.csv")))
    lines = "".join(f"{json.dumps(row)}\n" for row in table.to_pylist()).encode()
    parquet, arrow = pa.BufferOutputStream(), pa.BufferOutputStream()
    pq.write_table(table, parquet)
    with pa.ipc.new_stream(arrow, table.schema) as writer:
        writer.write_table(table)
    kinds = [WEATHER.encode(), gzip.compress(WEATHER.encode()), lines, parquet.getvalue(), arrow.getvalue()]
    for k, content in enumerate(kinds):
        tally.done(f"fit - --label play -o {k}.tally", stdin=bytes(content))
        assert tb.load(f"{k}.tally").evidence == want.evidence
    semicolons = WEATHER.replace(",", ";").encode()
    assert "values are separated by ';', not by ','." in tally("fit - --label play -o s.tally", stdin=semicolons).err
    assert tally.done("query - 'play=yes' --format csv", stdin=WEATHER.encode()).startswith("P(play=yes) = 0.6429")


def test_weka_s_files_by_name_and_from_a_pipe(tally: Shell) -> None:
    head = "@relation weather\n@attribute outlook {sunny, overcast, rainy}\n@attribute temperature numeric\n"
    head += "@attribute humidity numeric\n@attribute windy {true, false}\n@attribute play {yes, no}\n@data\n"
    text = head + "\n".join(WEATHER.splitlines()[1:]) + "\n"
    Path("weather.arff").write_text(text)
    tally.done("fit weather.arff --label play -o a.tally")
    tally.done("fit - --label play -o b.tally", stdin=text.encode())
    assert tb.load("a.tally") == tb.load("b.tally")
    # The same numbers; windy is text here and a boolean in the csv file.
    scores = tb.fit("weather.csv", "play").log_joint("weather.csv")
    np.testing.assert_allclose(tb.load("a.tally").log_joint("weather.arff"), scores, rtol=1e-12)


def test_many_files_and_globs_are_one(tally: Shell) -> None:
    head, *rows = WEATHER.splitlines()
    for k, part in enumerate((rows[:5], rows[5:])):
        Path(f"part{k}.csv").write_text("\n".join([head, *part]) + "\n")
    want = tb.fit("weather.csv", "play")
    tally.done("fit 'part*.csv' --label play -o glob.tally")
    tally.done("fit part0.csv part1.csv --label play -o list.tally")
    assert tb.load("glob.tally") == tb.load("list.tally") == want


def test_a_file_without_an_ending_is_read_as_the_given_format(tally: Shell) -> None:
    Path("weather.csv").rename("weather")
    tally.done("fit weather --format csv --label play -o m.tally")
    assert tb.load("m.tally").evidence.rows.sum().to_float() == 14


def test_a_column_that_turns_to_text_late_is_read_again(tally: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from tallybayes.sources import files

    monkeypatch.setattr(files, "SAMPLE_BYTES", 64)
    monkeypatch.setattr(files, "LEAST_SAMPLE", 64)
    Path("late.csv").write_text("x,y\n" + "1,a\n2,b\n" * 50 + "oops,a\nwell,b\n")
    tally.done("fit late.csv --label y -o late.tally")
    assert tb.load("late.tally").schema.events() == {"x": "categorical"}
    tally.done("predict late.tally late.csv -o out.csv")
    answers = Path("out.csv").read_text()
    assert len(answers.splitlines()) == 103
    Path("few.csv").write_text("x\n1\n2\n")  # text in the model, whatever these look like
    assert tally.done("predict late.tally few.csv --only").splitlines()[1:] == [
        line.split(",", 2)[2] for line in answers.splitlines()[1:3]
    ]


def test_rows_already_written_are_not_written_again(tally: Shell, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tallybayes.sources import csv, files

    rows = WEATHER.splitlines()
    text = "\n".join([f"{rows[0]},note"] + [f"{row},{k}" for k, row in enumerate(rows[1:] * 20)])
    Path("noted.csv").write_text(f"{text}\n{rows[1]},late\n")
    whole = tally.done(f"predict {model} noted.csv")
    for where, name, size in ((files, "SAMPLE_BYTES", 64), (files, "LEAST_SAMPLE", 64), (csv, "PIECE", 500)):
        monkeypatch.setattr(where, name, size)
    assert tally.done(f"predict {model} noted.csv") == whole


def test_results_go_to_files_of_text_and_of_json(tally: Shell) -> None:
    assert tally.done("query weather.csv play=yes -o answer.json") == ""
    assert json.loads(Path("answer.json").read_text())["hits"] == 9
    tally.done("query weather.csv play=yes -o answer.txt")
    assert Path("answer.txt").read_text().startswith("P(play=yes) = 0.6429\n")


def test_the_positive_class_is_chosen_and_figures_of_it_are_required(tally: Shell) -> None:
    want = replace(tb.validate("weather.csv", "play", "loo"), positive="no")
    shown = tally.done("validate weather.csv -l play --how loo --positive no")
    assert shown == f"{want}\n"
    for title in ("AUC of no", "average precision of no", "F1 of no", "macro F1"):
        assert f"\n{title} " in shown
    said = json.loads(tally.done("validate weather.csv -l play --how loo --positive no --json"))
    assert said["figures"]["f1"]["overall"] == pytest.approx(want.evaluation["no"].f1)
    ran = tally("validate weather.csv -l play --how loo --positive no --require average_precision=0.99")
    assert (ran.code, "average_precision is " in ran.err) == (1, True)
    assert tally("validate weather.csv -l play --how loo --require macro_f1=0.01 --require f1=0.01").code == 0
    assert tally.refused("validate weather.csv -l play --positive perhaps").startswith("--positive: wanted a class")


def test_the_help_of_require_names_every_figure() -> None:
    assert [name.strip() for name in _REQUIRED.split(",")] == list(FIGURES)


def test_select_keeps_the_columns_that_the_model_keeps(tally: Shell, model: str) -> None:
    loaded = tb.load(model)
    out = tally.done("select weather.tally weather.csv -n 2 -o two.tally")
    want = loaded.select(2, rows="weather.csv")
    kept = list(want.schema.columns)
    assert f"Kept: {', '.join(kept)}.\n" in out
    assert tb.load("two.tally").evidence == want.evidence
    assert tb.load("two.tally").calibration is not None
    assert not tb.load("two.tally").calibration.stale
    tally.done("select weather.tally -n 1 -o one.tally")
    assert tb.load("one.tally").evidence == loaded.select(1).evidence
    tally.done("select weather.tally --column 'h*' --column windy -o named.tally")
    assert set(tb.load("named.tally").schema.columns) == {"humidity", "windy"}
    assert tally.refused("select weather.tally -o x.tally").startswith("select: wanted DATA to choose by")
    assert tally.refused("select weather.tally -c windy -n 1 -o x.tally").startswith("--column: wanted no DATA")


def test_dependence_is_that_of_python(tally: Shell, model: str) -> None:
    assert tally.done("dependence weather.csv --label play") == f"{tb.dependence('weather.csv', 'play')}\n"
    some = tally.done("dependence weather.tally weather.csv -c outlook -c 'h*'")
    assert some == f"{tb.load(model).dependence('weather.csv', columns=['outlook', 'humidity'])}\n"


def test_drift_is_that_of_python(tally: Shell, model: str) -> None:
    assert tally.done("drift weather.tally week.csv") == f"{tb.load(model).drift('week.csv')}\n"
    rows = ["outlook,temperature,humidity,windy", *["rainy,50,99,true"] * 40]
    Path("wet.csv").write_text("\n".join(rows))
    found = json.loads(tally.done("drift weather.tally wet.csv --json"))
    assert found == tb.load(model).drift("wet.csv").to_dict()
    assert (found["classes"], found["enough"], found["new_rows"]) == (None, False, 40)
    report = json.loads(tally.done("report weather.tally weather.csv --new wet.csv --json"))
    assert report["drift"] == found
    assert tally.refused("drift weather.tally nowhere.csv").startswith("nowhere.csv: wanted a file")


def test_nomogram_of_a_class(tally: Shell, model: str) -> None:
    assert tally.done("show weather.tally --nomogram --positive no") == f"{tb.load(model).nomogram('no')}\n"


def test_predict_writes_chosen_input_columns(tally: Shell, model: str) -> None:
    header = tally.done("predict weather.tally days.csv --columns 'h*' --columns outlook").splitlines()[0]
    assert header == "outlook,humidity,predicted,P(no),P(yes)"
    assert tally.refused("predict weather.tally days.csv --columns wind").startswith("--columns: wanted input columns")


def test_show_counts_the_parameters_of_a_structure(tally: Shell, model: str) -> None:
    tally.done("fit weather.csv -l play --structure joint -e *=categorical -o joint.tally")
    told = tally.done("show joint.tally")
    assert "Free parameters" in told
    assert "with interactions" in told
    assert "full joint" in told
    found = json.loads(tally.done("show joint.tally --json"))["parameters"]
    assert found["naive"] < found["joint"]
    assert "Free parameters" not in tally.done(f"show {model}")
