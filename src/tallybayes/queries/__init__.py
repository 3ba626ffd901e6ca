"""Probability queries on rows or on a model, and rows sampled from a model."""
