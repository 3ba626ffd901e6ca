"""Why: what a model says of its reasons, as frozen results that hold numbers and compute nothing when shown."""
