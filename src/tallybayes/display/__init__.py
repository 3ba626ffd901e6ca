"""The look of results: tables, progress bars, shaded images and charts."""
