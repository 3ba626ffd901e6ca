"""structure="pairs", "tan", "aode" and "joint": what is chosen, counted, said and stored."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import tallybayes as tb
from tallybayes.cli.main import main
from tallybayes.errors import BadModelFile, BadOption, BoundedSearchWarning, CannotMerge
from tallybayes.evidence import container, row_sample
from tallybayes.storage.model_file import dump, parse_bytes

STRUCTURES = ("pairs", "tan", "aode", "joint")


def exclusive_or(n=400, seed=0):
    """Return rows in which left and right together tell the class nine times of ten, and neither does alone."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, 2, (2, n))
    odd = (left ^ right) == (rng.random(n) < 0.9)
    return {
        "left": left.astype(str).tolist(),
        "right": right.astype(str).tolist(),
        "noise": rng.normal(size=n).tolist(),
        "y": np.where(odd, "odd", "even").tolist(),
    }


ROWS = exclusive_or()
NEW = exclusive_or(seed=1)


@pytest.fixture(scope="module", params=STRUCTURES)
def model(request):
    return tb.fit(ROWS, "y", structure=request.param)


def log_loss(model, rows, label="y"):
    p = model.predict_proba(rows)
    own = rows[label].to_pylist() if isinstance(rows, pa.Table) else rows[label]
    return -np.log(p[np.arange(len(p)), [model.classes.index(c) for c in own]]).mean()


def test_exclusive_or_is_solved(model):
    naive = tb.fit(ROWS, "y")
    assert (naive.predict(NEW) == NEW["y"]).mean() < 0.6
    assert (model.predict(NEW) == NEW["y"]).mean() > 0.85
    assert log_loss(model, NEW) < 0.4 < 0.6 < log_loss(naive, NEW)


def test_exclusive_or_is_explained():
    model = tb.fit(ROWS, "y", structure="pairs")
    assert model.schema.terms == ("left", "right", "noise", "left & right")
    told = model.explain({"left": "1", "right": "0", "noise": 0.3})
    first = told.parts[0]
    assert (first.column, first.value, first.note) == ("left & right", "1 & 0", "")
    assert first.counts == tuple(model.table("left & right").counts[2])
    assert told.prior + sum(part.term for part in told.parts) == pytest.approx(told.log_odds)
    assert "left & right   1 & 0" in str(told)


def test_terms_add_up_to_the_probability(model):
    rows = [{k: NEW[k][i] for k in ("left", "right", "noise")} for i in range(20)] + [{"left": "1"}, {"noise": 0.1}]
    rows += [{"left": "1", "noise": 0.1}, {"left": "0", "right": None, "noise": 2.0}]
    p = model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(model.contributions(rows, of="odd").probability, p)
    if model.choices.structure == "aode":
        with pytest.raises(BadOption, match="nomogram: wanted a score that is a sum of scales, got structure 'aode'"):
            model.nomogram("odd", "even")
        return
    chart = model.nomogram("odd", "even")
    np.testing.assert_allclose([chart.probability(chart.total(row)) for row in rows], p)


def test_a_value_never_seen_has_no_interaction(model):
    told = model.explain({"left": "never", "right": "0", "noise": 2.0})
    assert all(part.term == 0 for part in told.parts if part.column.startswith("left &"))
    assert model.predict_proba([{"left": "never", "right": "0", "noise": 2.0}])[0, 1] == pytest.approx(told.probability)


def test_a_lone_column_is_answered_by_its_counts(model):
    naive = tb.fit(ROWS, "y", calibrate=None)
    np.testing.assert_allclose(model.predict_proba([{"left": "1"}]), naive.predict_proba([{"left": "1"}]))


def test_order_and_batches_do_not_matter(model):
    table = pa.table(ROWS)
    order = np.random.default_rng(2).permutation(len(table))
    batches = pa.Table.from_batches(table.take(order).combine_chunks().to_batches(max_chunksize=37))
    assert tb.fit(batches, "y", structure=model.choices.structure) == model


def test_learned_rows_can_be_forgotten_down_to_nothing(model):
    first, rest = ({k: v[at] for k, v in ROWS.items()} for at in (slice(0, 150), slice(150, None)))
    left = model.forget(first)
    assert left.learn(first).evidence == model.evidence
    nothing = left.forget(rest)
    assert nothing.evidence == type(nothing.evidence).empty(model.schema)
    assert nothing.learn(ROWS).evidence == model.evidence


