"""Dask: a DataFrame or a Bag, on the workers of a client or on threads.

The client is a `distributed.Client`, if there is one; the threads are Dask's own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from tallybayes import sources
from tallybayes.display.progress import counting
from tallybayes.engines.parquet_splits import Files, Split, is_plain
from tallybayes.engines.partitioned import (
    FAN_IN,
    HEAD_ROWS,
    Columns,
    Declined,
    MergeTask,
    PartitionInfo,
    Reading,
    Remote,
    Task,
    attempted,
    joined,
    packed,
)
from tallybayes.errors import BadData, TallyError, wanted

T = TypeVar("T")
_USUAL = sources.Markers()


def of_dask(collection: Any, markers: sources.Markers = _USUAL) -> DaskPartitions:
    """Return the partitions of a Dask DataFrame, or of a Bag of dicts, of tables or of paths."""
    name = f"the Dask {type(collection).__name__}"
    if hasattr(collection, "map_partitions") and hasattr(collection, "_meta") and hasattr(collection, "columns"):
        meta = sources.read(collection._meta).schema
        vague = [field for field in meta if pa.types.is_null(field.type) or pa.types.is_dictionary(field.type)]
        found = DaskPartitions(collection, Reading(meta, markers, name), _files(collection))
        if vague:  # the types of pandas objects and categories are only known from rows
            head = found.head()
            for field in vague:
                kind = pa.null() if head is None else head.schema.field(field.name).type
                kind = kind.value_type if pa.types.is_dictionary(kind) else kind
                meta = meta.set(meta.get_field_index(field.name), field.with_type(kind))
            found = replace(found, reading=Reading(meta, markers, name))
        return found
    if hasattr(collection, "take") and hasattr(collection, "map_partitions"):
        items = list(collection.take(HEAD_ROWS, npartitions=-1, warn=False))
        if not items:
            raise BadData(wanted(name, "rows", "none"))
        schema = sources.read(_rows_of(items)).schema
        return DaskPartitions(collection, Reading(schema, markers, name, cast=False))
    do = "Make a DataFrame of it, for instance with dask.dataframe.from_dask_array"
    raise BadData(wanted(name, "a DataFrame or a Bag", f"a {type(collection).__name__}", do))


@dataclass(frozen=True)
class DaskPartitions(Remote):
    """The partitions of a Dask collection."""

    collection: Any
    reading: Reading
    files: tuple[Split, ...] | None = None

    @property
    def count(self) -> int:
        """The number of partitions."""
        return int(self.collection.npartitions)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows to this machine, one partition after the other."""
        counted: list[tuple[int, int]] = []
        for k, part in enumerate(self._parts()):
            rows = _rows_of(self._computed(part, k))
            yield from self.reading.source(rows, self._label(k), lambda *last: counted.append(last))
        self.reading.warn(sum(left for left, _ in counted), sum(rows for _, rows in counted))

    def head(self, rows: int = HEAD_ROWS) -> pa.RecordBatch | None:
        """Return the first rows; None if there are none."""
        held: list[pa.RecordBatch] = []
        for k in range(self.count):
            if self._is_bag:
                part = list(self._computed(self.collection.to_delayed()[k], k))[:rows]
            else:
                part = self._computed(self.collection.get_partition(k).head(rows, compute=False), k)
            held += self.reading.source(_rows_of(part), self._label(k)) if len(part) else ()
            if sum(batch.num_rows for batch in held) >= rows:
                break
        if not any(batch.num_rows for batch in held):
            return None
        table = pa.concat_tables([pa.Table.from_batches([one]) for one in held], promote_options="permissive")
        return table.slice(0, rows).combine_chunks().to_batches()[0]

    def select(self, columns: Sequence[str]) -> DaskPartitions:
        """Return the same rows with some of the columns, so that no others are read."""
        reading = self.reading.select(columns)
        narrow = self.collection if self._is_bag else self.collection[reading.schema.names]
        return replace(self, collection=narrow, reading=reading)

    def fold(self, task: MergeTask[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> T:
        """Run a task on each partition and merge the results in a tree."""
        read = self.select(task.columns)
        files = read._plain_files() if task.free and own is None else None
        with counting(self.name, "partitions", self.count) as tell:
            if files is not None:
                try:
                    return read.results(task, [read._run(read._answers_of(files, task), task, tell)])[0]
                except Declined:
                    pass  # only Dask knows how it reads such files
            return read.results(task, [read._run(read._answers(task, packed(own)), task, tell)])[0]

    def each(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> list[T]:
        """Run a task on each partition; return the results in the order of the partitions."""
        read = self.select(task.columns)
        with counting(self.name, "partitions", self.count) as tell:
            return read.results(task, read._run(read._answers(task, packed(own)), None, tell))

    def with_columns(self, columns: Columns) -> Any:
        """Return the same kind of collection with columns added; nothing is computed yet."""
        reading = self.select(columns.reads).reading
        if self._is_bag:
            return self.collection.map_partitions(_add_items, reading, columns.of)
        meta = self.collection._meta.copy()
        for field in columns.fields:
            meta[field.name] = pa.nulls(0, field.type).to_pandas().array
        return self.collection.map_partitions(_add_columns, reading, columns.of, tuple(columns.fields), meta=meta)

    @property
    def _is_bag(self) -> bool:
        return not hasattr(self.collection, "columns")

    def _parts(self) -> list[Any]:
        """Return the partitions as tasks, unoptimized: Dask may otherwise fuse files if few columns are read."""
        if self._is_bag:
            return list(self.collection.to_delayed())
        return list(self.collection.simplify().to_delayed(optimize_graph=False))

    def _label(self, k: int) -> str:
        """Return the name of a partition in messages: its number, and its file where known."""
        return str(k) if self.files is None else f"{k} ({self.files[k].path})"

    def _answers(self, task: Task[Any], own: Sequence[bytes] | None) -> list[Any]:
        """Return the answer of each partition as a delayed Dask task."""
        from dask import delayed

        parts = self._parts()
        each = [None] * len(parts) if own is None else own
        ask = delayed(_run_partition, pure=False, traverse=False)
        shared = delayed(_Shared(task), pure=False, traverse=False)  # a task of its own: sent once to each worker
        return [
            ask(shared, self.reading, part, self._label(k), PartitionInfo(k, mine))
            for k, (part, mine) in enumerate(zip(parts, each, strict=True))
        ]

    def _plain_files(self) -> Files | None:
        """Return the files if the collection is only columns of files that all workers see, else None."""
        files = self.files
        if self._is_bag or files is None or not all(is_plain(kind) for kind in self.reading.schema.types):
            return None
        read = self.collection.simplify().expr
        if not type(read).__name__.startswith("ReadParquet") or read.operand("filters") is not None:
            return None
        whole = all(file.stop for file in files) and len({file.path for file in files}) == len(files)
        if not whole or not all(os.path.isabs(file.path) and os.path.isfile(file.path) for file in files):
            return None
        return Files(tuple(self.reading.schema.names), tuple((file,) for file in files))

    def _answers_of(self, files: Files, task: Task[Any]) -> list[Any]:
        """Return the same for files that workers open themselves."""
        from dask import delayed

        ask = delayed(_run_file, pure=False, traverse=False)
        shared = delayed(_Shared(task), pure=False, traverse=False)
        return [ask(shared, self.reading, replace(files, tasks=(one,)), k) for k, one in enumerate(files.tasks)]

    def _computed(self, part: Any, k: int) -> Any:
        with self._reading([k]):
            return part.compute()

    def _run(self, answers: list[Any], merge: MergeTask[Any] | None, tell: Callable[[int], None]) -> Any:
        client = _client()
        failed: list[int] = []
        with self._reading(failed):
            if client is None:
                return _locally(answers, merge, tell)
            return _on_client(client, answers, merge, tell, failed)

    @contextmanager
    def _reading(self, at: list[int]) -> Iterator[None]:
        """Turn any error of Dask into one sentence; `at` holds the partition's number, if known."""
        try:
            yield
        except (ImportError, TallyError):
            raise
        except Exception as error:
            where = self.reading.place(self._label(at[0])) if at else self.name
            got = f"an error ({type(error).__name__}: {_first_line(error)})"
            raise BadData(wanted(where, "rows that Dask can read", got)) from error


def _files(collection: Any) -> tuple[Split, ...] | None:
    """Return the file of each partition, if each has one; this relies on private names of Dask.

    A split that stops at 0 stands for some row groups of a file, and only names the file.
    """
    try:
        from dask.dataframe.dask_expr._expr import Blockwise

        nodes = list(collection.expr.walk())
        [read] = [node for node in nodes if type(node).__name__.startswith("ReadParquet")]
        if read.operand("_partitions") is not None or not all(isinstance(node, Blockwise) for node in nodes):
            return None  # partitions were selected or repartitioned
        if hasattr(read, "fragments"):
            found = [Split(fragment.path, 0, sys.maxsize) for fragment in read.fragments]
        else:
            pieces = [part["piece"] for part in read._plan["parts"]]  # for several files, a part is a list
            found = [Split(str(path), 0, sys.maxsize if groups is None else 0) for path, groups, *_ in pieces]
    except (ImportError, AttributeError, KeyError, IndexError, TypeError, ValueError):
        return None
    return tuple(found) if len(found) == collection.npartitions else None


def _client() -> Any:
    """Return the client of a cluster, if this program has created one."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def _on_client(
    client: Any, answers: list[Any], merge: MergeTask[Any] | None, tell: Callable[[int], None], failed: list[int]
) -> Any:
    """Return the answers, or their sum, by the workers of a cluster; append a failed partition to `failed`."""
    from distributed import as_completed

    leaves = client.compute(answers)
    place = {future.key: k for k, future in enumerate(leaves)}
    watched, level = as_completed(leaves), leaves
    while merge is not None and len(level) > 1:  # submitted at once, so that merging starts as answers arrive
        groups = [level[at : at + FAN_IN] for at in range(0, len(level), FAN_IN)]
        level = [client.submit(joined, merge, group, pure=False) for group in groups]
    for done, future in enumerate(watched, 1):
        if future.status == "error":
            failed.append(place[future.key])
            break
        tell(done)
        if merge is not None:
            future.release()  # a merged answer need not be kept
    return client.gather(level) if merge is None else level[0].result()


def _locally(answers: list[Any], merge: MergeTask[Any] | None, tell: Callable[[int], None]) -> Any:
    import dask
    from dask.callbacks import Callback

    done = 0
    names = {answer.key for answer in answers}

    def after(key: Any, *_: Any) -> None:
        nonlocal done
        if key in names:
            done += 1
            tell(done)

    with Callback(posttask=after):
        if merge is None:
            return list(dask.compute(*answers))
        level = answers
        while len(level) > 1:
            join = dask.delayed(joined, pure=False)
            level = [join(merge, level[at : at + FAN_IN]) for at in range(0, len(level), FAN_IN)]
        return level[0].compute()


class _Shared(NamedTuple):
    """A task wrapped as data: Dask would call a callable."""

    task: Task[Any]


def _run_partition(shared: _Shared, reading: Reading, part: Any, label: str, info: PartitionInfo) -> bytes:
    """Return the answer of one partition; runs on the worker that holds it."""
    return attempted(shared.task, reading, _rows_of(part), label, info)


def _run_file(shared: _Shared, reading: Reading, files: Files, partition: int) -> bytes:
    """Return the answer of one file; runs on a worker, which opens it."""
    label = f"{partition} ({files.tasks[0][0].path})"
    return attempted(shared.task, reading, files.source(0, reading.schema), label, PartitionInfo(partition))


def _rows_of(part: Any) -> Any:
    """Return a partition in a readable form; items of a Bag may be rows, paths or tables."""
    if hasattr(part, "columns"):
        return part
    items = list(part)
    if items and (hasattr(items[0], "__arrow_c_stream__") or hasattr(items[0], "__dataframe__")):
        tables = [pa.table(item) for item in items]
        return pa.concat_tables(tables, promote_options="permissive")
    return items


def _add_columns(frame: Any, reading: Reading, work: Any, fields: tuple[pa.Field, ...]) -> Any:
    """Return a partition of a DataFrame with columns added."""
    frame = frame.copy(deep=False)
    parts = [work(batch) for batch in reading.source(frame[reading.schema.names], "of them")]
    for k, field in enumerate(fields):
        column = pa.chunked_array([part.column(k) for part in parts], field.type)
        frame[field.name] = column.to_pandas().array
    return frame


def _add_items(items: Any, reading: Reading, work: Any) -> list[dict[str, Any]]:
    """Return rows of a Bag with columns added."""
    rows = list(items)
    if not rows:
        return []
    source = reading.source(_rows_of(rows), "of them")
    answers = [answer for batch in source for answer in work(batch).to_pylist()]
    return [{**row, **answer} for row, answer in zip(rows, answers, strict=True)]


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0][:300] or "no details"
