"""Exact sufficient statistics: counted, sampled, merged, subtracted and serialized."""
