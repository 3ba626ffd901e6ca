from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from scipy.stats import norm

import tallybayes as tb
from tallybayes.errors import BadOption
from tallybayes.events import Event
from tallybayes.explain import choose_columns
from tallybayes.inference import nested_folds
from tests.laws.rows import every_event, rows_for

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)


def loss_left_out(model: tb.Model, table: pa.Table) -> np.ndarray:
    """Return each row's log loss under the model's leave-one-out."""
    scores = model.leave_one_out(table)
    own = [model.classes.index(name) for name in table.column("label").to_pylist()]
    return np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(own)), own]


@each_event
def test_dropping_a_column_costs_what_leaving_rows_out_of_the_smaller_model_costs(event: Event) -> None:
    table = rows_for(event, 60, seed=2)
    model = tb.fit(table, "label", events=event, alpha=1.0, calibrate=None)
    found = model.importance(table)
    assert found.loss == pytest.approx(loss_left_out(model, table).mean(), rel=1e-9)
    if event.input == "bag" and event.name != "bernoulli":  # the features of one bag are dropped together
        nothing = np.log([60]) - np.log([1])
        assert len(set(found.change.tolist())) == 1
        assert nothing.size == 1
        return
    for f, name in enumerate(model.schema.columns):
        others = [other for other in model.schema.columns if other != name]
        smaller = tb.fit(table.drop_columns([name]), "label", events=event, alpha=1.0, calibrate=None)
        assert model.select(others).evidence == smaller.evidence
        change = loss_left_out(smaller, table).mean() - found.loss
        assert found.change[f] == pytest.approx(change, rel=1e-9, abs=1e-12)


@each_event
def test_information_is_between_zero_and_the_entropy_of_the_class(event: Event) -> None:
    table = rows_for(event, 60, seed=2)
    model = tb.fit(table, "label", events=event)
    prior = np.array(list(model.prior.values()))
    most = -(prior * np.log2(prior)).sum()
    bits = model.importance().information
    assert (bits >= 0).all()
    assert (bits <= most + 1e-9).all() or event.input == "text"


def test_information_of_values_is_that_of_their_counts():
    rows = {"outlook": list("ssoorrrosrsoor"), "play": list("nnyyynynyyyyyn")}
    model = tb.fit(rows, "play", estimate="mle")
    joint: dict[tuple[str, str], int] = {}
    for pair in zip(rows["outlook"], rows["play"], strict=True):
        joint[pair] = joint.get(pair, 0) + 1
    want = 0.0
    for (value, name), n in joint.items():
        share = n / 14
        want += share * math.log2(share / ((rows["outlook"].count(value) / 14) * (rows["play"].count(name) / 14)))
    assert model.importance().information[0] == pytest.approx(want)


def test_information_of_a_number_is_that_of_its_normal_densities():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    x = rng.normal(2.0 * y, 1.0)
    model = tb.fit(x[:, None], y, estimate="mle")
    grid = np.linspace(-8, 10, 40_001)
    one, two = norm.pdf(grid, 0, 1), norm.pdf(grid, 2, 1)
    mean = (one + two) / 2
    want = np.trapezoid(0.5 * one * np.log2(one / mean) + 0.5 * two * np.log2(two / mean), grid)
    assert model.importance().information[0] == pytest.approx(want, abs=0.01)


def test_a_column_that_repeats_another_is_not_chosen():
    noisy = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 2000)
        x, z = rng.normal(1.5 * y, 1.0), rng.normal(1.0 * y, 1.0)
        rows = {"x": x, "copy": x, "z": z, "noise": rng.normal(size=2000), "y": y}
        model = tb.fit(rows, "y")
        chosen = set(model.select(rows=rows).schema.columns)
        assert chosen - {"noise"} in ({"x", "z"}, {"copy", "z"})
        noisy += "noise" in chosen
    assert noisy <= 3  # 2,000 rows cannot always tell that noise may go
    assert len(model.select(1, rows=rows).schema.columns) == 1
    assert set(model.importance(rows).ranking()[-2:]) >= {"noise"} or model.importance(rows).ranking()[-1] == "noise"


@each_event
def test_a_selected_model_is_the_model_of_those_columns(event: Event) -> None:
    table = rows_for(event, 40, columns=4, seed=3)
    whole = tb.fit(table, "label", events=event, alpha=0.5, calibrate=None)
    part = tb.fit(table.select(["c1", "c3", "label"]), "label", events=event, alpha=0.5, calibrate=None)
    chosen = whole.select(["c3", "c1"])
    assert chosen.evidence == part.evidence
    np.testing.assert_array_equal(chosen.predict_proba(table), part.predict_proba(table))


def test_importance_shows_itself(tmp_path: Path):
    rows = {"x": list("ppqq") * 5, "z": list("rsrs") * 5, "y": ["no", "no", "yes", "yes"] * 5}
    model = tb.fit(rows, "y")
    bits, found = model.importance(), model.importance(rows)
    assert "loss without it" in str(found)
    assert "loss without it" not in str(bits)
    assert set(found.to_dict()) == {"columns", "information", "change", "error", "loss", "rows"}
    assert found.to_dict()["rows"] == 20
    for k, one in enumerate((bits, found)):
        one.chart().save(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").stat().st_size > 3_000


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((), "select: wanted how many columns, their names, or rows to choose by, got none of them."),
        ((0,), "select: wanted how many columns to keep, at least 1, got 0."),
        (([],), "select: wanted at least one column, got none."),
        ((["xx"],), "column: wanted a column of the model, got 'xx'. Did you mean 'x'?"),
    ],
)
def test_what_cannot_be_selected_is_refused(given, sentence):
    model = tb.fit({"x": ["p", "q"], "z": ["p", "q"], "y": ["no", "yes"]}, "y")
    with pytest.raises(BadOption) as refused:
        model.select(*given)
    assert str(refused.value) == sentence


