"""The weather data: its tables, a new day, and the same with numbers."""

from __future__ import annotations

import math
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import tallybayes as tb
from tallybayes.cli.demo.data import NEW_DAY, NEW_NUMERIC_DAY, WEATHER, numeric_weather
from tallybayes.cli.demo.narration import heading, shares, show, tell
from tallybayes.explain.tables import Table


def run(console: Console) -> None:
    """Fit, show and predict."""
    model = tb.fit(WEATHER, "play", alpha=1, calibrate=None)  # the plain figures of the lecture
    likely = model.with_(estimate="mle")
    heading(console, "The weather data: 14 days, play or not")
    tell(console, f"P(play) = {shares(model.prior)}\n")
    for column in model.schema.columns:
        console.print(grid(likely.table(column), model.table(column)))
    heading(console, f"\nA new day: {', '.join(NEW_DAY.values())}")
    joint = dict(zip(likely.classes, likely.log_joint([NEW_DAY])[0], strict=True))
    for name, score in joint.items():
        tell(console, f"  prior × likelihood of {name:<3} = {math.exp(score):.6f}")
    tell(console, f"  as counted      P = {shares(_row(likely, NEW_DAY))}")
    tell(console, f"  add-one (α = 1) P = {shares(_row(model, NEW_DAY))}")
    tell(console, f"  play? {model.predict([NEW_DAY])[0]}", "bold green")
    without = model.forget({name: values[:1] for name, values in WEATHER.items()})
    tell(console, f"\nWith the first day forgotten: {shares(_row(without, NEW_DAY))}")


def run_numeric(console: Console) -> None:
    """Show the same days with two numeric columns: a Gaussian for each class."""
    rows = numeric_weather()
    likely = tb.fit(rows, "play", estimate="mle", variance="n-1", calibrate=None)
    heading(console, "The same days with numbers: a normal density for each class")
    tell(console, "Mean and standard deviation of each class, the sum of squares divided by n − 1:\n")
    for column in ("temperature", "humidity"):
        show(console, likely.table(column))
    day = NEW_NUMERIC_DAY
    heading(console, f"A new day: {', '.join(map(str, day.values()))}")
    joint = dict(zip(likely.classes, likely.log_joint([day])[0], strict=True))
    for name, score in joint.items():
        tell(console, f"  prior × likelihood of {name:<3} = {math.exp(score):.9f}")
    tell(console, f"  as counted P = {shares(_row(likely, day))}")
    honest = tb.fit(rows, "play")
    tell(console, f"  by default (histograms, and a weight for each column) P = {shares(_row(honest, day))}")
    tell(console, f"\nHow sure is that? {honest.predict_interval([day]).of(0)}\n")
    show(console, honest.explain(day))


def grid(counted: Table, smoothed: Table) -> Grid:
    """Return one column's counts, shares and smoothed shares, a row per value."""
    table = Grid(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False)
    table.add_column(Text(f"{counted.column}\n", style="bold not dim"), min_width=12)
    for title in ("count", "share", "smoothed"):
        for name in counted.classes:
            table.add_column(f"{title}\n{name}", justify="right", min_width=8)
    assert counted.counts is not None
    for k, value in enumerate(counted.rows):
        totals = counted.counts.sum(axis=0)
        cells = [f"{n:g}" for n in counted.counts[k]]
        cells += [f"{n:g}/{total:g}" for n, total in zip(counted.counts[k], totals, strict=True)]
        cells += [f"{p:.3f}" for p in smoothed.values[k]]
        table.add_row(str(value), *cells)
    return table


def _row(model: tb.Model, day: dict[str, Any]) -> dict[Any, float]:
    return dict(zip(model.classes, model.predict_proba([day])[0].tolist(), strict=True))
