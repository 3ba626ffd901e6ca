"""`tally demo`: the classic examples of naive Bayes, with data that comes along."""

from tallybayes.cli.demo.data import WEATHER

__all__ = ["WEATHER"]
