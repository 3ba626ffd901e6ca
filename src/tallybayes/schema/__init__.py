"""What each column is: label, weight, or a feature of an event model."""
