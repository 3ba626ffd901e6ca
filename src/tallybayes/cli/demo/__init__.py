"""`tally demo`: the weather table, its tables as a lecture would print them, and a new day."""

from __future__ import annotations

import math
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import tallybayes as tb
from tallybayes.explain.tables import Table

__all__ = ["WEATHER", "grid", "run"]

_DAYS = """
sunny hot high false no
sunny hot high true no
overcast hot high false yes
rainy mild high false yes
rainy cool normal false yes
rainy cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rainy mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rainy mild high true no
"""
_COLUMNS = ("outlook", "temperature", "humidity", "windy", "play")
WEATHER = {name: [day.split()[k] for day in _DAYS.strip().splitlines()] for k, name in enumerate(_COLUMNS)}
NEW_DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}


def run() -> None:
    """Fit, show and predict."""
    console = Console(highlight=False)
    model = tb.fit(WEATHER, "play", calibrate=None)  # the plain figures of the lecture
    likely = model.with_(estimate="mle")
    console.print(Text("The weather data: 14 days, play or not", style="bold"))
    console.print(f"P(play) = {_shares(model.prior)}\n")
    for column in model.schema.columns:
        console.print(grid(likely.table(column), model.table(column)))
    day = ", ".join(NEW_DAY.values())
    console.print(Text(f"\nA new day: {day}", style="bold"))
    joint = dict(zip(likely.classes, likely.log_joint([NEW_DAY])[0], strict=True))
    for name, score in joint.items():
        console.print(f"  prior × likelihood of {name:<3} = {math.exp(score):.6f}")
    console.print(f"  as counted      P = {_shares(_row(likely))}")
    console.print(f"  add-one (α = 1) P = {_shares(_row(model))}")
    console.print(Text(f"  play? {model.predict([NEW_DAY])[0]}", style="bold green"))
    without = model.forget({name: values[:1] for name, values in WEATHER.items()})
    console.print(f"\nAnd had the first day never been counted: {_shares(_row(without))}")


def grid(counted: Table, smoothed: Table) -> Grid:
    """One column's counts, shares and smoothed shares, a row per value."""
    table = Grid(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False)
    table.add_column(Text(f"{counted.column}\n", style="bold not dim"), min_width=12)
    for heading in ("count", "share", "smoothed"):
        for name in counted.classes:
            table.add_column(f"{heading}\n{name}", justify="right", min_width=8)
    assert counted.counts is not None
    for k, value in enumerate(counted.rows):
        totals = counted.counts.sum(axis=0)
        cells = [f"{n:g}" for n in counted.counts[k]]
        cells += [f"{n:g}/{total:g}" for n, total in zip(counted.counts[k], totals, strict=True)]
        cells += [f"{p:.3f}" for p in smoothed.values[k]]
        table.add_row(str(value), *cells)
    return table


def _row(model: tb.Model) -> dict[Any, float]:
    return dict(zip(model.classes, model.predict_proba([NEW_DAY])[0].tolist(), strict=True))


def _shares(shares: dict[Any, float]) -> str:
    return ", ".join(f"{name} {p:.4f}" for name, p in shares.items())
