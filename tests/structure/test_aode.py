"""structure="aode" beside a plain implementation of averaged one-dependence estimators, and its leave-one-out."""

from __future__ import annotations

from itertools import combinations
from math import exp, lgamma, log

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.errors import BadOption
from tallybayes.events.one_dependence import OneDependence

KAPPAS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0, 1024.0)


def chain(n=300, seed=0, missing=0.0):
    """Return rows of four columns in which each depends on the one before it, and on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = [rng.integers(0, 3, n)]
    for _ in range(3):
        copied = rng.random(n) < 0.3 + 0.2 * y
        x.append(np.where(copied, x[-1], rng.integers(0, 3, n)))
    gone = rng.random((4, n)) < missing
    columns = {f"x{k}": [None if g else "abc"[v] for v, g in zip(x[k], gone[k], strict=True)] for k in range(4)}
    return columns | {"y": [f"c{v}" for v in y]}


def rows_of(columns):
    names = list(columns)
    return [dict(zip(names, each, strict=True)) for each in zip(*columns.values(), strict=True)]


class PlainAode:
    """AODE as the paper has it, with conditional shares that are drawn to the marginal ones, by pseudo-rows κ."""

    def __init__(self, rows, weights=None, names=("x0", "x1", "x2", "x3")):
        self.rows, self.names = rows, names
        self.weights = [1.0] * len(rows) if weights is None else weights
        self.classes = sorted({row["y"] for row in rows})
        self.values = {n: sorted({row[n] for row in rows if row[n] is not None}) for n in names}
        self.omega = {pair: self.posterior(pair) for pair in combinations(names, 2)}

    def count(self, c=None, **values):
        """Return the weight of the rows with the given values; None stands for any value that is there."""
        found = 0.0
        for row, w in zip(self.rows, self.weights, strict=True):
            same = all(row[n] is not None if v is None else row[n] == v for n, v in values.items())
            found += w if same and c in (None, row["y"]) else 0.0
        return found

    def share(self, c, name, value, other, gone):
        total = self.count(c, **{name: None, other: None}) - gone
        return (self.count(c, **{name: value, other: None}) - gone + 1 / len(self.values[name])) / (total + 1)

    def posterior(self, pair):
        a, b = pair
        logs = []
        for kappa in KAPPAS:
            found = 0.0
            for c in self.classes:
                for v in self.values[a]:
                    for w in self.values[b]:
                        mean = kappa * self.share(c, a, v, b, 0) * self.share(c, b, w, a, 0)
                        found += lgamma(self.count(c, **{a: v, b: w}) + mean) - lgamma(mean)
                found += lgamma(kappa) - lgamma(self.count(c, **{a: None, b: None}) + kappa)
            logs.append(found)
        each = [exp(one - max(logs)) for one in logs]
        return [one / sum(each) for one in each]

    def ratio(self, c, row, pair, gone):
        """Return P(both values | c) over what it would be were they independent; `gone` of the row is left out."""
        a, b = pair
        rare = min(self.count(**{a: row[a], b: None}), self.count(**{a: None, b: row[b]}))
        if rare <= gone * (1 + 1e-9):
            return 1.0
        own = gone if row["y"] == c else 0.0
        independent = self.share(c, a, row[a], b, own) * self.share(c, b, row[b], a, own)
        n, total = self.count(c, **{a: row[a], b: row[b]}) - own, self.count(c, **{a: None, b: None}) - own
        terms = zip(self.omega[pair], KAPPAS, strict=True)
        return sum(w * (n / independent + kappa) / (total + kappa) for w, kappa in terms)

    def log_mean(self, c, row, gone=0.0):
        """Return log of the mean over parents of the product of the ratios with the other columns."""
        here = [n for n in self.names if row[n] is not None]
        parents = [n for n in here if self.count(**{n: row[n]}) > gone * (1 + 1e-9)]
        products = []
        for parent in parents:
            product = 1.0
            for other in here:
                if other != parent:
                    pair = tuple(sorted((parent, other)))
                    product *= self.ratio(c, row, pair, gone)
            products.append(product)
        return log(sum(products) / len(products)) if products else 0.0


def term(model, rows):
    """Return what all pairs add to the plain score of each class."""
    naive = tb.fit(rows, "y", calibrate=None)
    return model.log_joint(rows) - naive.log_joint(rows)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_it_is_the_textbook(missing):
    columns = chain(80, missing=missing)
    rows = rows_of(columns)
    plain = PlainAode(rows)
    found = term(tb.fit(columns, "y", structure="aode", calibrate=None), columns)
    expected = [[plain.log_mean(c, row) for c in plain.classes] for row in rows[:25]]
    np.testing.assert_allclose(found[:25], expected, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_a_row_out_is_counting_the_others(weighted):
    columns = chain(60, seed=1, missing=0.1)
    rows = rows_of(columns)
    rows[0]["x0"] = columns["x0"][0] = "once"  # unseen without its row
    weights = np.random.default_rng(0).choice([0.25, 0.5, 0.75], 60) if weighted else np.ones(60)
    given = {"weights": weights.tolist()} if weighted else {}
    model = tb.fit(columns, "y", structure="aode", calibrate=None, **given)
    naive = tb.fit(columns, "y", calibrate=None, **given)
    found = model.leave_one_out(columns, "y", **given) - naive.leave_one_out(columns, "y", **given)
    plain = PlainAode(rows, weights.tolist())
    expected = [[plain.log_mean(c, rows[i], weights[i]) for c in plain.classes] for i in range(25)]
    np.testing.assert_allclose(found[:25], expected, atol=1e-9)


def test_it_answers_as_the_published_estimator_does():
    """Weka's AODE: parents of one row or more, m-estimates with m = 1 towards equal shares."""
    columns, new = chain(4000, seed=2), chain(300, seed=3)
    rows, names = rows_of(columns), ["x0", "x1", "x2", "x3"]
    classes = sorted(set(columns["y"]))
    codes = {n: np.array(columns[n]) for n in (*names, "y")}

    def joint(row, c):
        total = 0.0
        for parent in names:
            mine = (codes["y"] == c) & (codes[parent] == row[parent])
            product = (mine.sum() + 1 / (len(classes) * 3)) / (len(rows) + 1)
            for other in names:
                if other != parent:
                    product *= ((mine & (codes[other] == row[other])).sum() + 1 / 3) / (mine.sum() + 1)
            total += product
        return total

    expected = np.array([[joint(row, c) for c in classes] for row in rows_of(new)])
    expected /= expected.sum(axis=1, keepdims=True)
    found = tb.fit(columns, "y", structure="aode", calibrate=None).predict_proba(new)
    np.testing.assert_allclose(found, expected, atol=0.08)  # here cells are drawn to independence, not to equal shares
    assert np.abs(found - expected).mean() < 0.015
    sure = np.ptp(np.sort(expected, axis=1)[:, 1:], axis=1) > 0.1
    assert (found.argmax(axis=1) == expected.argmax(axis=1))[sure].mean() > 0.98
    ours, theirs = (tb.evaluate(new["y"], p, classes).log_loss for p in (found, expected))
    assert ours < theirs + 0.005


