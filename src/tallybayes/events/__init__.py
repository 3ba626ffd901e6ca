"""Event models: how a value of a column depends on the class. One file each; subclassing registers."""

from tallybayes.events.event import Event
from tallybayes.events.likelihood import EstimateOptions, Likelihood
from tallybayes.events.registry import parse, registered

__all__ = ["EstimateOptions", "Event", "Likelihood", "parse", "registered"]
