"""The role of each column: label, weight, or a feature with its event model."""