def test_it_beats_naive_bayes_where_columns_depend_on_each_other():
    rows, new = chain(2000, seed=4), chain(4000, seed=5)

    def loss(**options):
        model = tb.fit(rows, "y", **options)
        return tb.evaluate(new["y"], model.predict_proba(new), model.classes).log_loss

    assert loss(structure="aode") < loss() - 0.02
    assert loss(structure="aode") < loss(structure="aode", calibrate=None) + 0.005


def test_rows_of_few_columns_are_answered_by_fewer_pairs():
    rows, new = chain(2000, seed=6), chain(2000, seed=7, missing=0.5)
    naive, aode = (tb.fit(rows, "y", structure=one) for one in ("naive", "aode"))
    plain, found = (tb.evaluate(new["y"], one.predict_proba(new), one.classes).log_loss for one in (naive, aode))
    assert found < plain
    np.testing.assert_allclose(
        aode.predict_proba([{"x1": "a"}]), naive.with_(calibrate=None).predict_proba([{"x1": "a"}])
    )


def test_variances_are_those_of_resampled_counts():
    """The bounds of a row hold about as often as they say, in models of rows drawn again."""
    rng, rows = np.random.default_rng(8), chain(1500, seed=8)
    model = tb.fit(rows, "y", structure="aode", calibrate=None)
    one = [{f"x{k}": "abca"[k] for k in range(4)}]
    found = model.predict_interval(one)
    drawn = []
    for _ in range(30):
        at = rng.integers(0, 1500, 1500)
        again = {name: [column[i] for i in at] for name, column in rows.items()}
        drawn.append(tb.fit(again, "y", structure="aode", calibrate=None).predict_proba(one)[0])
    inside = (found.low[0] <= drawn) & (drawn <= found.high[0])
    assert inside.mean() > 0.8
    assert (found.high - found.low < 0.6).all()


def test_results_say_what_pairs_share():
    model = tb.fit(chain(2000), "y", structure="aode")
    table = model.table("all pairs")
    assert table.rows == ("x0 & x1", "x0 & x2", "x0 & x3", "x1 & x2", "x1 & x3", "x2 & x3")
    assert table.values[0, 2] > 3 * table.values[2, 2]  # neighbours share more
    assert "Bits that the values of two columns share" in str(table)
    told = model.explain({f"x{k}": "a" for k in range(4)}, of="c2", against="c0")
    assert told.prior + sum(part.term for part in told.parts) == pytest.approx(told.log_odds)
    assert [part.value for part in told.parts if part.column == "all pairs"] == ["on average over parents"]
    assert model.parameters().interactions == 3 * 6 * 4
    with pytest.raises(BadOption, match="export: wanted a score that is a sum of terms, got structure 'aode'"):
        model.to_json()


def test_columns_that_cannot_be_paired_leave_the_naive_model():
    rows = {"a": list("ppqq") * 20, "b": ["same"] * 80, "y": list("stss") * 20}
    assert tb.fit(rows, "y", structure="aode").schema.terms == ("a", "b")


def test_parts_of_a_file_are_checked():
    with pytest.raises(ValueError, match="all pairs"):
        OneDependence.of([("a", "text", ("p",), ("p",))])


def test_fewer_columns_have_fewer_pairs():
    columns = chain(300)
    model = tb.fit(columns, "y", structure="aode")
    some = model.select(["x0", "x2", "x3"])
    alone = tb.fit({name: columns[name] for name in ("x0", "x2", "x3", "y")}, "y", structure="aode")
    assert some.evidence == alone.evidence
    np.testing.assert_allclose(some.calibrate(columns).predict_proba(columns), alone.predict_proba(columns))
    assert model.select(["x1"]).schema.terms == ("x1",)
    assert len(model.select(2).schema.columns) == 2


@pytest.mark.parametrize("structure", ["pairs", "tan", "aode"])
def test_columns_that_tell_only_together_are_kept(structure):
    rng = np.random.default_rng(0)
    left, right, noise = rng.integers(0, 2, (3, 400)).astype(str)
    rows = {"left": left, "right": right, "noise": noise, "y": np.where(left == right, "same", "other")}
    model = tb.fit(rows, "y", structure=structure)
    kept = model.select(rows=rows)
    assert {"left", "right"} <= set(kept.schema.columns)
    assert (kept.calibrate(rows).predict(rows) == rows["y"]).all()
