"""The figures of a report equal those of the functions it uses."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy.sparse import csr_matrix

import tallybayes as tb
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, BadOption
from tallybayes.reporting import first_pass, report
from tallybayes.reporting.page import Charts
from tallybayes.reporting.performance import COSTS
from tallybayes.reporting.sections.quality import the_costs

from .rows import flowers, mixed, patients, without_notes


def test_the_package_can_be_called_like_the_function() -> None:
    assert tb.report(without_notes(40), "state").label == report(without_notes(40), "state").label == "state"


def test_the_answer_is_that_of_the_validation() -> None:
    seen = tb.validate(without_notes(), "state", "10-fold")
    answer = mixed().answer
    assert answer.how == "10-fold"
    assert answer["accuracy"].value == seen.evaluation.accuracy
    assert answer["log-loss"].value == pytest.approx(seen.evaluation.log_loss, abs=1e-12)
    assert answer["sensitivity"].value == seen.evaluation["well"].sensitivity
    assert answer["specificity"].value == seen.evaluation["well"].specificity
    assert answer["AUC"].value == seen.evaluation.roc.auc
    assert (answer["AUC"].low, answer["AUC"].high) == seen.evaluation.roc.interval()
    assert (answer["accuracy"].low, answer["accuracy"].high) == seen.evaluation.accuracy_interval()


def test_the_majority_is_what_looking_at_nothing_reaches() -> None:
    labels = without_notes()["state"]
    share = labels.count("well") / len(labels)
    answer = mixed().answer
    assert answer.majority == "well"
    assert answer["accuracy"].plain == pytest.approx(share)
    assert answer["log-loss"].plain == pytest.approx(-share * np.log(share) - (1 - share) * np.log(1 - share))
    assert (answer["sensitivity"].plain, answer["specificity"].plain) == (1.0, 0.0)


def test_ten_fold_shows_how_far_figures_vary() -> None:
    rows = without_notes()
    answer = tb.report(rows, "state", how="10-fold").answer
    seen = tb.validate(rows, "state", "10-fold")
    assert answer["accuracy"].deviation == pytest.approx(seen.figures["accuracy"].over_folds)
    assert answer["log-loss"].deviation == pytest.approx(seen.figures["log_loss"].over_folds)
    assert "sd of folds" in str(answer)


@pytest.mark.parametrize(("rows", "how"), [(50, "loo"), (51, "10-fold")])
def test_up_to_50_rows_are_left_out_one_by_one_and_more_are_cut_into_ten_folds(rows: int, how: str) -> None:
    answer = tb.report(without_notes(rows), "state").answer
    assert answer.how == how
    assert answer["accuracy"].value == tb.validate(without_notes(rows), "state", how).evaluation.accuracy


def test_reliability_is_shown_before_and_after_calibration() -> None:
    rows = without_notes()
    rows["smoker again"] = rows["smoker"]
    answer = tb.report(rows, "state").answer
    raw = tb.validate(rows, "state", "10-fold", calibrate=None)
    wells = raw.labels == "well"
    assert answer.before.ece == pytest.approx(tb.evaluation.calibration(wells, raw.probabilities[:, 1]).ece)
    assert answer.calibrated
    assert not np.allclose(answer.before.confidence, answer.after.confidence)


@pytest.mark.parametrize("make", [mixed, flowers])
def test_every_step_of_the_slider_is_the_cheapest_point_of_its_costs(make: object) -> None:
    answer = make().answer  # type: ignore[operator]
    for name, steps in answer.costs.items():
        curve = answer.evaluation.curves[name]
        assert [(step.false_positive, step.false_negative) for step in steps] == list(COSTS)
        for step, costs in zip(steps, COSTS, strict=True):
            assert step.point == curve.operating_point(costs=costs)
            (x0, y0), (x1, y1) = step.line
            assert {0.0, 1.0} & {x0, y0}
            assert {0.0, 1.0} & {x1, y1}
            across = (x1 - x0) * (step.point.tpr - y0) - (y1 - y0) * (step.point.fpr - x0)
            assert across == pytest.approx(0, abs=1e-9)  # the point lies on its line


def test_tables_importance_weights_dependence_and_nomogram_are_the_models() -> None:
    rows, data = without_notes(), mixed()
    model = tb.fit(rows, "state")
    assert [one.column for one in data.tables] == model.importance(rows).ranking()
    for one in data.tables:
        assert (one.values == model.table(one.column).values).all()
    assert (data.importance.change == model.importance(rows).change).all()  # type: ignore[union-attr]
    assert data.weights.to_dict()["columns"] == {  # type: ignore[union-attr]
        name: one.weight
        for name, one in model.calibration.weights.columns.items()  # type: ignore[union-attr]
    }
    assert data.dependence.to_dict() == model.dependence(rows).to_dict()  # type: ignore[union-attr]
    drawn, whole, day = data.nomogram, model.nomogram("well", "ill"), {"age": 51.0, "smoker": "yes", "ward": "east"}
    assert drawn is not None
    assert drawn.probability(drawn.total(day)) == pytest.approx(whole.probability(whole.total(day)))
    assert (data.prior.rows == model.tables().prior.rows).all()


def test_densities_and_nomogram_stay_within_observed_values() -> None:
    rng = np.random.default_rng(3)
    y = np.array(["low", "high"])[rng.integers(0, 2, 400)]
    pay = np.where(y == "high", rng.lognormal(8, 1, 400), rng.lognormal(7, 1, 400))
    pay[:3] = 1e9  # tails so heavy that the whole range would show one bar
    size = rng.uniform(2.0, 3.0, 400)
    data = tb.report({"pay": pay, "size": size, "y": y}, "y", events="gaussian", how="5-fold")
    drawn = {one.column: np.array(one.profile.values, float) for one in data.tables}
    assert drawn["size"].min() == pytest.approx(size.min())
    assert drawn["size"].max() == pytest.approx(size.max())
    assert np.percentile(pay, 99) == pytest.approx(drawn["pay"].max())
    assert data.nomogram is not None
    scales = {one.column: one.values for one in data.nomogram.scales}
    assert size.min() <= min(scales["size"]) <= max(scales["size"]) <= size.max()
    assert max(scales["pay"]) <= drawn["pay"].max()
    [cut] = [one.cut for one in data.before.distributions if one.column == "pay"]
    assert cut


def test_densities_stand_over_histograms_that_count_every_row() -> None:
    found = mixed().histograms["age"]
    rows = without_notes()
    known = ~np.isnan(rows["age"])
    states = np.array(rows["state"])
    assert found.totals.tolist() == [(known & (states == name)).sum() for name in found.classes]
    assert found.counts.sum() == known.sum()
    assert (found.density * np.diff(found.edges)[:, None]).sum(axis=0).tolist() == pytest.approx([1, 1])


def test_the_worst_mistakes_are_explained_by_a_model_that_has_forgotten_them() -> None:
    exact: dict[str, Any] = {"events": {"age": "gaussian"}, "alpha": 1}  # leaving out is forgetting, to the last digit
    rows = without_notes()
    data, model = tb.report(rows, "state", how="loo", **exact), tb.fit(rows, "state", **exact)
    seen = tb.validate(rows, "state", "loo", **exact)
    own = seen.probabilities[np.arange(300), seen.class_codes]
    wrong = np.flatnonzero(seen.probabilities.argmax(axis=1) != seen.class_codes)
    expected = wrong[np.argsort(own[wrong], kind="stable")][:5] + 1
    assert [one.row for one in data.mistakes] == expected.tolist()
    first = data.mistakes[0]
    row = {name: values[first.row - 1] for name, values in rows.items()}
    row["age"] = None if np.isnan(row["age"]) else row["age"]
    asked = model.forget({name: [value] for name, value in row.items()}).explain(row)
    assert first.why.log_odds == pytest.approx(asked.log_odds)
    assert first.why.of == first.decided != first.true
    assert first.probability == pytest.approx(own[first.row - 1])
    assert first.why.probability == pytest.approx(1 - first.probability)  # two classes, left out


def test_a_learning_curve_is_one_of_the_same_choices() -> None:
    curve = mixed().learning
    assert curve is not None
    assert curve.models == ("naive Bayes", "ridge")
    assert curve.sizes[0] == 10


def test_a_report_is_plain_values() -> None:
    for data in (mixed(), flowers()):
        told = data.to_dict()
        assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["answer"]["figures"][0]["name"] == "accuracy"


def test_it_prints_itself() -> None:
    assert "accuracy" in str(mixed())
    assert repr(mixed()).startswith("Report on 'state': 300 rows")


def test_files_are_named_with_their_hashes(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    pa.csv.write_csv(pa.table(without_notes(60)), path)
    origin = tb.report(path, "state", missing_values=["?"]).origin
    assert origin.hashes == {"rows.csv": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert origin.options == {"missing_values": "['?']"}
    assert origin.version == tb.__version__
    assert "rows.csv" in origin.command


def test_the_same_seed_gives_the_same_page() -> None:
    one, other = (tb.report(without_notes(80), "state", seed=3).to_html() for _ in range(2))
    assert one == other


def test_threads_change_nothing() -> None:
    one, two = (tb.report(without_notes(120), "state", threads=k).to_dict() for k in (1, 2))
    assert one == two


@pytest.mark.parametrize("form", ["table", "stream", "batches"])
def test_the_form_of_the_rows_changes_nothing(form: str) -> None:
    table = pa.table(without_notes(120))
    given = {
        "table": table,
        "stream": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(50)),
        "batches": pa.Table.from_batches(table.to_batches(7)),
    }[form]
    expected = tb.report(table, "state", source="rows").to_dict()
    assert tb.report(given, "state", source="rows").to_dict() == expected


def test_rows_that_do_not_fit_are_read_again_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    pa.csv.write_csv(pa.table(without_notes(200)), path)
    expected = tb.report(path, "state").to_dict()
    monkeypatch.setattr("tallybayes.sources.buffer.KEPT_BYTES", 10)
    assert tb.report(path, "state").to_dict() == expected


def test_a_column_that_changes_its_type_late_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    early = "".join(
        f"{k % 7},{'yes' if k % 3 else 'no'},{'z' * 60}\n" for k in range(160_000)
    )  # more than is looked at
    path.write_text(f"x,y,z\n{early}" + "many,no,z\n")
    data = tb.report(path, "y", how="holdout", events={"z": "ignore"})
    assert data.facts[0].kind == "text"
    assert data.rows == 160_001


def test_weights_count_rows_several_times_and_none_at_all() -> None:
    rows = without_notes(100)
    weighted = {name: [*values, *values[:20], *values[:5]] for name, values in rows.items()}
    weights = [1.0] * 100 + [1.0] * 20 + [0.0] * 5
    twice = {name: [*values, *values[:20]] for name, values in rows.items()}
    ones = {"w": [1.0] * 120}
    # Calibration draws columns to drop by the order of hashes, which cover the weight: compare with weights of 1.
    for calibrate, other in ((None, twice), ("auto", twice | ones)):
        weighed = {"weights": "w"} if "w" in other else {}
        options = {"how": "loo", "calibrate": calibrate}  # folds would be drawn among all rows, also those of weight 0
        seen = tb.report(weighted | {"w": weights}, "state", weights="w", **options).answer
        plain = tb.report(other, "state", **weighed, **options).answer
        assert seen.rows == 120
        assert seen["accuracy"].value == pytest.approx(plain["accuracy"].value)
        assert seen["log-loss"].value == pytest.approx(plain["log-loss"].value)


def test_rows_that_a_model_has_learned_are_left_out_in_turn() -> None:
    rows = without_notes()
    given = tb.report(rows, model=tb.fit(rows, "state"))
    assert given.answer.to_dict() == mixed().answer.to_dict()


def test_rows_that_are_new_to_a_model_are_predicted() -> None:
    model = tb.fit(without_notes(), "state")
    new = {name: values for name, values in patients(150, seed=9).items() if name != "note"}
    data = tb.report(new, model=model)
    seen = tb.evaluate(new["state"], model.predict_proba(new), model.classes)
    assert data.answer.how == "new rows"
    assert data.answer["log-loss"].value == pytest.approx(seen.log_loss)
    assert data.answer["accuracy"].value == seen.accuracy
    assert data.remarks[0].kind == "new rows"
    assert data.importance.change is None
    assert data.mistakes[0].why.log_odds == pytest.approx(
        model.explain({name: values[data.mistakes[0].row - 1] for name, values in new.items()}).log_odds
    )


def test_arrays_sparse_rows_and_texts_have_reports() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    dense = tb.report(rng.normal(size=(200, 4)) + y[:, None], y)
    assert [one.kind for one in dense.facts] == ["numbers"] * 4
    counts = csr_matrix(rng.poisson(0.3, (200, 60)) + (np.arange(60) % 3 == y[:, None]))
    assert tb.report(counts, y).answer["accuracy"].value > 0.9
    texts = tb.report({name: patients()[name] for name in ("note", "state")}, "state")
    assert texts.dependence is None
    assert texts.tables[0].event == "text"


def test_wide_tables_and_many_classes_are_cut_with_a_note() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    wide = tb.report(rng.normal(size=(150, 450)) + 0.5 * y[:, None], y)
    assert (wide.columns, len(wide.facts), len(wide.tables)) == (450, 60, 24)
    assert any("450 columns" in sentence for sentence in wide.left_out)
    many = tb.report({"x": rng.normal(size=900), "y": rng.integers(0, 90, 900).astype(float)}, "y")
    assert many.remarks[0].kind == "classes"
    assert len(many.to_html()) < 3_000_000


def test_more_classes_than_a_page_can_show_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(
        BadData, match=r"label 'y': wanted classes, got more than 1,000 values.*Cut numbers into ranges"
    ):
        tb.report({"x": rng.normal(size=1500), "y": rng.normal(size=1500)}, "y")


def test_a_sample_of_many_rows_is_bounded_and_drawn_from_all_of_them() -> None:
    x = np.arange(60_000)
    looked = first_pass.look_at(open_rows.labelled({"x": x, "y": x % 2}, "y", None), 0)
    drawn = looked.sample.column("x").to_numpy()
    assert len(drawn) == len(set(drawn.tolist())) == 20_000
    assert (np.diff(drawn) > 0).all()
    assert abs(drawn.mean() - 30_000) < 500


FEW = without_notes(20)
AB = {"x": [1.0, 2.0], "state": ["a", "b"]}


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: tb.report(FEW), BadOption, "report: wanted the label: a column, or the classes, got none"),
        (lambda: tb.report(FEW, "stat"), BadData, r"label: wanted a column of the dict, got 'stat'.*'state'"),
        (lambda: tb.report({"x": [1.0, 2.0], "y": ["a", "a"]}, "y"), BadData, "at least two classes, got only 'a'"),
        (lambda: tb.report({"x": [], "y": []}, "y"), BadData, "wanted rows to report on, got none"),
        (lambda: tb.report(FEW, "state", bogus=1), BadOption, "got 'bogus'"),
        (lambda: tb.report(FEW, "state", how="often"), BadOption, "how: wanted one of"),
        (lambda: tb.report(FEW, "state", "model.tally"), BadOption, "model: wanted a fitted Model, got a str"),
        (lambda: tb.report(FEW, model=tb.fit(FEW, "state"), alpha=2), BadOption, "got 'alpha'"),
        (
            lambda: tb.report({"x": [1.0], "state": ["dead"]}, model=tb.fit(AB, "state")),
            BadData,
            r"label 'state': wanted classes of the model \(a, b\), got 'dead'",
        ),
        (
            lambda: tb.report(without_notes(30), model=tb.fit(FEW, "state"), how="loo"),
            BadOption,
            "for rows that the model has not learned",
        ),
    ],
)
def test_rows_that_cannot_be_reported_raise_one_sentence(call: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()  # type: ignore[operator]


def test_a_report_of_a_query_does_not_name_the_connection() -> None:
    query = "select * from (values ('p', 'no'), ('q', 'yes')) as t(x, y), range(20)"
    data = tb.report(query, "y", connection="duckdb")
    assert data.rows == 40
    assert data.origin.hashes == {}
    assert "duckdb" not in data.to_html()


def test_the_named_class_is_singled_out_everywhere() -> None:
    rows = without_notes()
    named, usual = tb.report(rows, "state", positive="ill"), tb.report(rows, "state")
    assert (named.answer.positive, usual.answer.positive) == ("ill", "well")
    for one, other in (("sensitivity", "specificity"), ("specificity", "sensitivity"), ("AUC", "AUC")):
        assert named.answer[one].value == pytest.approx(usual.answer[other].value)
    assert list(named.answer.costs) == ["ill"]
    assert named.nomogram is not None
    assert (named.nomogram.of, named.nomogram.against) == ("ill", "well")
    mean, observed = named.answer.after.confidence, usual.answer.after.confidence[::-1]
    np.testing.assert_allclose(mean, 1 - observed)
    assert "sensitivity of ill" in named.to_html()
    model = tb.fit(rows, "state")
    other = tb.fit(rows, "state", events={"ward": "ignore"})
    assert [one.positive for one in tb.side_by_side(model, other, rows, positive="ill").answers] == ["ill", "ill"]
    new = tb.report(patients(90, seed=3) | {"note": [""] * 90}, "state", model, positive="ill")
    assert new.answer.positive == new.answer.evaluation.roc.positive == "ill"
    with pytest.raises(BadOption, match=r"positive: wanted one of the classes, got 'il'\. Did you mean 'ill'"):
        tb.report(rows, "state", positive="il")


def test_of_three_classes_one_may_be_singled_out() -> None:
    kinds = ["a"] * 60 + ["b"] * 40 + ["c"] * 20
    rows = {"x": [k % 5 + len(kind) for k, kind in enumerate(kinds)], "y": kinds}
    found = tb.report(rows, "y", positive="c")
    assert found.nomogram is not None
    assert (found.nomogram.of, found.nomogram.against) == ("c", "a")
    assert found.answer["sensitivity"].value == found.answer.evaluation["c"].sensitivity
    blocks = the_costs(found, Charts())["blocks"]
    assert [block["name"] for block in blocks] == ["c", "a", "b"]
    assert tb.report(rows, "y").answer.positive is None


def test_scales_of_heavy_tails_have_powers_of_ten() -> None:
    rng = np.random.default_rng(2)
    y = rng.choice(["no", "yes"], 500)
    pay = np.where(rng.random(500) < 0.4, 0.0, rng.lognormal(5 + (y == "yes"), 1.6, 500))
    found = tb.report({"pay": pay, "height": rng.normal(170, 9, 500), "y": y}, "y", how="2-fold")
    assert found.nomogram is not None
    pay_scale, height = (next(s for s in found.nomogram.scales if s.column == name) for name in ("pay", "height"))
    assert {0.0, 100.0, 1000.0} <= set(pay_scale.values)
    assert all(value == 0 or np.log10(value) == round(np.log10(value)) for value in pay_scale.values)
    assert len(np.unique(np.diff(height.values).round(9))) == 1