def test_few_rows_of_many_classes_drop_nothing() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 10)
    rows = {"x": [f"v{k}" for k in y], "noise": rng.integers(0, 3, 120).astype(str), "y": [f"c{k}" for k in y]}
    model = tb.fit(rows, "y")
    assert list(model.select(rows=rows).schema.columns) == ["x", "noise"]
    assert list(model.select(1, rows=rows).schema.columns) == ["x"]


def test_many_zeros_beside_long_tails_say_no_more_than_they_can() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    gain = np.where(rng.random(600) < 0.85 - 0.2 * y, 0.0, np.exp(rng.normal(7, 2, 600)))
    bits = tb.fit({"gain": gain, "x": rng.normal(size=600) + y, "y": y}, "y").importance().information
    assert 0.02 < bits[0] < 0.1 < bits[1] < 1.0


def beside_noise(rows: int, seed: int) -> dict[str, np.ndarray]:
    """Return rows of five columns that tell the class, and of twenty that do not."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    told = {f"number{k}": rng.normal((0.5 + 0.2 * k) * y, 1.0) for k in range(3)}
    told |= {f"name{k}": np.where(rng.random(rows) < 0.3 + 0.1 * k, y, rng.integers(0, 3, rows)) for k in range(2)}
    noise = {f"noise{k}": rng.normal(size=rows) if k % 2 else rng.integers(0, 2 + k, rows) for k in range(20)}
    return {name: x.astype(str) if x.dtype.kind == "i" else x for name, x in {**told, **noise, "y": y}.items()}


def test_noise_is_dropped_and_new_rows_are_predicted_better() -> None:
    rows = beside_noise(4000, seed=0)
    train, test = ({name: x[part] for name, x in rows.items()} for part in (slice(2000), slice(2000, None)))
    whole = tb.fit(train, "y")
    fewer = whole.select(rows=train).calibrate(train)
    kept = fewer.schema.columns
    assert sum(not name.startswith("noise") for name in kept) == 5
    assert len(kept) <= 8
    seen = [tb.evaluate(test["y"], one.predict_proba(test), one.classes).log_loss for one in (fewer, whole)]
    assert seen[0] < seen[1] - 0.001


@pytest.mark.parametrize(("mean", "error"), [(0.01, 0.001), (0.0, 0.01), (-0.005, 0.01)])
def test_nothing_but_copies_is_dropped_unless_folds_are_surely_predicted_no_worse(
    monkeypatch: pytest.MonkeyPatch, mean: float, error: float
) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 2000)
    x, z = rng.normal(1.5 * y, 1.0), rng.normal(1.0 * y, 1.0)
    rows = {"x": x, "copy": x, "z": z, "noise": rng.normal(size=2000), "y": y}
    model = tb.fit(rows, "y")
    assert list(model.select(rows=rows).schema.columns) == ["x", "z"]
    monkeypatch.setattr(nested_folds.FoldLosses, "mean", lambda _: (mean, error))
    assert list(model.select(rows=rows).schema.columns) == ["x", "z", "noise"]
    assert len(model.select(2, rows=rows).schema.columns) == 2  # a number is a number


def test_every_fold_is_predicted_without_as_many_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    # A fold whose rows drop nothing would be predicted no worse without fail, and say nothing about it.
    sizes, losses = list[int](), choose_columns.losses_of_fold

    def noted(evidence, *given):
        sizes.append(len(evidence.schema.columns))
        return losses(evidence, *given)

    monkeypatch.setattr(choose_columns, "losses_of_fold", noted)
    rows = beside_noise(1000, seed=1)
    kept = tb.fit(rows, "y").select(rows=rows).schema.columns
    assert len(kept) < 25
    assert max(sizes[::2]) <= len(kept)
    assert set(sizes[1::2]) == {25}


def test_copies_and_constants_are_dropped_by_few_rows_but_not_rare_values_that_met() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 5)
    x, once = [f"v{k}" for k in y], [str(k == 7) for k in range(60)]
    relabelled = [name.upper() for name in x]
    number = rng.normal(y, 1.0)
    rows = {"x": x, "copy": relabelled, "number": number, "same": number, "rare": once, "rare too": once}
    some = [None if k % 3 else "given" for k in range(60)]
    rows |= {"constant": ["f"] * 60, "one number": [2.0] * 60, "given or not": some, "y": [f"c{k}" for k in y]}
    kept = tb.fit(rows, "y").select(rows=rows).schema.columns
    assert set(kept) == {"x", "number", "rare", "rare too", "given or not"}
    alone = {"constant": ["f"] * 60, "y": rows["y"]}
    assert tb.fit(alone, "y").select(rows=alone).schema.columns == ("constant",)


@pytest.mark.parametrize("name", ["pima-diabetes", "heart-cleveland", "house-votes-84"])
def test_select_does_not_lose_on_new_rows(data: Path, name: str) -> None:
    [path] = (data / name).glob("*.csv.gz")
    options = csv.ConvertOptions(null_values=["?", ""], strings_can_be_null=True)
    table = csv.read_csv(path, convert_options=options)
    order, lost = np.random.default_rng(0).permutation(len(table)), []
    for test in np.array_split(order, 3):
        train, rest = table.take(np.setdiff1d(order, test)), table.take(test)
        whole = tb.fit(train, "label")
        fewer = whole.select(rows=train).calibrate(train)
        seen = (tb.evaluate(rest["label"], one.predict_proba(rest), one.classes) for one in (fewer, whole))
        lost.append(next(seen).log_loss - next(seen).log_loss)
    assert np.mean(lost) < 0.005
