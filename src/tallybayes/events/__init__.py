"""Event models: what one value of a column tells about the class. One file each; subclassing registers."""

from tallybayes.events.event import EstimateOptions, Event
from tallybayes.events.registry import known, parse

__all__ = ["EstimateOptions", "Event", "known", "parse"]
