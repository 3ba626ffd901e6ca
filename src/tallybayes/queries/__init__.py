"""Probabilities asked of rows or of a model, and rows drawn from a model."""
