"""`tally serve`: models over HTTP that predict, explain, learn and forget."""
