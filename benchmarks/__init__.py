"""Measure tallybayes beside its peers: `python -m benchmarks`."""
