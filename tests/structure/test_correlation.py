"""The correlation of numbers: exact sums of products of normal scores, one term of structure="auto"."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import multivariate_t, t

import tallybayes as tb
from tallybayes.errors import BadModelFile, BadOption, CannotMerge
from tallybayes.events.correlation import Correlation, ScoredColumn
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.evidence import container, row_sample
from tallybayes.evidence.evidence import Evidence
from tallybayes.storage.model_file import dump, parse_bytes
from tallybayes.structure.correlation import normal_scores


def ellipses(n: int = 300, seed: int = 0, columns: int = 4) -> dict[str, list]:
    """Return numbers that are alike in both classes, column by column, and whose signs agree in one of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, columns))
    x[:, 1] = 0.9 * x[:, 0] * np.where(y == 1, 1, -1) + 0.4 * x[:, 1]
    x[:, 2] = np.exp(x[:, 2] + x[:, 0])  # heavy tails do not matter
    rows = {f"x{k}": x[:, k].tolist() for k in range(columns)}
    return {**rows, "kind": rng.choice(["p", "q"], n).tolist(), "y": np.where(y == 1, "with", "against").tolist()}


ROWS, NEW = ellipses(), ellipses(500, seed=1)


@pytest.fixture(scope="module")
def model() -> tb.Model:
    return tb.fit(ROWS, "y", structure="auto")


def block_of(model: tb.Model):
    return next(block for block in model.schema.products if isinstance(block.event, Correlation))


def log_loss(model: tb.Model, rows) -> float:
    p = model.predict_proba(rows)
    return float(-np.log(p[np.arange(len(p)), [model.classes.index(c) for c in rows["y"]]]).mean())


def test_what_no_column_says_alone_is_told_together(model: tb.Model) -> None:
    assert block_of(model).columns == ("x0 & 3 others",)
    pairs, naive = (tb.fit(ROWS, "y", structure=name) for name in ("pairs", "naive"))
    assert log_loss(model, NEW) < log_loss(pairs, NEW) - 0.05 < log_loss(naive, NEW) - 0.1


def test_it_is_explained_as_one_term(model: tb.Model) -> None:
    row = {name: values[0] for name, values in NEW.items() if name != "y"}
    told = model.explain(row)
    [part] = [part for part in told.parts if part.column == "x0 & 3 others"]
    assert (part.value, part.note, sum(part.counts)) == ("4 numbers together", "", 300)
    assert told.prior + sum(one.term for one in told.parts) == pytest.approx(told.log_odds)
    chart, p = model.nomogram("with", "against"), model.predict_proba([row])[0, 1]
    assert chart.probability(chart.total(row)) == pytest.approx(p)
    lacking = row | {"x1": None}
    assert chart.probability(chart.total(lacking)) == pytest.approx(model.predict_proba([lacking])[0, 1])
    odds = np.divide(*model.predict_proba([lacking])[0, ::-1])
    assert model.explain(lacking, of="with").log_odds == pytest.approx(np.log(odds))
    assert "x0 & x1" in str(model.table("x0 & 3 others"))
    assert "x0 & 3 others" in model.importance(ROWS).ranking()[:5]
    assert len(str(chart))
    assert len(chart.chart().to_json())


def test_a_row_that_lacks_a_number_has_no_such_term(model: tb.Model) -> None:
    told = model.explain({"x0": 1.0, "x1": None, "x2": 1.0, "x3": 0.0, "kind": "p"})
    assert [part.term for part in told.parts if part.column == "x0 & 3 others"] == [0.0]
    naive = tb.fit(ROWS, "y", calibrate=None)
    np.testing.assert_allclose(model.predict_proba([{"x0": 1.0}]), naive.predict_proba([{"x0": 1.0}]))


def test_evidence_adds_subtracts_and_merges_to_the_bit(model: tb.Model) -> None:
    table = pa.table(ROWS)
    order = np.random.default_rng(2).permutation(len(table))
    batches = pa.Table.from_batches(table.take(order).combine_chunks().to_batches(max_chunksize=37))
    assert tb.fit(batches, "y", structure="auto") == model
    first, rest = ({k: v[at] for k, v in ROWS.items()} for at in (slice(0, 120), slice(120, None)))
    left = model.forget(first)
    assert left.learn(first).evidence == model.evidence
    empty = Evidence.empty(model.schema)
    one, other = (type(model)(empty, model.choices).learn(part) for part in (first, rest))
    assert (one + other).evidence == (other + one).evidence == model.evidence
    assert left.forget(rest).evidence == empty
    with pytest.raises(CannotMerge):
        left.forget(first)
    with pytest.raises(CannotMerge, match="cannot merge: left has column 'x0 & 3 others' as correlation, right has no"):
        model + tb.fit(NEW, "y")


def test_a_second_pass_counts_the_same(model: tb.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_sample.BottomKSample, "has_all", property(lambda _: False))
    assert tb.fit(ROWS, "y", structure="auto") == model


def test_the_file_holds_it_and_a_forged_one_is_refused(model: tb.Model) -> None:
    again = parse_bytes(dump(model))
    assert again == model
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    header, tensors = container.unpack(dump(model), "file")
    assert header["format"] == 4
    [at] = [k for k, stored in enumerate(header["blocks"]) if stored["event"] == "correlation"]
    first, *others = header["blocks"][at]["parts"]
    name, values, scores = first
    for parts in ([first], [[name, values[::-1], scores], *others], [[name, values, scores[:-1]], *others]):
        blocks = list(header["blocks"])
        blocks[at] = blocks[at] | {"parts": parts}
        with pytest.raises(BadModelFile, match="wanted the parts of a model"):
            parse_bytes(container.pack(header | {"blocks": blocks}, tensors))


