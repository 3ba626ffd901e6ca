"""Fit a model on a Dask cluster and the same one locally: their files are equal, byte for byte.

Run it with `python examples/on_dask.py` (`pip install 'tallybayes[dask]'`). Two local processes act as the cluster; to
use a real one, change only its address.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

import tallybayes as tb


def write_trips(folder: Path, files: int = 8, rows: int = 5000) -> None:
    """Write invented taxi trips as a folder of parquet files."""
    rng = np.random.default_rng(1)
    for k in range(files):
        tip = rng.choice(["none", "some", "much"], rows, p=[0.4, 0.4, 0.2])
        worth = np.select([tip == "none", tip == "some"], [0.0, 0.4], 0.9)
        trips = {
            "minutes": rng.gamma(3.0, 4.0 + 3.0 * worth),
            "zone": rng.choice(["airport", "centre", "harbour"], rows),
            "card": rng.random(rows) < 0.5 + 0.4 * worth,
            "tip": tip,
        }
        pq.write_table(pa.table(trips), folder / f"{k:02}.parquet")


def main() -> None:
    """Fit, validate and predict on the cluster."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "trips"
        folder.mkdir()
        write_trips(folder)
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
            trips = dd.read_parquet(folder)
            model = tb.fit(trips, "tip")
            print(model)
            answers = model.predict_proba(trips)  # lazy: further columns, computed by the workers on use
            print(answers[["minutes", "zone", "card", "P(much)"]].head(3))
            print(tb.validate(trips, "tip", "10-fold").evaluation.accuracy)
        model.save(Path(name) / "there.tally")
        tb.fit(folder, "tip").save(Path(name) / "here.tally")
        assert (Path(name) / "there.tally").read_bytes() == (Path(name) / "here.tally").read_bytes()


if __name__ == "__main__":
    main()
