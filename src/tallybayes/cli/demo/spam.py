"""Spam: one word, all words, new messages with an explanation, and the accuracy."""

from __future__ import annotations

from rich.console import Console

import tallybayes as tb
from tallybayes.cli.demo.data import messages
from tallybayes.cli.demo.narration import heading, show, tell

_BESIDE = dict.fromkeys(("sender", "hour", "links"), "ignore")
_NEW = (
    "Dear winner, claim your free prize before midnight",
    "Could you call me when the train gets in? I am at the station",
    "Your bank has a new app. Click to claim your free coffee at the corner cafe",
)


def run(console: Console) -> None:
    """Go from one word to a filter."""
    path = messages()
    heading(console, "Spam: 300 invented messages")
    tell(console, "One word, by counting:\n")
    for word in ("free", "prince", "bring"):
        show(console, tb.probability(path, f"kind=spam | text~{word}"))
    model = tb.fit(path, "kind", events=_BESIDE)
    tell(console, "All words: each has its own probability in ham and in spam. The most informative:\n")
    show(console, model.table("text"))
    heading(console, "New messages")
    for text in _NEW:
        p = dict(zip(model.classes, model.predict_proba([{"text": text}])[0], strict=True))
        tell(console, f"  P(spam) = {p['spam']:.3f}  {text}", "red" if p["spam"] > 0.5 else "green")
    console.print()
    show(console, model.explain({"text": _NEW[-1]}))
    heading(console, "How good is that on messages it has not seen?")
    show(console, tb.validate(path, "kind", "10-fold", events=_BESIDE))
    whole = tb.validate(path, "kind", "10-fold")
    more = f"accuracy {whole.evaluation.accuracy:.3f}, log-loss {whole.evaluation.log_loss:.3f}"
    tell(console, f"With sender, hour and links as well: {more}. Columns of any kind go into one model.")
