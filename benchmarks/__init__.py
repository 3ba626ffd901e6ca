"""Benchmarks of tallybayes and its peers: `python -m benchmarks`."""
