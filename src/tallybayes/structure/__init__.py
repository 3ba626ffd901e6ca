"""Dependence between columns, measured and tested."""
