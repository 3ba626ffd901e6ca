"""Learning one row at a time."""

from tallybayes.online.learner import Learner

__all__ = ["Learner"]
