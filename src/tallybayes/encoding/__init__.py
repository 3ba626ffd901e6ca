"""Rows as event models take them: values checked and encoded, whatever their source."""
