"""Leave-one-out in one pass, shown on flowers and on days of weather."""

from __future__ import annotations

from rich.console import Console

import tallybayes as tb
from tallybayes.cli.demo.data import WEATHER, iris
from tallybayes.cli.demo.narration import heading, show, tell


def run_loo(console: Console) -> None:
    """Score each row by a model of all others, without fitting one for each."""
    heading(console, "Leave-one-out: each row judged by a model of all others")
    tell(console, "Subtract a row's counts, then score it: 150 models of 149 flowers, and none of them is fitted.\n")
    show(console, tb.validate(iris(), "species", "loo"))
    found = tb.validate(WEATHER, "play", "loo", alpha=1, calibrate=None).evaluation  # as the lecture counts
    low, high = found.accuracy_interval()
    tell(
        console,
        f"Of the 14 days of weather {round(14 * found.accuracy)} are predicted: accuracy {found.accuracy:.2f}, "
        f"with an interval from {low:.2f} to {high:.2f}. Fourteen days are not enough to say more.",
    )
