"""Where the work is done: a fold over batches, on this machine's threads. Engines know nothing of Bayes."""

from tallybayes.engines.local import SLICE_BYTES, default_threads, fold, fold_rows, map_rows, map_slices

__all__ = ["SLICE_BYTES", "default_threads", "fold", "fold_rows", "map_rows", "map_slices"]
