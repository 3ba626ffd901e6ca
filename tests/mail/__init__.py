"""Tests of the mail filter."""
