"""Samples of a model: right types, right distribution, and refitting recovers the parameters."""

from __future__ import annotations

import datetime
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tallybayes as tb
from tallybayes.events import Event, parse
from tallybayes.events.bins import Bins
from tallybayes.events.families.binned_event import BinnedEvent
from tallybayes.events.histogram import Histogram
from tallybayes.events.inputs import Dense
from tallybayes.events.mdl import Mdl
from tests.laws.rows import every_event, rows_for
from tests.tables import tables

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
DAYS = {
    "day": [datetime.date(2024, 2, d) for d in (1, 2, 3, 4)],
    "sunny": [True, False, True, True],
    "visitors": [3, 0, 7, 2],
    "warmth": [20.5, 11.0, None, 18.0],
    "note": ["quiet and bright and warm", "rain all day long", None, "many many people came by"],
    "size": pa.array([1, 2, 2, 1], pa.int8()),
    "fun": [True, False, True, True],
}
KINDS = {"visitors": "poisson", "size": "categorical", "note": "text"}


def figures(model: tb.Model) -> np.ndarray:
    """Return every column's parameters, without the numbers of rows behind them."""
    parts = []
    for column in model.schema.columns:
        table = model.table(column)
        parts.append(table.values[[k for k, name in enumerate(table.rows) if name != "n"]])
    return np.concatenate(parts)


def has_fixed_cells(event: Event) -> bool:
    """Return whether other rows are counted in the same cells.

    Runs of words are read where words meet, and histograms have cells that depend on the rows: the next two tests are
    about these.
    """
    return getattr(event, "ngrams", (1, 1)) == (1, 1) and not isinstance(event, Histogram | BinnedEvent)


@pytest.mark.parametrize("event", list(filter(has_fixed_cells, every_event())), ids=lambda event: event.spec)
def test_refitting_on_many_samples_finds_what_was_believed(event: Event) -> None:
    """Batches drawn and refitted scatter about the truth; their mean is within six of its standard errors."""
    how = {"events": event, "estimate": "mle", "calibrate": None}
    model = tb.fit(rows_for(event, 400, missing=0.0, classes=2), "label", **how)
    refits = [tb.fit(model.sample(1500, seed=k), "label", **how) for k in range(20)]
    for column in model.schema.columns:
        assert {refit.table(column).rows for refit in refits} == {model.table(column).rows}
    found = np.stack([figures(refit) for refit in refits])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - figures(model)) <= 6 * error + 1e-12).all()


def test_of_runs_of_words_the_single_words_are_found_again() -> None:
    event = parse("text(ngrams=(1, 2))")
    model = tb.fit(rows_for(event, 200, columns=1, missing=0.0, classes=2), "label", events=event, calibrate=None)
    words = parse("text")
    drawn = model.sample(20_000, given="k1")
    again = tb.fit(pa.concat_tables([drawn, model.sample(10, given="k0")]), "label", events=words, estimate="mle")
    believed = dict(zip(model.table("c0").rows, model.table("c0").values[:, 1], strict=True))
    single = np.array([believed[word] for word in again.table("c0").rows])
    share, n = single / single.sum(), again.table("c0").counts[:, 1].sum()  # type: ignore[index]
    assert (np.abs(again.table("c0").values[:, 1] - share) < 5 * np.sqrt(share * (1 - share) / n)).all()


@pytest.mark.parametrize(
    "event", [*Histogram.test_variants(), *Bins.test_variants(), Mdl()], ids=lambda event: event.spec
)
def test_numbers_drawn_from_a_histogram_or_bins_fall_into_them(event: Event) -> None:
    model = tb.fit(rows_for(event, 400, missing=0.0, classes=2), "label", events=event, calibrate=None)
    drawn = tb.fit(model.sample(20_000, seed=1), "label", events=event, calibrate=None)
    [believed], [statistic] = model.belief.likelihoods, drawn.evidence.statistics
    for f in range(len(model.schema.columns)):
        _, counts, _ = believed.on(statistic).table(f)  # type: ignore[attr-defined]
        _, _, share = believed.table(f)
        n = counts.sum(axis=0)
        assert (np.abs(counts / n - share) <= 6 * np.sqrt(share * (1 - share) / n) + 1e-12).all()


@pytest.mark.parametrize("bag", ["multinomial", "bernoulli", "complement", "binary"])
def test_texts_are_as_long_as_those_of_their_class(bag: str) -> None:
    long, short = "one two three four five six seven eight", "one two"
    texts = tb.fit([long, long, short, short], ["l", "l", "s", "s"], events=f"text(bag={bag!r})", alpha=0.0)
    for name, length in (("l", 8), ("s", 2)):
        drawn = texts.sample(5000, given=name).column("text")
        mean = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(drawn.filter(pc.not_equal(drawn, "")))))
        shares = len(drawn.filter(pc.not_equal(drawn, ""))) / len(drawn)
        assert mean.as_py() * shares == pytest.approx(length, abs=5 * np.sqrt(length / 5000))


