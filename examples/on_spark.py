"""Fit a model with Spark's executors and the same one locally: their files are equal, byte for byte.

Run it with `python examples/on_spark.py` (`pip install 'tallybayes[spark]'`, and Java 17: on Debian,
`apt-get install default-jre-headless`). Two local cores act as the cluster; to use a real one, change only the session.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import tallybayes as tb


def write_reviews(folder: Path, files: int = 6, rows: int = 500) -> None:
    """Write invented reviews as a folder of parquet files."""
    rng = np.random.default_rng(1)
    words = ["fine", "warm", "dull", "loud", "the", "plot"]
    often = {"good": [0.3, 0.2, 0.1, 0.1, 0.2, 0.1], "bad": [0.2, 0.1, 0.2, 0.2, 0.2, 0.1]}
    for k in range(files):
        kind = rng.choice(["good", "bad"], rows)
        texts = [" ".join(rng.choice(words, 12, p=often[one])) for one in kind]
        table = pa.table({"text": texts, "minutes": rng.normal(100, 20, rows), "kind": kind})
        pq.write_table(table, folder / f"{k:02}.parquet")


def main() -> None:
    """Fit, validate and predict with Spark's executors."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "reviews"
        folder.mkdir()
        write_reviews(folder)
        reviews = spark.read.parquet(str(folder))
        model = tb.fit(reviews, "kind")
        print(model)
        answers = model.predict_proba(reviews)  # lazy: further columns, computed by the executors on use
        answers.select("kind", "`P(good)`").show(3)
        print(tb.validate(reviews, "kind", "10-fold").evaluation.accuracy)
        spark.stop()
        model.save(Path(name) / "there.tally")
        tb.fit(folder, "kind").save(Path(name) / "here.tally")
        assert (Path(name) / "there.tally").read_bytes() == (Path(name) / "here.tally").read_bytes()


if __name__ == "__main__":
    main()
