"""The two weather tables of the lecture notes, written out."""

from __future__ import annotations

from tallybayes.cli.demo import WEATHER as NOMINAL

NUMERIC = {
    "outlook": NOMINAL["outlook"],
    "temperature": [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
    "humidity": [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91],
    "windy": NOMINAL["windy"],
    "play": NOMINAL["play"],
}

__all__ = ["NOMINAL", "NUMERIC"]
