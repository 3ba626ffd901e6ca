"""XOR, where naive Bayes must fail, with its diagnosis and its cure."""

from __future__ import annotations

import numpy as np
from rich.console import Console

import tallybayes as tb
from tallybayes.cli.demo.data import xor
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
