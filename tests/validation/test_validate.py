"""Results of a validation, independent of how it is computed."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import tallybayes as tb
from tallybayes.errors import BadOption
from tallybayes.fitting import FitOptions
from tallybayes.validation import row_info as reading

HOWS = ["loo", "10-fold", "3x4", "holdout", "2xholdout(0.2)", "prequential"]


def some(n: int = 200, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    shift = np.array([{"a": 0.0, "b": 1.0, "c": 2.0}[c] for c in y])
    x = rng.normal(shift)
    town = np.where(rng.random(n) < 0.6, y, rng.choice(["a", "b", "c", "d"], n))
    return pa.table(
        {"x": x, "town": town, "group": rng.integers(0, 30, n), "y": y, "w": rng.choice([0.5, 1.0, 2.0], n)}
    )


@pytest.mark.parametrize("how", HOWS)
def test_batches_threads_and_files_do_not_show(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = some()
    plain = tb.validate(table, "y", how, weights="w", threads=1)
    cut = pa.Table.from_batches(table.to_batches(max_chunksize=17))
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=23)
    stream = pa.RecordBatchReader.from_batches(table.schema, cut.to_batches())
    for source, threads in ((table, 2), (cut, 2), (stream, 1), (tmp_path / "rows.parquet", 2)):
        seen = tb.validate(source, "y", how, weights="w", threads=threads)
        np.testing.assert_array_equal(seen.scores, plain.scores)
        np.testing.assert_array_equal(seen.folds, plain.folds)
    monkeypatch.setattr("tallybayes.sources.buffer.KEPT_BYTES", 0)
    monkeypatch.setattr(reading, "_PIECE_BYTES", 512)
    for source in (table, tmp_path / "rows.parquet"):
        seen = tb.validate(source, "y", how, weights="w")
        np.testing.assert_array_equal(seen.scores, plain.scores)


def test_a_file_whose_types_widen_late_is_validated(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("x,y\n" + "1,a\n2,b\n" * 300_000 + "2.5,a\n" * 40)
    seen = tb.validate(path, "y", "2-fold")
    assert len(seen.class_codes) == 600_040


@pytest.mark.parametrize("how", ["10-fold", "3x4", "2xholdout"])
def test_a_seed_gives_the_same_folds_and_another_gives_others(how: str) -> None:
    table = some()
    one, again, other = (tb.validate(table, "y", how, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.folds, again.folds)
    assert (one.folds != other.folds).any()
    assert one.seed == 1


def test_folds_have_the_same_share_of_each_class() -> None:
    seen = tb.validate(some(), "y", "7-fold")
    sizes = np.bincount(seen.folds)
    assert sizes.max() - sizes.min() <= 1
    for c in range(3):
        counts = np.bincount(seen.folds[seen.class_codes == c], minlength=7)
        assert counts.max() - counts.min() <= 1


def test_repeats_are_cut_differently() -> None:
    seen = tb.validate(some(), "y", "3x4")
    assert seen.scores.shape == (3, 200, 3)
    assert seen.folds.shape == (3, 200)
    assert (seen.folds[0] != seen.folds[1]).any()
    assert len(seen.by_fold) == 12
    assert len(seen.by_repeat) == 3


def test_a_holdout_holds_out_a_third_of_each_class() -> None:
    seen = tb.validate(some(), "y", "holdout")
    assert (seen.folds == 0).sum() == 67
    for c in range(3):
        mine = seen.folds[seen.class_codes == c]
        assert abs((mine == 0).sum() - len(mine) / 3) <= 1
    assert np.isnan(seen.scores[seen.folds < 0]).all()
    assert "133 rows were not scored" in seen.notes[0]
    assert (tb.validate(some(), "y", "holdout(0.25)").folds == 0).sum() == 50


@pytest.mark.parametrize("how", ["5-fold", "2x3", "holdout", "loo"])
def test_a_group_is_never_on_both_sides(how: str) -> None:
    table = some()
    seen = tb.validate(table, "y", how, groups="group")
    groups = table.column("group").to_numpy()
    for folds in seen.folds.reshape(seen.repeats, -1):
        for group in range(30):
            assert len(set(folds[groups == group])) == 1
    if how == "5-fold":
        assert np.bincount(seen.folds).min() > 30
    by_array = tb.validate(table.drop(["group"]), "y", how, groups=groups)
    np.testing.assert_array_equal(seen.scores, by_array.scores)


def test_columns_of_groups_folds_and_order_are_not_features() -> None:
    table = some()
    plain = tb.validate(table.drop(["group"]), "y", "loo")
    by_group = tb.validate(table, "y", "5-fold", groups="group")
    assert plain.scores.shape == by_group.scores.shape
    given = tb.validate(table.drop(["group"]), "y", folds=by_group.folds)
    np.testing.assert_array_equal(given.scores, by_group.scores)


def test_given_folds_keep_their_names() -> None:
    table = some().append_column("year", pa.array(np.repeat([2021, 2022, 2023, 2024], 50)))
    seen = tb.validate(table, "y", folds="year")
    assert seen.fold_names == (2021, 2022, 2023, 2024)
    assert seen.how == "given folds"
    assert len(seen.by_fold) == 4


def test_a_prequential_validation_goes_by_time() -> None:
    table = some()
    when = np.random.default_rng(0).permutation(200)
    seen = tb.validate(table, "y", "prequential(50)", order=when)
    np.testing.assert_array_equal(seen.folds, when // 50)
    assert np.isnan(seen.scores[when < 50]).all()
    assert seen.notes == ("50 rows were not scored: the first block, scored by nothing.",)
    sorted_first = tb.validate(table.take(pa.array(np.argsort(when))), "y", "prequential(50)")
    np.testing.assert_array_equal(seen.scores, sorted_first.scores[when])


@pytest.mark.parametrize("how", HOWS)
def test_a_model_validates_by_its_own_schema_and_choices(how: str) -> None:
    table = some()
    options: dict[str, Any] = {"events": {"x": "lognormal"}, "estimate": "map", "alpha": 0.5}
    table = table.set_column(0, "x", pa.array(np.exp(table.column("x").to_numpy())))
    model = tb.fit(table.slice(0, 50), "y", weights="w", **options)
    seen = model.validate(table, how=how)
    plain = tb.validate(table, "y", how, weights="w", **options)
    np.testing.assert_array_equal(seen.scores, plain.scores)
    renamed = table.rename_columns(["x", "town", "group", "class", "times"])
    by_name = model.validate(renamed, "class", how, weights="times", seed=0)
    np.testing.assert_array_equal(by_name.scores, plain.scores)


def test_arrays_sparse_rows_and_texts_are_validated() -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(1.0, (90, 6))
    y = rng.integers(0, 2, 90)
    for how in HOWS:
        dense = tb.validate(counts, y, how, events="multinomial")
        sparse = tb.validate(sp.csr_matrix(counts), y, how)
        np.testing.assert_allclose(dense.scores, sparse.scores, rtol=1e-12)
        words = [" ".join(f"word{f}" for f in range(6) for _ in range(row[f])) for row in counts]
        text = tb.validate(words, y, how)
        np.testing.assert_array_equal(text.folds, sparse.folds)


def test_rows_of_no_weight_are_scored_but_count_for_nothing() -> None:
    rows = {"x": [1.0, 2.0, 1.5, 7.0, 8.0, 7.5, 3.0], "y": ["a", "a", "a", "b", "b", "b", "never"]}
    for how in ("loo", "3-fold", "prequential(3)"):
        seen = tb.validate(rows, "y", how, weights=np.array([1.0, 1, 1, 1, 1, 1, 0]))
        assert seen.classes == ("a", "b")
        assert seen.labels[-1] is None
        assert seen.evaluation.rows <= 6


def test_a_class_of_one_row_is_scored_as_never_seen_and_reported() -> None:
    rows = {"x": [1.0, 2.0, 4.0, 5.0, 9.0], "y": ["a", "a", "b", "b", "c"]}
    for how in ("loo", "5-fold"):
        seen = tb.validate(rows, "y", how)
        assert seen.unknown.tolist() == [False, False, False, False, True]
        assert np.isneginf(seen.scores[4, 2])
        assert seen.probabilities[4, 2] == 0.0
        assert "1 row was scored by a model that did not know the class, and counted as wrong: 'c'." in seen.notes


def test_a_class_smaller_than_the_folds_is_noted() -> None:
    rows = {"x": np.arange(30.0), "y": ["a"] * 27 + ["b"] * 3}
    seen = tb.validate(rows, "y")
    assert seen.notes == ("Class 'b' has 3 rows, fewer than the 10 folds: some folds have none of it.",)


def test_a_row_that_is_impossible_gets_the_prior_of_the_model_that_scored_it() -> None:
    rows = {"x": ["p", "p", "q", "q", "r", "p"], "y": ["a", "a", "b", "b", "a", "a"]}
    for how in ("loo", "6-fold"):
        seen = tb.validate(rows, "y", how, estimate="mle", unseen="smooth")
        np.testing.assert_allclose(seen.probabilities[4], [3 / 5, 2 / 5])
        assert any("1 row was impossible under every class" in note for note in seen.notes)
        np.testing.assert_allclose(seen.probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("how", HOWS)
def test_the_result_is_plain_data_and_text(how: str) -> None:
    seen = tb.validate(some(), "y", how)
    kept = json.loads(json.dumps(seen.to_dict()))
    assert kept["how"] == how
    assert kept["seed"] == 0
    assert kept["figures"]["accuracy"]["overall"] == pytest.approx(seen.evaluation.accuracy)
    assert f"Validation by {how}: 200 rows, 3 classes, seed 0" in str(seen)
    assert repr(seen).startswith(f"Validation by {how}: 200 rows, 3 classes")


def test_figures_are_means_and_deviations_over_folds() -> None:
    seen = tb.validate(some(), "y", "3x4")
    accuracy = seen.figures["accuracy"]
    each = [one.accuracy for one in seen.by_fold]
    assert accuracy.mean == pytest.approx(np.mean(each))
    assert accuracy.over_folds == pytest.approx(np.std(each, ddof=1))
    assert accuracy.over_repeats == pytest.approx(np.std([one.accuracy for one in seen.by_repeat], ddof=1))
    assert accuracy.overall == pytest.approx(np.mean(seen.probabilities.argmax(axis=-1) == seen.class_codes))


def test_an_array_of_one_file_column_order_is_not_needed(tmp_path: Path) -> None:
    table = some()
    pa.csv.write_csv(table, tmp_path / "rows.csv")
    by_file = tb.validate(tmp_path / "rows.csv", "y", groups="group", weights="w")
    by_table = tb.validate(table, "y", groups="group", weights="w")
    np.testing.assert_allclose(by_file.scores, by_table.scores, rtol=1e-12)


def test_rows_are_read_as_fit_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "p,no\nq,yes\n?,yes\n" * 6 + "r,no\nr,no\ntoo,many,values\n")
    options: dict[str, Any] = {"where": "x is null or x != 'r'", "missing_values": "?", "bad_lines": "skip"}
    with pytest.warns(tb.errors.SkippedLinesWarning):
        seen = tb.validate(path, "y", "loo", **options)
    plain = tb.validate({"x": ["p", "q", None] * 6, "y": ["no", "yes", "yes"] * 6}, "y", "loo")
    assert np.array_equal(seen.scores, plain.scores)


def test_an_option_that_fit_does_not_have_is_refused() -> None:
    with pytest.raises(BadOption, match="option: wanted one of this function or of fit, got 'alphas'"):
        tb.validate({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alphas=2.0)


def test_options_have_the_defaults_that_fit_documents() -> None:
    documented = {name: one.default for name, one in inspect.signature(tb.fit).parameters.items()}
    assert FitOptions.defaults().items() <= documented.items()
    assert documented.keys() - FitOptions.defaults() == {"source", "label", "weights", "checkpoint", "threads"}


def test_comparisons_and_learning_curves_read_rows_as_fit_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "p,no\nq,yes\n" * 30 + "r,no\n" * 9)
    assert tb.compare(path, "y", "5-fold", partners=(), where="x != 'r'").rows == 60
    assert tb.learning_curve(path, "y", compare=(), shuffles=1, where="x != 'r'").sizes[-1] == 40


def test_a_validation_cannot_be_resumed() -> None:
    with pytest.raises(BadOption, match="got 'checkpoint'"):
        tb.validate({"x": ["p", "q"], "y": ["no", "yes"]}, "y", checkpoint="half.tally")
