"""Colours and sizes shared by all charts."""

from __future__ import annotations

__all__ = ["AGAINST", "COLOURS", "FOR", "HEIGHT", "QUIET", "WIDTH"]

# A palette for colour-blind readers too (Okabe and Ito).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#b3a400", "#555555"]
FOR, AGAINST = COLOURS[0], COLOURS[1]
# For reference lines.
QUIET = "#888"
WIDTH, HEIGHT = 320, 240