def test_characters_are_written_without_spaces_between() -> None:
    model = tb.fit(["aab", "aba", "ccd", "dcd"], ["x", "x", "y", "y"], events="text(analyzer='char', ngrams=(1, 3))")
    drawn = model.with_(alpha=0.0).sample(50, given="x").column("text").to_pylist()
    assert set("".join(drawn)) == {"a", "b"}


@pytest.mark.parametrize("name", ["gaussian", "lognormal", "exponential"])
def test_a_density_averaged_over_its_parameters_is_what_is_drawn(name: str) -> None:
    """Few rows give a Student t or a Lomax, with heavier tails than a normal or an exponential."""
    x = [1.0, 2.0, 4.0, 3.0, 9.0, 8.0]
    model = tb.fit({"x": x, "y": list("aaabbb")}, "y", events={"x": name}, calibrate=None)
    [likelihood] = model.belief.likelihoods
    believed = likelihood.density
    drawn = model.sample(20_000, given="a").column("x").to_numpy()
    if name == "exponential":
        known = stats.lomax(believed.a[0, 0], scale=believed.b[0, 0])
    else:
        known = stats.t(believed.freedom[0, 0], believed.location[0, 0], np.sqrt(believed.scale2[0, 0]))
    assert stats.kstest(np.log(drawn) if name == "lognormal" else drawn, known.cdf).pvalue > 0.001


def test_counts_averaged_over_their_rate_are_what_is_scored() -> None:
    model = tb.fit({"x": [0, 1, 3, 7, 9, 2], "y": list("aaabbb")}, "y", events={"x": "poisson"}, calibrate=None)
    counts = np.arange(12.0)
    p = np.exp(model.belief.likelihoods[0].log_prob(Dense((counts,)))[:, 1])
    drawn = model.sample(40_000, given="b").column("x").to_numpy()
    shares = np.bincount(drawn, minlength=12)[:12] / len(drawn)
    assert (np.abs(shares - p) < 5 * np.sqrt(p * (1 - p) / len(drawn))).all()


def test_the_columns_are_the_original_ones_and_of_their_types() -> None:
    model = tb.fit(DAYS, "fun", events=KINDS)
    drawn = model.sample(20)
    types = [pa.date32(), pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.int64(), pa.bool_()]
    assert drawn.column_names == list(DAYS)
    assert drawn.schema.types == types
    assert all(column.null_count == 0 for column in drawn.columns)
    assert model.sample(0).schema == drawn.schema
    again = tb.fit(drawn, "fun", events={"visitors": "poisson", "size": "categorical"})  # texts are known for texts
    assert again.schema.events() == model.schema.events()


def test_the_same_seed_draws_the_same_rows() -> None:
    model = tb.fit(DAYS, "fun", events=KINDS)
    assert model.sample(50, seed=3) == model.sample(50, seed=3)
    assert model.sample(50, seed=3) != model.sample(50, seed=4)


def test_classes_are_drawn_by_the_prior_and_given_ones_are_given() -> None:
    model = tb.fit(DAYS, "fun", events=KINDS)
    share = pc.mean(model.sample(10_000).column("fun").cast(pa.int8())).as_py()
    assert share == pytest.approx(0.75, abs=5 * np.sqrt(0.75 * 0.25 / 10_000))
    even = model.with_(prior="uniform").sample(10_000).column("fun").cast(pa.int8())
    assert pc.mean(even).as_py() == pytest.approx(0.5, abs=5 * 0.5 / 100)
    assert set(model.sample(30, given=False).column("fun").to_pylist()) == {False}


def test_values_held_fixed_stay_and_tell_of_the_class() -> None:
    rows = {"x": list("pppqqq"), "z": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0], "y": ["no", "no", "yes", "yes", "yes", "no"]}
    model = tb.fit(rows, "y", calibrate=None)
    drawn = model.sample(10_000, given={"x": "q", "z": 8})
    assert set(drawn.column("x").to_pylist()) == {"q"}
    assert set(drawn.column("z").to_pylist()) == {8.0}
    p = model.predict_proba([{"x": "q", "z": 8}])[0, 1]
    share = pc.mean(pc.equal(drawn.column("y"), "yes").cast(pa.int8())).as_py()
    assert share == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 10_000))
    both = model.sample(10, given={"y": "no", "x": "q"})
    assert set(both.column("y").to_pylist()) == {"no"}
    assert set(both.column("x").to_pylist()) == {"q"}


