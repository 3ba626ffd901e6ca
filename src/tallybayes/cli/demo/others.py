"""XOR, where naive Bayes must fail, and how that is found; and leaving out one row, which costs one pass."""

from __future__ import annotations

import numpy as np
from rich.console import Console

import tallybayes as tb
from tallybayes.cli.demo.data import WEATHER, iris, xor
from tallybayes.cli.demo.narration import heading, show, tell

__all__ = ["run_loo", "run_xor"]


def run_xor(console: Console) -> None:
    """The failure, the diagnosis and the cure."""
    rows = xor()
    heading(console, "XOR: a light that is on when exactly one of two switches is")
    told = tb.validate(rows, "light", "holdout").evaluation
    tell(
        console,
        f"Naive Bayes, a third of the rows by the rest: {told.accuracy:.3f} right, no better than a coin. Why?\n",
    )
    show(console, tb.dependence(rows, "light"))
    both = np.char.add(rows["left"].astype(str), rows["right"].astype(str))
    cured = tb.validate({"both": both, "light": rows["light"]}, "light", "holdout").evaluation
    tell(console, f"The two switches as one column of four values: {cured.accuracy:.3f} right.")


def run_loo(console: Console) -> None:
    """Each row by all others, without fitting a model for each."""
    heading(console, "Leave-one-out: each row judged by a model of all others")
    tell(
        console,
        "Its counts are subtracted, the row is scored: 150 models of 149 flowers, and none of them is fitted.\n",
    )
    show(console, tb.validate(iris(), "species", "loo"))
    told = tb.validate(WEATHER, "play", "loo").evaluation
    low, high = told.accuracy_interval()
    tell(
        console,
        f"Of the 14 days of weather {round(14 * told.accuracy)} are foretold: accuracy {told.accuracy:.2f}, "
        f"which may be anything from {low:.2f} to {high:.2f}. So few days teach little, and this says so.",
    )
