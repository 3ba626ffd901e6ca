"""A durable journal of what a model has learned and forgotten, in SQLite or PostgreSQL."""
