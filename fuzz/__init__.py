"""Coverage-guided fuzzing: `python -m fuzz NAME --minutes N`; see docs/trust.md."""
