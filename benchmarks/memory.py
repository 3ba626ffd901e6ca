"""The memory of fitting a file of two gigabytes, in its own process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.table import Growing, marked, seconds

# The peak memory of the process; ru_maxrss would include the parent's before exec.
_HELD = """
import sys, time
def held():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1e3
"""
_FIT = f"""{_HELD}
import tallybayes as tb
start = time.perf_counter()
tb.fit(sys.argv[1], "label")
print(time.perf_counter() - start, held())
"""
_WORDS = f"""{_HELD}
import numpy as np, pyarrow as pa
import tallybayes as tb
rng, V, n = np.random.default_rng(0), 1_000_000, 100_000
tb.fit(["warm up", "the cache"], ["a", "b"])
picks = np.concatenate([rng.permutation(V), (V * rng.random(9 * V) ** 4).astype(int)])
words = pa.array(np.char.add("w", np.arange(V).astype(str)))
bounds = pa.array(np.linspace(0, len(picks), n + 1).astype(np.int32))
column = pa.compute.binary_join(pa.ListArray.from_arrays(bounds, words.take(pa.array(picks))), " ")
rows = pa.table({{"text": column, "label": rng.integers(0, 20, n)}})
del picks, words, bounds, column
pa.default_memory_pool().release_unused()  # or Arrow's freed memory, kept or not, would count as held before
start = time.perf_counter()
now = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) / 1e3
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak starts anew
tb.fit(rows, "label", events="text", threads=1)
print(time.perf_counter() - start, held() - now)
"""
_LONG = f"""{_HELD}
import pyarrow as pa
import tallybayes as tb
reviews = pa.array([f"a film that number {{i}} of us liked more than its plot " * 20 for i in range(30_000)])
batch = pa.record_batch({{"text": reviews, "label": pa.array([0, 1] * 15_000)}})
times = int(float(sys.argv[1]) // batch.nbytes) + 1
stream = pa.RecordBatchReader.from_batches(batch.schema, (batch for _ in range(times)))
start = time.perf_counter()
tb.fit(stream, "label", events="text")
print(time.perf_counter() - start, held())
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
    """Measure both formats and return the table."""
    table = Growing("file", "size", "tallybayes", "resident", "target", "pyarrow reads it")
    with tempfile.TemporaryDirectory() as folder:
        for suffix, row_bytes in (("csv", 410), ("parquet", 180)):
            path = Path(folder) / f"large.{suffix}"
            write(path, int(bytes_ / row_bytes))
            runs = [fit_of(path) for _ in range(min(2, repeat))]
            reads = [_measure(_READ, path) for _ in range(min(2, repeat))]
            took, resident = min(run[0] for run in runs), max(run[1] for run in runs)
            size = f"{path.stat().st_size / 1e9:.2f} GB"
            shown = marked(f"{resident:.0f} MB", resident <= 600)
            table.add(suffix, size, seconds(took), shown, "600 MB", seconds(min(run[0] for run in reads)))
            path.unlink()
    took, resident = _measure(_WORDS, "")
    shown = marked(f"{resident:.0f} MB more", resident <= 400)
    table.add("1,000,000 words, 20 classes", "-", seconds(took), shown, "400 MB more", "-")
    took, resident = _measure(_LONG, "5e9")
    table.add("stream of texts", "5.00 GB", seconds(took), marked(f"{resident:.0f} MB", resident <= 600), "600 MB", "-")
    return table.markdown()


def write(path: Path, rows: int, step: int = 200_000) -> None:
    """Write a table of 21 numbers, a text and a label, piece by piece."""
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


def fit_of(path: Path) -> tuple[float, float]:
    """Return the seconds and megabytes of fitting a file, in its own process."""
    return _measure(_FIT, path)


def _measure(code: str, path: Path | str) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    took, resident = done.stdout.split()
    return float(took), float(resident)
