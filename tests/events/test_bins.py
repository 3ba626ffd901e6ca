"""Numbers in bins: of equal frequency, of equal width, and by minimum description length."""

from __future__ import annotations

from math import log2

import numpy as np
import pyarrow as pa
import pytest
from sklearn.preprocessing import KBinsDiscretizer

import tallybayes as tb
from tallybayes.errors import BadOption


def rows_of(x, y):
    return {"x": np.asarray(x, float), "y": np.asarray(y)}


def edges_of(model, column="x"):
    b, f = model.schema.place(column)
    return model.belief.likelihoods[b].to_plain()[f].edges


def mixed(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.where(y == 2, rng.normal(3, 0.5, n), rng.normal(y, 1.0, n)), np.array(["a", "b", "c"])[y]


class PlainMdl:
    """Fayyad and Irani's cuts, value by value, as the paper has them."""

    @staticmethod
    def entropy(labels):
        shares = [labels.count(c) / len(labels) for c in set(labels)]
        return -sum(p * log2(p) for p in shares)

    def cuts(self, pairs):
        pairs = sorted(pairs)
        labels, n = [c for _, c in pairs], len(pairs)
        best = None
        for i in range(1, n):
            if pairs[i - 1][0] < pairs[i][0]:
                left, right = labels[:i], labels[i:]
                after = (i * self.entropy(left) + (n - i) * self.entropy(right)) / n
                if best is None or after < best[0] - 1e-12:
                    best = after, i
        if best is None:
            return []
        after, i = best
        left, right, k = labels[:i], labels[i:], len(set(labels))
        gain = self.entropy(labels) - after
        delta = log2(3**k - 2) - (
            k * self.entropy(labels) - len(set(left)) * self.entropy(left) - len(set(right)) * self.entropy(right)
        )
        if gain <= (log2(n - 1) + delta) / n:
            return []
        middle = (pairs[i - 1][0] + pairs[i][0]) / 2
        return [*self.cuts(pairs[:i]), middle, *self.cuts(pairs[i:])]


@pytest.mark.parametrize("seed", range(4))
def test_mdl_cuts_where_the_paper_does(seed):
    x, y = mixed(seed=seed)
    x = np.round(x, 1) if seed % 2 else x
    expected = PlainMdl().cuts(list(zip(x.tolist(), y.tolist(), strict=True)))
    np.testing.assert_allclose(edges_of(tb.fit(rows_of(x, y), "y", events="mdl")), expected)
    assert len(expected) > 1


def test_mdl_leaves_noise_alone():
    rng = np.random.default_rng(1)
    model = tb.fit(rows_of(rng.normal(size=500), rng.integers(0, 2, 500)), "y", events="mdl", calibrate=None)
    assert model.table("x").rows == ("any",)
    np.testing.assert_allclose(model.predict_proba([{"x": 3.0}])[0], list(model.prior.values()))


def test_equal_widths_are_scikit_learns():
    x, y = mixed()
    bins = KBinsDiscretizer(6, encode="ordinal", strategy="uniform").fit(x[:, None])
    model = tb.fit(rows_of(x, y), "y", events="bins(6, equal='width')", calibrate=None)
    np.testing.assert_allclose(edges_of(model), bins.bin_edges_[0][1:-1], rtol=1e-12)
    counts = np.bincount(bins.transform(x[:, None])[:, 0].astype(int), minlength=6)
    np.testing.assert_array_equal(model.table("x").counts.sum(axis=1), counts)


@pytest.mark.parametrize("k", [2, 5, 10])
def test_equal_frequencies_are_those_of_quantiles(k):
    x, y = mixed()
    bins = KBinsDiscretizer(k, encode="ordinal", strategy="quantile", subsample=None).fit(x[:, None])
    model = tb.fit(rows_of(x, y), "y", events=f"bins({k})", calibrate=None)
    assert model.table("x").counts.sum(axis=1).tolist() == [600 / k] * k
    order = np.sort(x)
    for mine, theirs in zip(edges_of(model), bins.bin_edges_[0][1:-1], strict=True):  # in the same gap, or next to it
        assert abs(np.searchsorted(order, mine) - np.searchsorted(order, theirs)) <= 1


def test_shares_are_those_of_a_categorical_column_of_bins():
    x, y = mixed()
    model = tb.fit(rows_of(x, y), "y", events="bins(7)", alpha=1, calibrate=None)
    coded = np.searchsorted(edges_of(model), x, side="right").astype(str)
    twin = tb.fit({"x": coded, "y": y}, "y", alpha=1, calibrate=None)
    np.testing.assert_allclose(model.predict_proba({"x": x}), twin.predict_proba({"x": coded}))
    np.testing.assert_allclose(
        model.with_(estimate="mle").predict_proba({"x": x}), twin.with_(estimate="mle").predict_proba({"x": coded})
    )
    averaged = tb.fit(rows_of(x, y), "y", events="bins(7)", alpha="average", calibrate=None)
    np.testing.assert_allclose(
        averaged.predict_proba({"x": x}), tb.fit({"x": coded, "y": y}, "y", calibrate=None).predict_proba({"x": coded})
    )


@pytest.mark.parametrize("event", ["bins(10)", "bins(10, equal='width')", "mdl"])
def test_more_values_than_buckets_are_scored_where_they_were_counted(event):
    x, y = mixed(20_000)
    model = tb.fit(rows_of(x, y), "y", events=event, calibrate=None)
    counts = model.table("x").counts.sum(axis=1)
    found = np.bincount(np.searchsorted(edges_of(model), x, side="right"), minlength=len(counts))
    np.testing.assert_array_equal(counts, found)
    assert counts.sum() == 20_000


@pytest.mark.parametrize("event", ["bins(10)", "bins(10, equal='width')", "mdl"])
@pytest.mark.parametrize(
    "x",
    [[1.0, 1.0, 1.0, 1.0], [-1e308, 1e308, 0.0, 5.0], [None, None, None, None], [1.0, None, 2.0, None], [0, 1, 2, 3]],
    ids=["constant", "large", "missing", "some missing", "whole"],
)
def test_odd_columns_just_work(event, x):
    rows = pa.table({"x": pa.array(x, pa.float64()), "y": ["s", "s", "t", "t"]})
    model = tb.fit(rows, "y", events={"x": event})
    assert np.isfinite(model.predict_proba(rows)).all()
    assert np.isfinite(model.predict_proba([{"x": 1e300}, {"x": -1e300}])).all()
    assert model.sample(5).num_rows == 5
    assert "x" in str(model.table("x"))


def test_rows_can_be_learned_and_forgotten_whatever_the_cuts(tmp_path):
    x, y = mixed(300)
    whole, first = rows_of(x, y), rows_of(x[:200], y[:200])
    for event in ("bins(4)", "bins(4, equal='width')", "mdl"):
        model = tb.fit(first, "y", events=event).learn(rows_of(x[200:], y[200:]))
        assert model.evidence == tb.fit(whole, "y", events=event).evidence
        assert model.forget(rows_of(x[200:], y[200:])).evidence == tb.fit(first, "y", events=event).evidence
        model.save(tmp_path / "m.tally")
        loaded = tb.load(tmp_path / "m.tally")
        assert loaded == model
        assert loaded.schema.events() == {"x": tb.fit(first, "y", events=event).schema.event("x").spec}
        np.testing.assert_allclose(tb.from_json(model.to_json()).predict_proba(whole), model.predict_proba(whole))


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ("bins(1)", "bins k: wanted a whole number from 2 to 254, got 1"),
        ("bins(2.5)", "bins k: wanted a whole number from 2 to 254, got 2.5"),
        ("bins(5, equal='size')", "bins equal: wanted 'frequency' or 'width', got 'size'"),
        ("bins(5, k=6)", r"wanted each option of bins once \(k, equal\)"),
        ("bins(5, 'width', 3)", "wanted each option of bins once"),
        ("mdl(3)", "wanted each option of mdl once"),
    ],
)
def test_options_that_cannot_be(event, says):
    with pytest.raises(BadOption, match=says):
        tb.fit({"x": [1.0, 2.0], "y": ["a", "b"]}, "y", events=event)


def test_compare_tries_them():
    x, y = mixed(200)
    found = tb.compare(rows_of(x, y), "y", "3-fold", partners=())
    assert found["numbers in bins by MDL"].option == "--event x=mdl"
    assert found["numbers in ten bins"].option == "--event x=bins"
