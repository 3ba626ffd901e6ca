"""A soak test: models change at random for minutes or days, checked against plain counts; see docs/trust.md."""
