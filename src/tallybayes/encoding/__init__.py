"""Rows as event models take them: values checked and encoded, wherever they came from."""
