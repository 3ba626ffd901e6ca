"""Tables with more columns than rows: what is chosen for each column must not tell the class of the row left out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.families.experts import Experts
from tallybayes.events.families.value_shares import level_of
from tallybayes.events.folds import Folds
from tallybayes.events.histogram import HistogramTable
from tallybayes.inference.estimate import options_for

NEW = 1000
KINDS = {"numbers": "histogram", "values": "categorical", "bins": "bins", "bell": "gaussian"}


def drawn(kind: str, n: int, columns: int, telling: int = 0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    rows = rng.integers(0, 4, (n, columns)) if kind == "values" else rng.normal(size=(n, columns))
    rows[:, :telling] += labels[:, None]
    return rows, labels


def loss(model: tb.Model, rows: np.ndarray, labels: np.ndarray) -> float:
    return float(-model.predict_log_proba(rows)[np.arange(len(labels)), labels].mean())


@pytest.mark.parametrize("columns", [600, 5000], ids=["a weight for each", "one weight"])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_chance_leave_the_class_shares(kind: str, columns: int) -> None:
    rows, labels = drawn(kind, 200 + NEW, columns)
    model = tb.fit(rows[:200], labels[:200], events=KINDS[kind])
    assert loss(model, rows[200:], labels[200:]) < np.log(2) + 0.06
    if columns == 5000:
        assert model.calibration.after > np.log(2) - 0.1  # and its own rows do not promise more


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [20, 40])
def test_some_dozens_of_rows_do_not_believe_chance(kind: str, n: int) -> None:
    rows, labels = drawn(kind, n + NEW, 1000)
    assert loss(tb.fit(rows[:n], labels[:n], events=KINDS[kind]), rows[n:], labels[n:]) < 1.2


@pytest.mark.parametrize("kind", ["numbers", "values"])
def test_a_few_columns_that_tell_something_are_found_among_many(kind: str) -> None:
    rows, labels = drawn(kind, 400 + NEW, 800, telling=10)
    model = tb.fit(rows[:400], labels[:400], events=KINDS[kind])
    assert loss(model, rows[400:], labels[400:]) < 0.4
    assert (model.predict(rows[400:]) == labels[400:]).mean() > 0.85


@pytest.mark.parametrize("kind", ["numbers", "values"])
@pytest.mark.parametrize("columns", [300, 4200])
def test_neither_the_order_of_rows_nor_threads_matter_to_the_bit(kind: str, columns: int) -> None:
    rows, labels = drawn(kind, 90, columns, telling=5)
    want = tb.fit(rows, labels, events=KINDS[kind], threads=1).predict_proba(rows)
    order = np.random.default_rng(1).permutation(90)
    for given in (np.arange(90), order):
        found = tb.fit(rows[given], labels[given], events=KINDS[kind], threads=3)
        np.testing.assert_array_equal(found.predict_proba(rows), want)


@pytest.mark.parametrize("columns", [300, 4200])
def test_a_matrix_of_values_with_gaps_gives_the_bits_of_its_columns(columns: int) -> None:
    rows, labels = drawn("values", 90, columns, telling=5)
    rows = 3 * rows - 7
    want = tb.fit({f"x{f}": column for f, column in enumerate(rows.T)}, labels, events="categorical")
    np.testing.assert_array_equal(
        tb.fit(rows, labels, events="categorical").predict_proba(rows), want.predict_proba(rows)
    )


def test_columns_without_a_value_change_next_to_nothing() -> None:
    rows, labels = drawn("values", 40, 60, telling=5)
    columns = {f"x{f}": [f"v{x}" for x in column] for f, column in enumerate(rows.T)}
    nothing = {f"z{f}": pa.nulls(40, pa.string()) for f in range(3)}
    few, more = pa.table(columns), pa.table({**columns, **nothing})
    want, found = (tb.fit(some, labels, events="categorical").predict_proba(some) for some in (few, more))
    np.testing.assert_allclose(found, want, atol=0.05)  # the hashes of rows, and so their halves, are others


@pytest.mark.parametrize("kind", ["numbers", "values"])
@pytest.mark.parametrize("columns", [60, 4200], ids=["a weight for each", "one weight"])
def test_a_row_of_weight_two_is_the_row_twice(kind: str, columns: int) -> None:
    rows, labels = drawn(kind, 40, columns, telling=5)
    weights = np.random.default_rng(1).integers(0, 3, 40)
    copies = np.repeat(np.arange(40), weights)
    weighted = tb.fit(rows, labels, events=KINDS[kind], weights=weights)
    repeated = tb.fit(rows[copies], labels[copies], events=KINDS[kind])
    np.testing.assert_allclose(weighted.predict_proba(rows), repeated.predict_proba(rows), rtol=1e-6)


@pytest.mark.parametrize("kind", ["numbers", "values"])
def test_parts_of_rows_do_not_believe_chance_either(kind: str) -> None:
    rows, labels = drawn(kind, 200 + NEW, 1000)
    weights = np.random.default_rng(1).uniform(0.5, 1.0, 200)
    model = tb.fit(rows[:200], labels[:200], events=KINDS[kind], weights=weights)
    assert loss(model, rows[200:], labels[200:]) < np.log(2) + 0.1


@pytest.mark.parametrize("kind", ["numbers", "values"])
def test_choices_are_those_without_the_fold_and_sums_those_without_the_row(kind: str) -> None:
    rows, labels = drawn(kind, 60, 3, telling=1)
    labels[:3] = 2  # a class of one fold
    gone = np.isin(np.arange(60), range(10, 14))
    columns = {f"x{f}": pa.array(column, mask=gone if f == 1 else None) for f, column in enumerate(rows.T)}
    table = pa.table({**columns, "y": labels})
    model = tb.fit(table, "y", events=KINDS[kind], calibrate=None)
    folds = np.repeat(np.arange(5, dtype=np.int32), 12)
    [block], [statistic] = model.schema.blocks, model.evidence.statistics
    options = options_for(block, model._resolved_choices)
    [batch] = table.combine_chunks().to_batches()
    data = RowBatch(batch, 0, model.schema.missing).encode(block, statistic.labels or None)
    classes = labels.astype(np.int32)
    found = np.zeros((60, 3))
    block.event.without_rows_of_folds(statistic, data, classes, None, Folds(folds)).add(options, found)
    for fold in range(5):
        others = model.forget(table.filter(pa.array(folds == fold)))
        among = np.searchsorted(model.classes, others.classes)
        left = others.evidence.statistics[0].with_classes(among, others.evidence.rows.spread(among, 3))
        for i in (12 * fold + 3, 12 * fold + 11):
            one = table.slice(i, 1)
            less = model.forget(one)
            if kind == "numbers":
                whole = model.belief.likelihoods[0]
                assert isinstance(whole, HistogramTable)
                plan = Experts.of(left, whole.experts.cells, options.floor, (True, True, True)).plan
                experts = Experts.planned(less.evidence.statistics[0], plan, options.floor)
                codes = experts.cells.find(data)[:, i].astype(int)
                terms = [experts.mixed[experts.cells.starts[f] + code] for f, code in enumerate(codes) if code != 255]
                want = np.sum(terms, axis=0)
            else:
                level_of(less.evidence.statistics[0]).__dict__["omega"] = level_of(left).omega
                want = less.log_joint(one)[0] - less.belief.log_prior
            np.testing.assert_allclose(found[i] - found[i].max(), want - want.max(), rtol=1e-9, atol=1e-9)
