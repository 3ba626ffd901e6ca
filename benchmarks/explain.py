"""What a model's reasons cost."""

from __future__ import annotations

from functools import partial

import numpy as np

import tallybayes as tb
from benchmarks.clock import best
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds


def run(repeat: int) -> str:
    """Measure everything and give the table; what misses its mark has a cross behind it."""
    table = Growing("work", "time", "asked")
    _dependence(table, repeat)
    _queries(table, repeat)
    return table.markdown()


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


def _add(table: Growing, what: str, spent: float, asked: float | None = None) -> None:
    cross = "" if asked is None or spent <= asked else f" {MISSED}"
    table.add(what, f"{seconds(spent)}{cross}", "–" if asked is None else f"at most {seconds(asked)}")
