"""A Dask cluster for a class of tests; only one runs at a time (see the conftest above)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import pytest


@pytest.fixture(scope="class")
def _workers() -> Iterator[Any]:
    """Start two worker processes."""
    from distributed import Client, LocalCluster

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        # Port 0 selects a free port: another cluster may be running.
        local = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
        with local, Client(local, set_as_default=False) as client:
            yield client


@pytest.fixture
def cluster(_workers: Any) -> Iterator[Any]:
    """Use the cluster in this test only; tests without this fixture run in this process."""
    with _workers.as_current():
        yield _workers