def test_the_model_file_holds_it(model, tmp_path):
    model.save(tmp_path / "m.tally")
    loaded = tb.load(tmp_path / "m.tally")
    assert loaded == model
    np.testing.assert_array_equal(loaded.predict_proba(NEW), model.predict_proba(NEW))


def test_models_of_one_structure_merge_and_others_do_not(model):
    other = type(model)(type(model.evidence).empty(model.schema), model.choices).learn(NEW)
    assert (model + other).evidence == model.learn(NEW).evidence
    with pytest.raises(CannotMerge, match=r"cannot merge: left has column '(left & right.*|all pairs)' as \w+, right"):
        model + tb.fit(NEW, "y")


def test_a_second_pass_counts_the_same(model, monkeypatch):
    monkeypatch.setattr(row_sample.BottomKSample, "has_all", property(lambda _: False))
    assert tb.fit(ROWS, "y", structure=model.choices.structure) == model


def test_folds_choose_for_themselves(model):
    found = tb.validate(ROWS, "y", "5-fold", structure=model.choices.structure)
    assert found.evaluation.log_loss < 0.4
    assert model.validate(ROWS, how="5-fold").evaluation.log_loss == found.evaluation.log_loss
    left_out = tb.validate(ROWS, "y", "loo", structure=model.choices.structure).evaluation.log_loss
    assert left_out == pytest.approx(model.calibration.after, rel=1e-9)


def test_front_ends_have_the_option(tmp_path):
    frame = {k: v for k, v in ROWS.items() if k != "y"}
    estimator = tb.NaiveBayes(structure="tan").fit(pa.table(frame), ROWS["y"])
    assert "left & right" in estimator.model_.schema.terms
    csv.write_csv(pa.table(ROWS), tmp_path / "rows.csv")
    words = ["fit", str(tmp_path / "rows.csv"), "--label", "y", "--structure", "pairs", "-o", str(tmp_path / "m.tally")]
    assert main(words) == 0
    assert tb.load(tmp_path / "m.tally").schema.terms[3:] == ("left & right",)


def test_a_forged_file_is_refused(model):
    header, tensors = container.unpack(dump(model), "file")
    assert header["format"] == 3
    parts = header["blocks"][-1]["parts"]
    changes = [{"parts": [*parts, ["z", "bins", [0.0], ["a", "b"]]]}, {"base": 2.0}, {"parts": parts[:1]}]
    changes += [{"event": "gaussian"}, {"parts": [[*part[:3], ["a"]] for part in parts]}]
    for change in changes:
        if "base" in change and model.choices.structure == "aode":  # it has no such weight
            continue
        forged = header | {"blocks": [*header["blocks"][:-1], header["blocks"][-1] | change]}
        with pytest.raises(BadModelFile, match="wanted the parts of a model"):
            parse_bytes(container.pack(forged, tensors))


def test_results_know_of_interactions(model):
    [product] = model.schema.terms[3:4]
    assert [one.column for one in model.tables().columns] == list(model.schema.terms)
    matters = model.importance(ROWS)
    assert matters.columns == model.schema.terms
    least = 0.35 if product == "all pairs" else 0.5  # the pair is heard from two of three parents
    assert matters.information[3] > least > matters.information[:3].max()
    parts = len(model.schema.products[0].event.parts)  # without a part there is no interaction either
    assert product in matters.ranking()[: 1 + parts]
    assert set(model.alphas) == {"left", "right", "noise"}
    assert model.select(["left", "right"]).schema.columns == ("left", "right")
    assert ("left & right" in model.select(["left", "right"]).schema.terms) == (product == "left & right")
    assert ("aode" if product == "all pairs" else "interaction") in repr(model)


def test_the_joint_has_its_parameters():
    rng = np.random.default_rng(0)
    rows = {f"x{k}": (rng.random(200) < 0.5).tolist() for k in range(4)} | {"y": (rng.random(200) < 0.5).tolist()}
    found = tb.fit(rows, "y", structure="joint").parameters()
    assert (found.naive, found.joint, found.naive + found.interactions) == (8, 30, 30)


