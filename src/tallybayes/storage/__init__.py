"""Models and unfinished runs as files."""
