"""How much memory it takes to fit a file of two gigabytes, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.table import Growing, seconds

_FIT = """
import resource, sys, time
import tallybayes as tb
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
tb.fit(sys.argv[1], "label")
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
"""
_READ = """
import sys, time
import pyarrow.csv, pyarrow.parquet as pq
start = time.perf_counter()
if sys.argv[1].endswith("csv"):
    for batch in pyarrow.csv.open_csv(sys.argv[1]):
        pass
else:
    for batch in pq.ParquetFile(sys.argv[1]).iter_batches(65536):
        pass
print(time.perf_counter() - start, 0)
"""


def run(repeat: int, bytes_: float = 2e9) -> str:
    """Measure both formats and give the table."""
    table = Growing("file", "size", "tallybayes", "resident", "asked", "pyarrow reads it")
    with tempfile.TemporaryDirectory() as folder:
        for suffix, row_bytes in (("csv", 410), ("parquet", 180)):
            path = Path(folder) / f"large.{suffix}"
            _write(path, int(bytes_ / row_bytes))
            runs = [_measure(_FIT, path) for _ in range(min(2, repeat))]
            reads = [_measure(_READ, path) for _ in range(min(2, repeat))]
            took, resident = min(run[0] for run in runs), max(run[1] for run in runs)
            size = f"{path.stat().st_size / 1e9:.2f} GB"
            table.add(
                suffix, size, seconds(took), f"{resident:.0f} MB", "600 MB", seconds(min(run[0] for run in reads))
            )
            path.unlink()
    return table.markdown()


def _write(path: Path, rows: int, step: int = 200_000) -> None:
    """A table of 21 numbers, a text and a label, written piece by piece."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, step):
        n = min(step, rows - start)
        columns = {f"c{f}": rng.standard_normal(n) for f in range(21)}
        text = np.array(["sunny", "rainy", "overcast"])[rng.integers(0, 3, n)]
        piece = pa.table({**columns, "outlook": text, "label": rng.integers(0, 5, n)})
        if writer is None:
            open_ = pyarrow.csv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter
            writer = open_(str(path), piece.schema)
        writer.write_table(piece)
    if writer is not None:
        writer.close()


def _measure(code: str, path: Path) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    took, resident = done.stdout.split()
    return float(took), float(resident)
