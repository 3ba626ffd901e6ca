"""Scorecards as one offline web page: a form, the answer, and the reasons for it."""

from __future__ import annotations

from importlib.resources import files

from tallybayes.export.json import to_json
from tallybayes.export.scorecard import Scorecard

__all__ = ["to_html"]


def to_html(card: Scorecard) -> str:
    """Return a page that needs no other file and no network."""
    parts = {
        "STYLE": _read("page.css"),
        "SCORER": _read("tally-score.js"),
        "PAGE": _read("page.js"),
        # Every < is escaped, so that no name can close the script.
        "CARD": to_json(card).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"),
    }
    page = _read("page.html").split("@@")  # what is put in is never searched for marks
    return "".join(parts[text] if k % 2 else text for k, text in enumerate(page))


def _read(name: str) -> str:
    return files("tallybayes.export").joinpath("page", name).read_text(encoding="utf-8")
