"""`tally demo`: the classic examples of naive Bayes, with bundled data."""

from tallybayes.cli.demo.data import WEATHER

__all__ = ["WEATHER"]
