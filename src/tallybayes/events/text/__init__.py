"""The event model of text: a vocabulary, and counts of its words."""

from tallybayes.events.text.text import Text

__all__ = ["Text"]
