"""Parquet files behind a Spark DataFrame that is nothing but their columns; they need not go through Java."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from tallybayes.engines.parquet_splits import Files, Split, is_plain

_FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
# Settings under which Spark reads other rows than the file has.
_LENIENT = ("spark.sql.parquet.mergeSchema", "spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")


def files_of(frame: Any, schema: pa.Schema) -> Files | None:
    """Return the files that a DataFrame's columns are read from; None if its plan does anything else."""
    if not hasattr(frame, "_jdf") or not all(is_plain(kind) for kind in schema.types):
        return None
    session = frame.sparkSession
    if any(session.conf.get(name) != "false" for name in _LENIENT):
        return None
    columns, relation = _scanned(frame._jdf.queryExecution().optimizedPlan())
    if relation is None or relation.fileFormat().getClass().getName() != _FORMAT:
        return None
    inside = {relation.dataSchema().apply(i).name() for i in range(relation.dataSchema().size())}
    keys = {relation.partitionSchema().apply(i).name() for i in range(relation.partitionSchema().size())}
    files = [str(one) for one in relation.location().inputFiles()]
    strange = relation.options().contains("mergeSchema") or not set(columns) <= inside - keys
    if strange or not files or not all(file.startswith("file:/") for file in files):
        return None
    paths = ["/" + unquote(file.removeprefix("file:")).lstrip("/") for file in files]
    conf = session._jsparkSession.sessionState().conf()
    most, least = int(conf.filesMaxPartitionBytes()), int(conf.filesOpenCostInBytes())
    try:
        return Files(tuple(columns), _tasks(paths, most, least, session.sparkContext.defaultParallelism))
    except OSError:
        return None


def _scanned(plan: Any) -> tuple[list[str], Any]:
    """Return the columns that a plan reads, in its order, and their relation; None if the plan does more."""
    selected: list[int] | None = None  # the ids of the attributes in the result
    while plan.getClass().getSimpleName() == "Project":
        inputs: dict[int, int] = {}
        for one in _each(plan.projectList()):
            inner = one.child() if one.getClass().getSimpleName() == "Alias" else one
            if inner.getClass().getSimpleName() != "AttributeReference":
                return [], None
            inputs[one.exprId().id()] = inner.exprId().id()
        selected = list(inputs.values()) if selected is None else [inputs[one] for one in selected]
        plan = plan.child()
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return [], None
    relation = plan.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return [], None
    names = {one.exprId().id(): one.name() for one in _each(plan.output())}
    return [names[one] for one in (names if selected is None else selected)], relation


def _each(things: Any) -> Iterator[Any]:
    return (things.apply(i) for i in range(things.size()))


def _tasks(paths: Sequence[str], most: int, least: int, cores: int) -> tuple[tuple[Split, ...], ...]:
    """Split files into tasks of about equal size, as Spark does: small files together, large ones apart."""
    sizes = [os.stat(path).st_size for path in paths]
    size = max(1, min(most, max(least, sum(one + least for one in sizes) // max(1, cores))))
    tasks: list[list[Split]] = [[]]
    room = size
    for path, total in zip(paths, sizes, strict=True):
        for start in range(0, max(1, total), size):
            stop = min(start + size, total)
            if room < stop - start and tasks[-1]:
                tasks.append([])
                room = size
            tasks[-1].append(Split(path, start, stop))
            room -= stop - start + least
    return tuple(map(tuple, tasks))
