"""The short demo: a prediction with its reasons, rows forgotten exactly, and probabilities that hold."""

from __future__ import annotations

from rich.console import Console

import tallybayes as tb
from tallybayes.cli.demo.data import messages
from tallybayes.cli.demo.narration import heading, show, tell

_MESSAGE = {
    "sender": "unknown",
    "hour": 3,
    "links": 1,
    "text": "Could you call the bank? Claim your free prize before midnight",
}


def run(console: Console) -> None:
    """Show the three best things on 300 invented messages."""
    path = messages()
    rows = [row for batch in tb.read(path) for row in batch.to_pylist()]
    heading(console, "1. Text, numbers and names in one model, and reasons with counts")
    tell(console, "tally fit messages.csv --label kind; then tally explain messages.tally ROW:\n")
    model = tb.fit(path, "kind")
    show(console, model.explain(_MESSAGE))
    heading(console, "2. Rows are forgotten exactly")
    wrong = rows[:3]
    taught = model.learn([row | {"kind": "spam" if row["kind"] == "ham" else "ham"} for row in wrong])
    back = taught.forget([row | {"kind": "spam" if row["kind"] == "ham" else "ham"} for row in wrong])
    tell(
        console,
        f"Learned {len(wrong)} rows with the wrong class: the counts are the same as before? {_yes(taught, model)}.",
    )
    tell(console, f"Forgot them again: the same, to the last bit? {_yes(back, model)}.\n")
    heading(console, "3. Probabilities that hold on rows it has not seen")
    for name, calibrate in (("as naive Bayes has them", None), ("calibrated, the default", "auto")):
        seen = tb.validate(path, "kind", "10-fold", calibrate=calibrate).evaluation
        figures = f"log-loss {seen.log_loss:.3f}, calibration error {seen.ece:.3f}"
        tell(console, f"  {name:<24} {figures}")
    tell(console, "\nNext: tally YOUR.csv looks at a file of your own; tally demo --course shows the classic examples.")


def _yes(one: tb.Model, other: tb.Model) -> str:
    return "yes" if one.evidence == other.evidence else "no"
