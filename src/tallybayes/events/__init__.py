"""Event models: what one value of a column tells about the class. One file each; subclassing registers."""

from tallybayes.events.event import Event, How, known, parse

__all__ = ["Event", "How", "known", "parse"]
