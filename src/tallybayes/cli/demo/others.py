"""XOR, where naive Bayes must fail, with its diagnosis; and leave-one-out in one pass."""

from __future__ import annotations

import numpy as np
from rich.console import Console

import tallybayes as tb
from tallybayes.cli.demo.data import WEATHER, iris, xor
from tallybayes.cli.demo.narration import heading, show, tell


def run_xor(console: Console) -> None:
    """Show the failure, the diagnosis and the cure."""
    rows = xor()
    heading(console, "XOR: a light that is on when exactly one of two switches is")
    failed = tb.validate(rows, "light", "holdout").evaluation
    tell(console, f"Naive Bayes, a third of the rows held out: {failed.accuracy:.3f} right, as bad as chance. Why?\n")
    show(console, tb.dependence(rows, "light"))
    both = np.char.add(rows["left"].astype(str), rows["right"].astype(str))
    cured = tb.validate({"both": both, "light": rows["light"]}, "light", "holdout").evaluation
    tell(console, f"The two switches as one column of four values: {cured.accuracy:.3f} right.")


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