@each_event
def test_values_are_missing_at_the_observed_rate_if_requested(event: Event) -> None:
    model = tb.fit(rows_for(event, 600, missing=0.3, classes=2), "label", events=event, calibrate=None)
    assert model.sample(100).column("c0").null_count == 0
    [rates], [block] = [likelihood.missing() for likelihood in model.belief.likelihoods], model.schema.blocks
    for c, name in enumerate(model.classes):
        drawn = model.sample(4000, given=name, missing=True)
        for f, column in enumerate(block.columns):
            p = rates[c, f]
            gone = drawn.column(column).null_count / len(drawn)
            assert gone == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / len(drawn)))
    known = event.name not in ("multinomial", "complement")  # there a missing count is a count of zero
    assert (rates > 0.2).all() == known


def test_missing_as_a_value_of_its_own_is_drawn_as_any_other() -> None:
    model = tb.fit({"x": ["p", None, None, "q"], "y": list("aabb")}, "y", missing="category", estimate="mle")
    drawn = model.sample(2000, given="a").column("x")
    assert drawn.null_count / 2000 == pytest.approx(0.5, abs=0.06)


def test_beyond_a_threshold_values_are_on_their_side_of_it() -> None:
    for threshold in (127, 0.5, -3.5, 0, 1, 1e6):
        x = np.array([[threshold - 1.0], [threshold + 1.0]] * 50)
        event = f"bernoulli(threshold={threshold!r})"
        model = tb.fit(x, ["low", "high"] * 50, events=event, estimate="mle")
        again = tb.fit(model.sample(200), model.schema.label, events=event, estimate="mle")
        np.testing.assert_array_equal(again.table("x0").values, model.table("x0").values)


def test_arrays_and_sparse_rows_become_plain_columns() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.poisson(2.0, (60, 5)), rng.integers(0, 2, 60)
    for rows in (x.astype(float), sp.csr_array(x)):
        model = tb.fit(rows, y)
        drawn = model.sample(30)
        assert drawn.column_names == ["x0", "x1", "x2", "x3", "x4", model.schema.label]
        assert tb.fit(drawn, model.schema.label, events=model.schema.events()["x0"]).schema.events() == (
            model.schema.events()
        )


def test_what_was_hardly_counted_is_drawn_without_an_infinity() -> None:
    """A Student t of a hundredth of a row's freedom reaches beyond the doubles."""
    weights = [0.001] * 4
    for name in ("gaussian", "lognormal", "exponential", "poisson"):
        rows = {"x": [1.0, 2.0, 3.0, 5.0], "y": list("aabb")}
        model = tb.fit(rows, "y", weights=weights, events={"x": name}, alpha=0.01, calibrate=None)
        drawn = model.sample(5000)
        assert np.isfinite(drawn.column("x").to_numpy()).all()
        tb.fit(drawn, model.schema.label, events={"x": name})


@given(table=tables(), rule=st.sampled_from(["mle", "map", "bayes"]), missing=st.sampled_from(["skip", "category"]))
def test_any_model_can_be_sampled_and_its_sample_refitted(
    table: tuple[pa.Table, dict[str, str]], rule: Any, missing: Any
) -> None:
    rows, events = table
    model = tb.fit(rows, "label", events=events, estimate=rule, missing=missing)
    drawn = pa.concat_tables([model.sample(5, given=c, seed=7, missing=c == model.classes[0]) for c in model.classes])
    assert drawn.column_names == rows.column_names
    again = tb.fit(drawn, "label", events=model.schema.events(), estimate=rule, missing=missing)
    assert again.classes == model.classes
    assert again.schema.events() == model.schema.events()
    for name in drawn.column_names:
        label = pa.types.is_date(rows.schema.field(name).type) or name == "label"
        if label and drawn.column(name).null_count < len(drawn):
            assert set(drawn.column(name).to_pylist()) - {None} <= set(rows.column(name).to_pylist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        assert not np.isnan(model.predict_proba(drawn)).any()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ({"n": -1}, "sample n: wanted a whole number not below 0, got -1."),
        ({"n": 2.5}, "sample n: wanted a whole number not below 0, got 2.5."),
        ({"n": 1, "seed": "x"}, "sample seed: wanted a whole number not below 0, got 'x'."),
        ({"n": 1, "given": "perhaps"}, "sample given: wanted a class (booleans), got 'perhaps'."),
        ({"n": 1, "given": {"suny": True}}, "sample given: wanted columns of the model, got 'suny'."),
        ({"n": 1, "given": {"fun": True, "visitors": "many"}}, "column 'visitors': wanted a value of type int64"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_sentence(call: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tb.errors.TallyError) as refused:
        tb.fit(DAYS, "fun", events=KINDS).sample(**call)
    assert sentence in str(refused.value)
