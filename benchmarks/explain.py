"""Explanations, dependence and counting queries: their time."""

from __future__ import annotations

from functools import partial

import numpy as np

import tallybayes as tb
from benchmarks.clock import best
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds


def run(repeat: int) -> str:
    """Measure everything and return the table; a cross marks a missed target."""
    table = Growing("work", "time", "target")
    _one_row(table, repeat)
    _many_rows(table, repeat)
    _dependence(table, repeat)
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
