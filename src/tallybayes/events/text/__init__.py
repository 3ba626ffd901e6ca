"""The event model of text: a bag of words."""

from tallybayes.events.text.text import Text

__all__ = ["Text"]
