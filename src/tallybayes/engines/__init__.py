"""Where the work is done: a fold over batches, on threads or on a cluster. Engines know nothing of Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallybayes.engines.partitioned import Partitioned, PartitionInfo, partitions_of
from tallybayes.engines.threads import SLICE_BYTES, default_threads, fold, fold_rows, map_rows, map_slices

__all__ = [
    "SLICE_BYTES",
    "PartitionInfo",
    "Partitioned",
    "default_threads",
    "fold",
    "fold_rows",
    "map_rows",
    "map_slices",
    "opened",
    "partitions_of",
]


def opened(source: Any, missing: Sequence[str] = ()) -> Partitioned | None:
    """The rows of a Dask or a Spark collection, in the partitions in which they lie; None for anything else.

    Parameters
    ----------
    source : object
        Anything with rows. Neither Dask nor Spark is imported to tell whether it is one of theirs.
    missing : sequence of str
        Texts that stand for a missing value.
    """
    home = type(source).__module__.split(".")[0]
    if home in ("dask", "dask_expr"):
        from tallybayes.engines.dask import of_dask

        return of_dask(source, missing)
    if home == "pyspark":
        from tallybayes.engines.spark.partitions import of_spark

        return of_spark(source, missing)
    return None
