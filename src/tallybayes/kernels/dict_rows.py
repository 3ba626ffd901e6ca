"""Rows as dicts of numbers, kept to be counted or scored one by one; see the classes in `_native.pyi`."""

from __future__ import annotations

from ._native import CellScores, NumberRows

__all__ = ["CellScores", "NumberRows"]
