"""Explanations, dependence, predictions with structure and counting queries: their time."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np

import tallybayes as tb
from benchmarks.clock import best, cpu
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, marked, seconds

_STRUCTURED = 4.0  # times the CPU that a prediction by columns alone takes


def run(repeat: int) -> str:
    """Measure everything and return the table; a cross marks a missed target."""
    table = Growing("work", "time", "target")
    _one_row(table, repeat)
    _many_rows(table, repeat)
    _dependence(table, repeat)
    _structure(table, repeat)
    _queries(table, repeat)
    return table.markdown()


def _one_row(table: Growing, repeat: int) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(2_000, 1_000)), rng.integers(0, 2, 2_000)
    model, codes = tb.fit(X, y), rng.integers(0, 5, (2_000, 1_000))
    _add(table, "one row of 1,000 numbers explained", best(partial(model.explain, X[0]), 30 * repeat).seconds, 1e-3)
    counted = tb.fit(codes, y, events="categorical")
    spent = best(partial(counted.explain, codes[0]), 30 * repeat).seconds
    _add(table, "one row of 1,000 values explained", spent, 1e-3)


def _many_rows(table: Growing, repeat: int) -> None:
    """Explain all rows, compared with predicting them; both alternate, so that other load affects both."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 100_000)
    numbers, values = rng.normal(size=(100_000, 50)), rng.integers(0, 10, (100_000, 50))
    for X, events, what in ((numbers, "gaussian", "numbers"), (values, "categorical", "values")):
        model = tb.fit(X, y, events=events)
        works = partial(model.contributions, X), partial(model.predict_proba, X)
        mine, once = np.min([[best(work, 1).seconds for work in works] for _ in range(5 * repeat)], axis=0)
        cross = "" if mine <= 3 * once else f" {MISSED}"
        want = f"at most 3× predict_proba ({seconds(once)})"
        table.add(f"100,000 rows of 50 {what} explained", f"{seconds(mine)}, {mine / once:.1f}×{cross}", want)


def _dependence(table: Growing, repeat: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 10, (100_000, 100)), rng.integers(0, 2, 100_000)
    for events, what in ((None, "numbers"), ("categorical", "values")):
        spent = best(partial(tb.dependence, X, y, events=events), repeat).seconds
        _add(table, f"dependence of 4,950 pairs of columns of ten {what}, 100,000 rows", spent, 3.0)


def _structure(table: Growing, repeat: int) -> None:
    """Predict by models of columns and of what they say together, compared with columns alone."""
    rng = np.random.default_rng(4)
    values, numbers = rng.integers(0, 6, (100_000, 30)), rng.normal(size=(100_000, 30))
    binned = np.clip(1.5 * numbers + 3, 0, 5).astype(int)
    for X, codes, events, what in ((values, values, "categorical", "values"), (numbers, binned, None, "numbers")):
        model, naive = (
            tb.fit(X[:30_000], _of_pairs(codes[:30_000]), events=events, structure=one) for one in ("pairs", "naive")
        )
        _beside(
            table, f"100,000 × 30 {what}, {len(model.schema.products)} pairs: predict_proba", model, naive, X, repeat
        )
    roots = np.eye(50) + 0.25 * rng.normal(size=(3, 50, 50))
    y, X = rng.integers(0, 3, 100_000), rng.normal(size=(100_000, 50))
    for c, root in enumerate(roots):
        X[y == c] = X[y == c] @ root
    model, naive = (tb.fit(X[:10_000], y[:10_000], structure=one) for one in ("auto", "naive"))
    assert [block.event.name for block in model.schema.products] == ["correlation"]
    _beside(table, "100,000 × 50 numbers, their correlation: predict_proba", model, naive, X, repeat)


def _of_pairs(codes: np.ndarray) -> np.ndarray:
    """Return classes that fifty pairs of columns decide together."""
    rng = np.random.default_rng(5)
    pairs = rng.permutation(list(combinations(range(codes.shape[1]), 2)))[:50]
    scores = rng.gumbel(size=(len(codes), 3))
    for f, g in pairs:
        scores += rng.normal(size=(6, 6, 3))[codes[:, f], codes[:, g]]
    return scores.argmax(axis=1)


def _beside(table: Growing, what: str, model: tb.Model, naive: tb.Model, X: np.ndarray, repeat: int) -> None:
    works = partial(model.predict_proba, X), partial(naive.predict_proba, X)
    mine, once = np.min([[cpu(work, 1) for work in works] for _ in range(3 * repeat)], axis=0)
    cell, want = f"{seconds(mine)}, {mine / once:.1f}× naive", f"at most {_STRUCTURED:.0f}× naive ({seconds(once)})"
    table.add(what, marked(cell, mine <= _STRUCTURED * once), want)


def _queries(table: Growing, repeat: int) -> None:
    rng = np.random.default_rng(1)
    shapes = {
        "shape": rng.choice(["circle", "square", "triangle"], 1_000_000),
        "colour": rng.choice(["red", "green", "blue"], 1_000_000),
    }
    rows = tb.read(shapes)
    _add(
        table,
        "P(circle given red) in 1,000,000 rows",
        best(partial(tb.probability, rows, "circle | red"), repeat).seconds,
    )


def _add(table: Growing, what: str, spent: float, target: float | None = None) -> None:
    cross = "" if target is None or spent <= target else f" {MISSED}"
    table.add(what, f"{seconds(spent)}{cross}", "–" if target is None else f"at most {seconds(target)}")
