"""Digits 5 against 6: training averages the images, and each pixel adds its evidence."""

from __future__ import annotations

from rich.console import Console

import tallybayes as tb
from tallybayes.cli.demo.data import digits
from tallybayes.cli.demo.narration import heading, show, tell

_LIT = "bernoulli(threshold=7)"


def run(console: Console) -> None:
    """Show the class averages, the evidence of each pixel and the accuracy."""
    images, kinds = digits(5, 6)
    half = len(kinds) // 2
    heading(console, f"Digits: 5 against 6, {len(kinds)} handwritten ones of 8 × 8 pixels, black or white")
    model = tb.fit(images[:half], kinds[:half], events=_LIT)
    tell(console, "Training is averaging: how often each pixel is lit in each class.\n")
    seen = model.picture((8, 8))
    show(console, seen)
    show(console, seen.against(6, 5))
    p = model.predict_proba(images[half:])
    n = len(kinds) - half
    right = round(tb.evaluate(kinds[half:], p, model.classes).accuracy * n)
    tell(console, f"Of {n} other images it gets {right} right. The one it is least sure of:")
    doubtful = int(abs(p[:, 0] - 0.5).argmin())
    for line in images[half + doubtful].reshape(8, 8):
        tell(console, "  " + "".join("██" if pixel > 7 else "░░" for pixel in line))
    shares = ", ".join(f"{name} {share:.3f}" for name, share in zip(model.classes, p[doubtful], strict=True))
    tell(console, f"  P = {shares}; it is a {kinds[half + doubtful]}.")
