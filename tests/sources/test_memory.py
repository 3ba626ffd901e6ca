"""Files larger than memory: reading them takes no more memory than a few batches."""

import gzip
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

COUNT = """
import sys, pyarrow as pa
from tallybayes.sources import read
rows = sum(batch.num_rows for batch in read(sys.argv[1]))
print(rows, pa.default_memory_pool().max_memory() >> 20)
"""


def write_parquet(path):
    ones = pa.array([1.0]).take(pa.array([0] * 2_000_000, pa.int32()))
    pq.write_table(pa.table({f"c{i}": ones for i in range(20)}), path, row_group_size=2_000_000)
    return 2_000_000, 320


def write_csv(path):
    with open(path, "wb") as file:
        file.write(b"a,b,c\n")
        for _ in range(100):
            file.write(b'1.5,"some text",17\n' * 50_000)
    return 5_000_000, 95


def write_compressed(path):
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,b,c\n")
        for _ in range(300):
            file.write(b'1.5,"some text",17\n' * 50_000)
    return 15_000_000, 285


@pytest.mark.parametrize(
    ("ending", "write"), [("parquet", write_parquet), ("csv", write_csv), ("csv.gz", write_compressed)]
)
def test_a_large_file_takes_little_memory(tmp_path, ending, write):
    path = tmp_path / f"a.{ending}"
    rows, megabytes = write(str(path))
    made = subprocess.run([sys.executable, "-c", COUNT, str(path)], capture_output=True, text=True, check=True)
    counted, peak = map(int, made.stdout.split())
    assert counted == rows
    assert peak < min(160, megabytes)
