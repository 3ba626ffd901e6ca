"""Exact sums of numbers that change row by row; see the class in `_native.pyi`."""

from __future__ import annotations

from ._native import NormalSums

__all__ = ["NormalSums"]