def test_a_tree_has_an_edge_less_than_columns():
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.normal(size=(500, 5)), axis=1)
    rows = {f"x{k}": x[:, k].tolist() for k in range(5)} | {"y": (rng.random(500) < 0.5).tolist()}
    model = tb.fit(rows, "y", structure="tan", calibrate=None)
    assert model.schema.terms[5:] == ("x0 & x1", "x1 & x2", "x2 & x3", "x3 & x4")


def test_weights_and_missing_values_are_counted():
    rows = {k: [None if i % 17 == 3 and k != "y" else v for i, v in enumerate(each)] for k, each in ROWS.items()}
    twice = {k: v + v for k, v in rows.items()}
    doubled = tb.fit(rows | {"w": [2.0] * len(rows["y"])}, "y", weights="w", structure="tan", calibrate=None)
    assert doubled.evidence == tb.fit(twice, "y", structure="tan", calibrate=None).evidence


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"structure": "pear"},
            "structure: wanted one of .*'tan', 'aode', 'joint', 'auto', got 'pear'",
        ),
        ({"structure": "pairs", "calibrate": None}, "calibrate: wanted 'auto' with pairs"),
        ({"structure": "auto", "calibrate": "one"}, "calibrate: wanted 'auto' with pairs"),
    ],
)
def test_options_that_cannot_be(options, says):
    with pytest.raises(BadOption, match=says):
        tb.fit(ROWS, "y", **options)


def test_words_have_no_pairs():
    with pytest.raises(BadOption, match="structure: wanted columns of values or numbers for 'pairs', got 'text'"):
        tb.fit(["some words", "other words"], ["a", "b"], structure="pairs")


def test_another_structure_needs_the_rows(model):
    with pytest.raises(BadOption, match="Fit again"):
        model.with_(structure="naive")


def test_many_columns_are_bounded_and_said():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 250)), rng.integers(0, 2, 60)
    with pytest.warns(BoundedSearchWarning, match="looked at 19,900 of 31,125 pairs of columns"):
        tb.fit(x, y, structure="pairs")
    with pytest.raises(BadOption, match="structure 'joint': wanted at most 1,000,000 combinations of values"):
        tb.fit(x, y, structure="joint")
    with pytest.raises(BadOption, match="structure 'aode': wanted at most 1,000,000 pairs of values, got those of 250"):
        tb.fit(x, y, structure="aode")


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize(
    "rows",
    [
        {"a": [1.0, 2.0], "b": ["p", "q"], "y": ["s", "t"]},
        {"a": [1.0, 1.0, 1.0, 1.0], "b": [None, None, None, None], "y": ["s", "t", "s", "t"]},
        {"a": [-1e308, 1e308, 0.0, 5.0], "b": ["p", "q", "p", None], "y": ["s", "s", "t", "t"]},
        {"a": [1.0, 2.0, 3.0], "a & b": ["p", "q", "p"], "b": ["p", "q", "q"], "y": ["s", "s", "t"]},
        {"a": [1.0, 2.0, 3.0, 3.5], "b": ["p", "q", "p", "q"], "y": ["s", "t", "u", "v"]},
        {**{f"c{k}": ["pq"[k % 2], "pq"[k // 2 % 2], "p"] for k in range(6)}, "y": ["s", "t", "t"]},
        {"a": [float(k % 3) for k in range(60)], "b": [float(k % 4) for k in range(60)], "y": list("sstst" * 12)},
    ],
    ids=[
        "two rows",
        "nothing to see",
        "large numbers",
        "a taken name",
        "classes of one row",
        "more columns than rows",
        "whole numbers",
    ],
)
def test_few_and_odd_rows_just_work(structure, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tb.fit(rows, "y", structure=structure)
    assert np.isfinite(model.predict_proba(rows)).all()
    assert len(set(model.schema.terms)) == len(model.schema.terms)


@pytest.mark.parametrize("name", ["heart-cleveland", "breast-cancer", "car"])
def test_pairs_cost_little_where_rows_are_few(data, name):
    [path] = (data / name).glob("*.csv.gz")
    options = csv.ConvertOptions(null_values=["?", ""], strings_can_be_null=True)
    table = csv.read_csv(path, convert_options=options)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(table))
        train, test = table.take(order[:200]), table.take(order[200:])
        naive, pairs = (log_loss(tb.fit(train, "label", structure=s), test, "label") for s in ("naive", "pairs"))
        assert pairs < naive + 0.006
