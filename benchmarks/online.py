"""One row at a time: learn a row and predict the next, compared with River on the same rows."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

import tallybayes as tb
from benchmarks.clock import cpu
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds

ROWS = 20_000
_WINDOW = 500  # rows that are remembered
_MOST, _RATIO = 45e-6, 3.0  # seconds a row, and times River's
_FROZEN = 300e-6  # seconds to make another model with one more row

Row = dict[str, float]


def run(repeat: int) -> str:
    """Measure a stream row by row, and return the table; a cross marks a missed target."""
    table = Growing("work (CPU time a row)", "tallybayes", "River", "ratio", "target")
    rows, few = stream(), min(repeat, 3)
    peer = _river(rows, few)
    mine = cpu(lambda: _interleaved(tb.Learner(events="gaussian"), rows), few) / ROWS
    _compare(table, "learn and predict, 6 Gaussian columns", mine, peer)
    mine = cpu(lambda: _interleaved(tb.Learner(), rows), few) / ROWS
    _compare(table, "the same, as histograms (default), estimated again after 5 % more rows", mine, peer)
    mine = cpu(lambda: _sliding(tb.Learner(events="gaussian"), rows), few) / ROWS
    table.add(f"learn, predict, and forget the row {_WINDOW} before, Gaussian", seconds(mine), "–", "–", "–")
    for events, what in (("gaussian", "Gaussian"), ("histogram", "histograms")):
        labelled = [{**x, "y": y} for x, y in rows[:2000]]
        model = tb.fit(labelled, "y", events=events, calibrate=None)
        mine = cpu(lambda m=model, r=labelled: [m.learn([row]) for row in r[:200]], few) / 200  # type: ignore[misc]
        cross = "" if mine <= _FROZEN else f" {MISSED}"
        table.add(f"model.learn([row]), {what}", f"{seconds(mine)}{cross}", "–", "–", f"at most {seconds(_FROZEN)}")
    return table.markdown()


def stream() -> list[tuple[Row, str]]:
    """Return rows of six numbers whose means drift, and their classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, ROWS)
    drift = np.linspace(0, 1, ROWS)[:, None]
    numbers = rng.normal(classes[:, None] * np.array([0.2, 0.5, 1.0, 0.0, 0.3, 0.8]) + drift, 1.0)
    names = [f"x{f}" for f in range(6)]
    return [
        (dict(zip(names, x, strict=True)), "UP" if c else "DOWN")
        for x, c in zip(numbers.tolist(), classes, strict=True)
    ]


def _river(rows: list[tuple[Row, str]], repeat: int) -> float | None:
    try:
        from river import naive_bayes
    except ImportError:
        print("river is not installed: pip install river")
        return None
    return cpu(lambda: _interleaved(naive_bayes.GaussianNB(), rows), repeat) / ROWS


def _interleaved(model: Any, rows: list[tuple[Row, str]]) -> None:
    for x, y in rows:
        model.predict_proba_one(x)
        model.learn_one(x, y)


def _sliding(model: Any, rows: list[tuple[Row, str]]) -> None:
    window: deque[tuple[Row, str]] = deque()
    for x, y in rows:
        model.predict_proba_one(x)
        model.learn_one(x, y)
        window.append((x, y))
        if len(window) > _WINDOW:
            model.forget(*window.popleft())


def _compare(table: Growing, what: str, mine: float, peer: float | None) -> None:
    slow = mine > _MOST or (peer is not None and peer / mine < _RATIO)
    ratio = "–" if peer is None else f"{peer / mine:.1f}×"
    target = f"{_RATIO:g}×, at most {seconds(_MOST)}"
    cross = f" {MISSED}" if slow else ""
    table.add(what, f"{seconds(mine)}{cross}", "–" if peer is None else seconds(peer), ratio, target)
