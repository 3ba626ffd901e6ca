"""Arithmetic that several event models share, one family per file."""
