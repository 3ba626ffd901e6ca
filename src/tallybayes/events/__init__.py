"""Event models: what one value of a column tells about the class. One file each; subclassing registers."""

from tallybayes.events.event import EstimateOptions, Event, parse, registered

__all__ = ["EstimateOptions", "Event", "parse", "registered"]
