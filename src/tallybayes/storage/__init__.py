"""Model files and checkpoints of unfinished runs."""
