"""Belief from evidence, scores, posterior, calibration and decisions."""
