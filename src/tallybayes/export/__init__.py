"""Models taken elsewhere: JSON, a web page, SQL, ONNX, DuckDB. All read a `Scorecard` and nothing else."""
