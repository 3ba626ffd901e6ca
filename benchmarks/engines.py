"""Large and distributed data: Spark compared with MLlib, Dask with reading, merging, and a csv of 4 GB."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tallybayes as tb
from benchmarks import memory
from benchmarks.clock import best
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds
from tallybayes.evidence.count import Count
from tallybayes.evidence.partial import PartialEvidence, open_partial
from tallybayes.inference.choices import Choices
from tallybayes.model import Model
from tallybayes.storage import model_file

ROWS, COLUMNS = 1_000_000, 50
NO_JAVA = "Java not found: install Java 17, for instance Debian's default-jre-headless, and set JAVA_HOME"


def run(repeat: int) -> str:
    """Measure everything and return the table."""
    table = Growing("work", "tallybayes", "beside", "ratio", "target")
    _spark(table, repeat)
    _dask(table, repeat)
    _merging(table, repeat)
    _large_csv(table)
    return table.markdown()


def _dask(table: Growing, repeat: int, files: int = 40, rows: int = 250_000) -> None:
    """Fit a folder of parquet files with two workers, compared with the same workers only reading it."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for k in range(files):
            values = {f"x{f}": rng.standard_normal(rows) for f in range(COLUMNS)}
            pq.write_table(pa.table({**values, "y": rng.integers(0, 5, rows)}), Path(folder) / f"{k:03}.parquet")
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e9
        what = f"Dask, {size:.1f} GB of parquet, two workers"
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
            frame = dd.read_parquet(folder)
            read = best(lambda: frame.map_partitions(len).sum().compute(), min(repeat, 3)).seconds
            for name, how in (("by default", {}), ("calibrate=None", {"calibrate": None})):
                took = best(partial(tb.fit, frame, "y", **how), min(repeat, 3)).seconds
                ratio = took / read
                shown = f"{ratio:.2f} × reading{_cross(ratio <= 1.5)}"
                table.add(f"{what}, {name}", seconds(took), f"read {seconds(read)}", shown, "≤ 1.5 ×")


def _large_csv(table: Growing, size: float = 4e9) -> None:
    """Measure the memory of fitting a 4 GB file on one machine, in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        memory.write(path, int(size / 410))
        took, resident = memory.fit_of(path)
        held = f"{path.stat().st_size / 1e9:.2f} GB"
    table.add(f"csv of {held}, here", seconds(took), "-", f"{resident:.0f} MB{_cross(resident < 600)}", "< 600 MB")


def _spark(table: Growing, repeat: int) -> None:
    """Fit one parquet file, read again each time, in a warm session."""
    what = f"Spark, {ROWS:,} × {COLUMNS} Gaussian from parquet"
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        table.add(what, "-", "-", NO_JAVA, "≥ 3×")
        return
    with tempfile.TemporaryDirectory() as folder, _session(folder) as spark:
        path = str(Path(folder) / "rows.parquet")
        _write(path)

        def peer() -> Any:
            from pyspark.ml.classification import NaiveBayes
            from pyspark.ml.feature import VectorAssembler

            names = [f"x{f}" for f in range(COLUMNS)]
            vectors = VectorAssembler(inputCols=names, outputCol="features").transform(spark.read.parquet(path))
            return NaiveBayes(modelType="gaussian", labelCol="y").fit(vectors)

        def ours(**how: Any) -> Model:
            return tb.fit(spark.read.parquet(path), "y", **how)

        def passed() -> Any:
            return spark.read.parquet(path).mapInArrow(_nothing, "n long").collect()

        for work in (peer, ours, passed):  # the first run of each waits for Java to compile it
            work()
        theirs = best(peer, repeat).seconds
        for name, how in (("by default", {}), ("calibrate=None", {"calibrate": None})):
            measured = best(partial(ours, **how), repeat)
            assert model_file.dump(measured.result) == model_file.dump(tb.fit(path, "y", **how))
            ratio = theirs / measured.seconds
            shown = f"{ratio:.1f}×{_cross(ratio >= 3)}"
            table.add(f"{what}, {name}", seconds(measured.seconds), f"MLlib {seconds(theirs)}", shown, "≥ 3×")
        least = best(passed, repeat).seconds
        table.add("part of it: Spark passes the rows to Python", seconds(least), "-", "-", "-")


def _merging(table: Growing, repeat: int, places: int = 1000, columns: int = 100) -> None:
    """Merge the serialized evidence of many places into one model."""
    rng = np.random.default_rng(0)
    names = [f"x{f}" for f in range(columns)]
    schema = tb.fit({**{name: [0.0, 1.0] for name in names}, "y": [0, 1]}, "y", calibrate=None).evidence.schema
    packed = []
    for _ in range(places):
        values = {name: rng.standard_normal(100) for name in names}
        model = tb.fit({**values, "y": rng.integers(0, 5, 100)}, "y", calibrate=None)
        packed.append(PartialEvidence(model.evidence).pack())

    def work() -> Model:
        parts = (open_partial(one, schema) for one in packed)
        return Model(reduce(add, parts, Count(schema).zero()).evidence, Choices())

    took = best(work, repeat).seconds
    what = f"evidence of {places:,} places × {columns} columns, {sum(map(len, packed)) / 1e6:.0f} MB → model"
    table.add(what, f"{seconds(took)}{_cross(took < 2)}", "-", "-", "< 2 s")


def _cross(kept: bool) -> str:
    return "" if kept else f" {MISSED}"


@contextmanager
def _session(folder: str) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.local.dir": folder}
    builder = SparkSession.builder.master("local[2]").appName("tallybayes")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def _write(path: str) -> None:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, ROWS)
    columns = {f"x{f}": rng.standard_normal(ROWS) + 0.1 * classes for f in range(COLUMNS)}
    pq.write_table(pa.table({**columns, "y": classes}), path, row_group_size=ROWS // 8)


def _nothing(stream: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield pa.record_batch({"n": [sum(batch.num_rows for batch in stream)]})
