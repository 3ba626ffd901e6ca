"""Arrays of exact numbers on a fixed grid: dense and sparse."""