def test_exports_refuse_it_in_a_sentence(model: tb.Model) -> None:
    for export in (model.to_json, model.to_sql):
        with pytest.raises(BadOption, match="export: wanted terms of one column or of cells, got the correlation of 4"):
            export()


def test_sums_are_exact_with_weights_too() -> None:
    rng = np.random.default_rng(0)
    event = Correlation(
        (ScoredColumn("a", (0.0, 1.0), (-2000, 3000)), ScoredColumn("b", (-1.0, 0.0, 5.0), (-900, 1, 700)))
    )
    data = event.scores([rng.random(50), np.where(np.arange(50) == 7, np.nan, rng.normal(size=50))])
    classes, weights = rng.integers(0, 2, 50).astype(np.int32), rng.random(50)
    z = data.matrix()
    for given in (None, weights):
        sums, _ = event.count(data, classes, 2, given)
        for c in range(2):
            expected = [Fraction(0)] * event.size
            for i in np.flatnonzero((classes == c) & ~np.isnan(z[:, 0])):
                one = [Fraction(1), *map(Fraction, z[i].tolist())]
                weight = Fraction(1 if given is None else given[i])
                products = [one[j] * one[k] for j in range(3) for k in range(j, 3)]
                expected = [total + weight * product for total, product in zip(expected, products, strict=True)]
            np.testing.assert_array_equal(sums["moments"].to_float()[c], [float(one) for one in expected])


def test_a_row_left_out_is_as_if_it_had_never_been_counted(model: tb.Model) -> None:
    block = block_of(model)
    alone = Evidence.empty(replace(model.schema, blocks=(replace(block, event=replace(block.event, base=1.0)),)))
    rows = {name: values[:12] for name, values in ROWS.items()}
    counted = type(model)(alone, model.choices).learn(rows)
    [statistic], [one] = counted.evidence.statistics, counted.schema.blocks
    options = EstimateOptions("bayes", np.ones(1))
    numbers = [np.array(rows[name]) for name in block.event.columns]
    data, classes = one.event.scores(numbers), np.searchsorted(counted.classes, rows["y"]).astype(np.int32)
    left = np.zeros((12, 2))
    one.event.without_rows(statistic, data, classes, None).add(options, left)
    for i in range(12):
        rest = counted.forget({name: [values[i]] for name, values in rows.items()})
        again = one.event.estimate(rest.evidence.statistics[0], options)
        row = one.event.scores([column[[i]] for column in numbers])
        np.testing.assert_allclose(left[i], again.log_prob(row)[0], rtol=1e-9, atol=1e-9)


def test_the_density_is_a_student_t_over_its_margins(model: tb.Model) -> None:
    block = block_of(model)
    event = replace(block.event, base=1.0)
    at = model.schema.blocks.index(block)
    likelihood = event.estimate(model.evidence.statistics[at], EstimateOptions("bayes", np.ones(1)))
    data = event.scores([np.array(NEW[name][:5]) for name in event.columns])
    z, moments = data.matrix() / 1024, event.moments(model.evidence.statistics[at])
    for c in range(2):
        k = moments.n[c] + 1
        mean = moments.totals[c] / k
        spread = 2 * np.eye(4) + moments.products[c] - k * np.outer(mean, mean)
        shape, degrees = spread * (k + 1) / k / (k + 2), k + 2
        alone = sum(t.logpdf(z[:, j], degrees, mean[j], np.sqrt(shape[j, j])) for j in range(4))
        expected = multivariate_t(mean, shape, degrees).logpdf(z) - alone
        np.testing.assert_allclose(likelihood.log_prob(data)[:, c], expected)


def test_scores_rise_with_the_values_whatever_these_are() -> None:
    numbers = np.array([-1e308, -5.0, 0.0, 0.0, 3.0, 1e308, np.nan])
    part = normal_scores("x", numbers, np.ones(7))
    assert part is not None
    assert part.sound
    new = np.array([-np.inf, -1e308, 0.0, 3.0, 1e308, np.inf, np.nan])
    found = Correlation((part, part)).scores([new, new]).column(0)
    assert np.isnan(found[-1])
    assert (np.diff(found[:-1]) >= 0).all()
    assert found[2] < found[3] < found[4]
    many = normal_scores("x", np.random.default_rng(0).standard_cauchy(5000), np.ones(5000))
    assert many is not None
    assert len(many.values) <= 33
    assert normal_scores("x", np.full(9, 2.0), np.ones(9)) is None
    assert normal_scores("x", np.array([1.0, 2.0, np.nan, np.nan]), np.ones(4)) is None


def test_where_numbers_say_nothing_together_there_is_no_such_term() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = rng.normal(size=(400, 5)) + y[:, None]
    assert tb.fit(x, y, structure="auto").schema.products == ()


def test_a_weight_of_two_is_the_row_twice() -> None:
    twice = {name: values + values for name, values in ROWS.items()}
    event = block_of(tb.fit(ROWS, "y", structure="auto")).event
    classes = (np.array(ROWS["y"]) == "with").astype(np.int32)
    data, both = (event.scores([np.array(rows[name]) for name in event.columns]) for rows in (ROWS, twice))
    doubled = event.count(data, classes, 2, np.full(len(classes), 2.0))[0]["moments"]
    assert doubled == event.count(both, np.concatenate([classes, classes]), 2, None)[0]["moments"]
