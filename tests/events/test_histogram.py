"""Histograms of numbers: buckets that add, cells that are looked up, and columns of every shape."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.events.histogram import HistogramTable
from tallybayes.evidence import container, deserialize, serialize
from tallybayes.storage.model_file import dump, parse_bytes


def labelled(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n)
    return rng.normal(size=n) + label, label


def fitted(x: np.ndarray, y: np.ndarray, **options: object) -> tb.Model:
    return tb.fit(np.asarray(x, float).reshape(len(y), -1), y, events="histogram", **{"calibrate": None, **options})


def table_of(model: tb.Model) -> HistogramTable:
    [likelihood] = model.belief.likelihoods
    assert isinstance(likelihood, HistogramTable)
    return likelihood


def test_many_distinct_values_are_the_same_buckets_in_any_order_and_batches() -> None:
    x, y = labelled(30_000)
    whole = fitted(x, y)
    order = np.random.default_rng(1).permutation(len(x))
    parts = [fitted(x[at], y[at]) for at in np.array_split(order, 7)]
    total = parts[3] + parts[1]
    for k in (0, 6, 5, 4, 2):
        total = parts[k] + total
    assert total.evidence == whole.evidence
    [buckets] = whole.evidence.statistics[0].labels
    assert 512 < len(buckets) <= 1024
    assert buckets.shift > 0


def test_subtracting_keeps_the_resolution_and_is_exact_at_it() -> None:
    x, y = labelled(5000)
    whole, rest = fitted(x, y), fitted(x[3000:], y[3000:])
    back = whole.evidence - rest.evidence
    [buckets], [old] = back.statistics[0].labels, whole.evidence.statistics[0].labels
    assert buckets.shift == old.shift
    alone = fitted(x[:3000], y[:3000]).evidence
    assert back + rest.evidence == whole.evidence == alone + rest.evidence
    np.testing.assert_array_equal(back.statistics[0].sums["counts"].sum(axis=1).to_float(), np.bincount(y[:3000]))
    assert back - back == alone - alone


def test_a_file_gives_back_the_same_buckets() -> None:
    x, y = labelled(3000)
    model = fitted(np.stack([x, np.rint(x)], axis=1), y)
    again = parse_bytes(dump(model))
    assert again.evidence == model.evidence
    np.testing.assert_array_equal(
        again.predict_proba(x.reshape(-1, 1).repeat(2, 1)), model.predict_proba(x.reshape(-1, 1).repeat(2, 1))
    )


def zero_inflated(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n))


SHAPES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "constant": lambda rng, n: np.full(n, 3.0),
    "constant but one": lambda rng, n: np.where(np.arange(n) == 7, 4.0, 3.0),
    "missing": lambda rng, n: np.full(n, np.nan),
    "missing but one": lambda rng, n: np.where(np.arange(n) == 7, 4.0, np.nan),
    "largest": lambda rng, n: rng.choice([1.7e308, -1.7e308, 0.0], n),
    "smallest": lambda rng, n: rng.choice([5e-324, -5e-324, 1e-323, 0.0, -0.0], n),
    "adjacent": lambda rng, n: rng.choice([1.0, np.nextafter(1.0, 2.0)], n),
    "zero-inflated": zero_inflated,
    "whole": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "heavy": lambda rng, n: rng.standard_cauchy(n) ** 5,
    "all magnitudes": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 60, 3000])
def test_columns_of_every_shape_are_counted_scored_and_left_out(shape: str, n: int) -> None:
    rng = np.random.default_rng(0)
    x = np.stack([SHAPES[shape](rng, n), rng.normal(size=n)], axis=1)
    y = np.where(np.arange(n) == 0, "alone", rng.choice(["a", "b"], n))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = fitted(x, y)
        probe = np.array([[np.nan, 0.0], [0.0, 1e300], [1e308, -1e308], [-5e-324, np.nan]])
        for rows in (x, probe):
            p = model.predict_proba(rows)
            assert np.isfinite(p).all()
            np.testing.assert_allclose(p.sum(axis=1), 1.0)
            assert np.isfinite(model.log_joint(rows)).all()
        left = model.leave_one_out(x, y)
        assert np.isfinite(left[1:, [list(model.classes).index(c) for c in set(y[1:]) if (y == c).sum() > 1]]).all()
        for f in range(2):
            model.table(f"x{f}")
            assert np.isfinite(table_of(model).profile(f).log).all()
        drawn = table_of(model).sample(0, 5, rng)
        assert all(np.isfinite(column).all() or "missing" in shape for column in drawn)


def test_a_class_of_one_row_does_not_own_the_tails() -> None:
    x, y = labelled(500)
    y = np.where(y == 0, "low", "high")
    y[np.argmax(x)] = "once"
    model = fitted(x, y)
    assert model.predict(np.array([[1e6], [-1e6]])).tolist() == ["high", "low"]


def test_a_spike_is_seen_where_a_bell_is_blind() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["spike", "spread"], 300)
    x = np.concatenate([np.zeros(300), rng.normal(size=300)])
    p = fitted(x, y).predict_proba(np.array([[0.0], [0.1]]))
    assert p[0, 0] > 0.9
    assert p[1, 1] > 0.9


@pytest.mark.parametrize("n", [150, 20_000], ids=["a cell each", "runs of buckets"])
def test_cells_hold_their_buckets_and_no_other(n: int) -> None:
    x, y = labelled(n)
    model = fitted(x, y)
    experts = table_of(model).experts
    np.testing.assert_allclose(experts.counts.sum(axis=0), np.bincount(y))
    cell = experts.cells.of_values(0, x)
    want = np.stack([np.bincount(cell, y == c, len(experts.cells.value)) for c in range(3)], axis=1)
    np.testing.assert_array_equal(experts.counts, want)
    assert (experts.cells.low[cell] <= x).all()
    assert (x <= experts.cells.high[cell]).all()


def test_with_one_expert_the_density_is_that_expert_s() -> None:
    x, y = labelled(150)
    model = tb.fit(x[:, None], y, events="histogram(method='student')", calibrate=None)
    bell = tb.fit(x[:, None], y, events="gaussian", alpha=1.0, calibrate=None)
    np.testing.assert_allclose(model.log_joint(x[:, None]), bell.log_joint(x[:, None]), rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(x[:, None]), bell.predict_proba(x[:, None]), rtol=1e-9)


def test_variances_shrink_as_rows_grow() -> None:
    few, many = (table_of(fitted(*labelled(n))) for n in (300, 30_000))
    for f in (few, many):
        assert (f.experts.variances() >= 0).all()
    at = np.linspace(-1, 3, 9)
    one, two = (f.experts.variances()[f.experts.cells.of_values(0, at)].mean() for f in (few, many))
    assert two < one / 10


def test_counts_that_do_not_fit_the_rows_are_refused() -> None:
    x, y = labelled(50)
    model = fitted(x, y)
    with pytest.raises(tb.errors.CannotMerge, match="rows that were counted before"):
        model.forget(x[:1, None] + 1e-9, y[:1])


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(
        tb.errors.BadOption, match="method: wanted 'average', 'tree', 'student' or 'kernel', got 'median'"
    ):
        tb.fit({"x": [1.0, 2.0], "y": ["a", "b"]}, "y", events="histogram(method='median')")


def test_float32_and_whole_numbers_are_the_same_buckets() -> None:
    x, y = labelled(2000)
    whole = np.rint(x * 5)
    kinds = [pa.array(whole), pa.array(whole.astype(np.float32)), pa.array(whole.astype(np.int64))]
    models = [tb.fit(pa.table({"x": kind, "y": y}), "y", events="histogram") for kind in kinds]
    assert models[0].evidence == models[1].evidence == models[2].evidence


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda header, keys: (header, keys[::-1].copy()), "sorted and different"),
        (lambda header, keys: (header | {"shift": 60}, keys), "labels"),
        (lambda header, keys: (header | {"shift": 40}, keys | 1), "without low bits"),
        (lambda header, keys: (header, np.arange(len(keys)) + np.int64(0x7FF0000000000000)), "finite"),
    ],
    ids=["falling", "shift", "low bits", "infinite"],
)
def test_forged_buckets_are_refused(damage: Callable[..., tuple[dict[str, object], np.ndarray]], what: str) -> None:
    evidence = fitted(*labelled(50)).evidence
    tensors: container.Tensors = {}
    header = serialize.put(evidence, tensors)
    [labels] = header["blocks"][0]["labels"]
    header["blocks"][0]["labels"][0], tensors["0.labels.0"] = damage(labels, tensors["0.labels.0"])
    with pytest.raises(tb.errors.BadModelFile, match=what):
        deserialize.Reader(header, tensors).evidence()
