"""Engines: work on rows by threads or by a cluster. They know nothing of Bayes."""

from __future__ import annotations

from typing import Any

from tallybayes import sources
from tallybayes.engines.blas import one_blas_thread
from tallybayes.engines.memory import check_memory, keep_freed_memory
from tallybayes.engines.partitioned import Columns, MergeTask, Partitioned, PartitionInfo, Task
from tallybayes.engines.threads import (
    SLICE_BYTES,
    Threads,
    default_threads,
    fold,
    fold_rows,
    in_threads,
    map_rows,
    threads_to_score,
)
from tallybayes.errors import BadOption, wanted

__all__ = [
    "SLICE_BYTES",
    "Columns",
    "MergeTask",
    "PartitionInfo",
    "Partitioned",
    "Task",
    "Threads",
    "check_memory",
    "default_threads",
    "fold",
    "fold_rows",
    "in_threads",
    "keep_freed_memory",
    "map_rows",
    "one_blas_thread",
    "read",
    "threads_to_score",
]


def read(source: Any, options: sources.ReadOptions = sources.PLAIN_OPTIONS, **how: Any) -> Partitioned:
    """Return the rows of anything, wherever they are.

    It may be anything that `sources.read` takes, or a Dask or a Spark collection; neither library is imported to
    recognise its collections. `how` has columns, names, types, label and documents.
    """
    if isinstance(source, Partitioned):
        return source
    markers = sources.Markers(options.missing_values, how.get("label"), how.get("documents", ()))
    home = type(source).__module__.split(".")[0] if options.connection is None else ""
    if home in ("dask", "dask_expr"):
        from tallybayes.engines.dask import of_dask

        rows: Partitioned = of_dask(source, markers)
    elif home == "pyspark":
        from tallybayes.engines.spark.partitions import of_spark

        rows = of_spark(source, markers)
    else:
        return Threads(sources.open_source(source, options, **how))
    if options.where is not None:
        raise BadOption(wanted("where", "files, or rows that are here", rows.name, "Filter it before"))
    return rows
