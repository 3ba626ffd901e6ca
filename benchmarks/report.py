"""The time of a report, from rows to a page."""

from __future__ import annotations

import numpy as np

import tallybayes as tb
from benchmarks.clock import best
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds

ROWS = 50_000


def run(repeat: int) -> str:
    """Measure figures and page, and return the table; a cross marks a missed target."""
    table = Growing("work", "time", "target")
    rows = mixed()
    made = best(lambda: tb.report(rows, "y"), min(repeat, 3))
    first = best(made.result.to_html, 1)
    page = best(made.result.to_html, min(repeat, 3))
    whole = made.seconds + page.seconds
    _add(table, f"report on {ROWS:,} × 30: the numbers", made.seconds)
    _add(table, "the same: the first page of a process, which packs the drawing library", first.seconds)
    _add(table, "the same: another page", page.seconds)
    _add(table, "both", whole, 15.0)
    return table.markdown()


def mixed() -> dict[str, np.ndarray]:
    """Return twenty columns of numbers, some dependent on the class, and ten of values."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    numbers = {f"n{k}": rng.normal(y * (k % 5) / 5, 1) for k in range(20)}
    values = {f"v{k}": rng.choice(list("abcdef"), ROWS) for k in range(10)}
    return {**numbers, **values, "y": np.where(y, "yes", "no")}


def _add(table: Growing, what: str, spent: float, target: float | None = None) -> None:
    cross = "" if target is None or spent <= target else f" {MISSED}"
    table.add(what, f"{seconds(spent)}{cross}", "–" if target is None else f"at most {seconds(target)}")
