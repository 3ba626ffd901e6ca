"""Smoothing averaged over α: shares, rows left out, and categories that use it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.events.families.tree import ALPHAS, Level
from tallybayes.events.families.value_shares import level_of


def random_level(seed: int = 0) -> Level:
    rng = np.random.default_rng(seed)
    counts, parent = rng.integers(0, 9, (7, 3)).astype(float), np.array([0, 0, 0, 1, 1, 2, 2])
    counts[2], counts[4] = 0, [1, 0, 0]
    totals = np.stack([np.bincount(parent, counts[:, c]) for c in range(3)], axis=1)
    return Level(counts, parent, totals, np.array([0, 0, 1]))


def test_shares_below_each_parent_sum_to_one() -> None:
    level = random_level()
    shares = np.exp(level.log_shares())
    shares[level.pooled == 0] = 0  # one row more, which no row has
    np.testing.assert_allclose(np.array([shares[level.parent == p].sum(axis=0) for p in range(3)]), 1.0)
    np.testing.assert_allclose(level.omega.sum(axis=0), 1.0)


def test_groups_of_parents_do_not_depend_on_each_other() -> None:
    level = random_level()
    alone = Level(level.counts[:5], level.parent[:5], level.totals[:2], level.group[:2])
    np.testing.assert_allclose(alone.log_ratios(), level.log_ratios()[:5], rtol=1e-12, atol=1e-12)


def test_omega_is_the_probability_of_the_counts() -> None:
    counts = np.array([[3.0, 0.0], [1.0, 2.0]])
    level = Level(counts, np.zeros(2, np.intp), counts.sum(axis=0)[None], np.zeros(1, np.intp))
    want = []
    for alpha in ALPHAS:  # row after row: (seen + αq) / (all + α)
        log = 0.0
        for c in range(2):
            seen = np.zeros(2)
            for v in [0] * int(counts[0, c]) + [1] * int(counts[1, c]):
                log += np.log((seen[v] + alpha * level.shares[v]) / (seen.sum() + alpha))
                seen[v] += 1
        want.append(np.exp(log))
    np.testing.assert_allclose(level.omega[:, 0], np.array(want) / np.sum(want), rtol=1e-9)


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_a_row_left_out_is_its_weight_less_in_every_count(weight: float) -> None:
    level = random_level()
    value, own = np.nonzero(level.counts)
    got = level.log_ratios_without(value, own, weight)
    for k, (v, c) in enumerate(zip(value, own, strict=True)):
        counts, totals = level.counts.copy(), level.totals.copy()
        counts[v, c] -= weight
        totals[level.parent[v], c] -= weight
        less = Level(counts, level.parent, totals, level.group)
        less.__dict__["omega"] = level.omega
        np.testing.assert_allclose(got[k], less.log_ratios()[v], rtol=1e-12, atol=1e-12)
    if weight == 1.0:
        other, same = level.log_ratios_without_one()
        table = np.where(np.arange(3) == own[:, None], same[value], other[value])
        np.testing.assert_allclose(got, table, rtol=1e-12, atol=1e-12)


def rows(n: int = 60, *, weighted: bool = False) -> pa.Table:
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, n)
    table = {
        "a": pa.array([f"v{(k + c) % 5}" for k, c in zip(rng.integers(0, 3, n), label, strict=True)]),
        "b": pa.array(rng.choice(["x", "y", "z"], n), mask=rng.random(n) < 0.1),
        "label": pa.array([f"k{c}" for c in label]),
    }
    return pa.table(table | ({"w": pa.array(rng.choice([0.5, 1.0, 0.1], n))} if weighted else {}))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("alpha", ["average", {"a": "average"}], ids=str)
@pytest.mark.parametrize("unseen", ["smooth", "skip"])
def test_leave_one_out_equals_evidence_without_the_row_with_the_same_omega(
    weighted: bool, alpha: object, unseen: str
) -> None:
    once = rows(1, weighted=weighted).set_column(0, "a", pa.array(["once"]))
    table = pa.concat_tables([rows(weighted=weighted), once])
    model = tb.fit(table, "label", weights="w" if weighted else None, alpha=alpha, unseen=unseen, calibrate=None)
    got = model.leave_one_out(table)
    omega = level_of(model.evidence.statistics[0]).omega
    for i in range(len(table)):
        other = model.forget(table.slice(i, 1))
        level_of(other.evidence.statistics[0]).__dict__["omega"] = omega
        np.testing.assert_allclose(got[i], other.log_joint(table.slice(i, 1))[0], rtol=1e-9, atol=1e-9)


def test_averaging_leaves_textbook_rules_alone() -> None:
    table = rows()
    for rule in ("mle", "map"):
        one, other = (tb.fit(table, "label", estimate=rule, alpha=alpha) for alpha in ("average", 1.0))
        np.testing.assert_array_equal(one.log_joint(table), other.log_joint(table))


def test_a_mapping_averages_only_the_columns_it_names() -> None:
    table = rows()
    mixed = tb.fit(table, "label", alpha={"a": "average"}, calibrate=None)
    averaged, plain = (tb.fit(table, "label", alpha=alpha, calibrate=None) for alpha in ("average", 1.0))
    np.testing.assert_array_equal(mixed.table("a").values, averaged.table("a").values)
    np.testing.assert_array_equal(mixed.table("b").values, plain.table("b").values)
    np.testing.assert_allclose(averaged.table("a").values.sum(axis=0), 1.0)


def test_a_value_never_seen_follows_the_classes_with_few_rows() -> None:
    model = tb.fit({"x": ["a", "a", "a", "b", "b", "c"], "y": [0, 0, 0, 0, 1, 1]}, "y", alpha="average", calibrate=None)
    odds = np.diff(model.log_joint([{"x": "new"}])[0] - np.log([4, 2]))
    assert 0 < odds < np.log(2)
    assert np.isfinite(model.log_joint([{"x": "new"}])).all()


def test_intervals_of_values_that_a_class_lacks_are_finite() -> None:
    model = tb.fit(rows(), "label", alpha="average")
    found = model.predict_interval([{"a": "v0", "b": "x"}, {"a": "never"}])
    assert ((found.low >= 0) & (found.low <= found.probability) & (found.probability <= found.high)).all()
