"""A Dask cluster that the classes of tests called TestCluster share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import pytest

from tests.started_once import started


@contextmanager
def workers() -> Iterator[Any]:
    """Start two worker processes."""
    from distributed import Client, LocalCluster

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        # Port 0 selects a free port: another cluster may be running.
        local = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
        with local, Client(local, set_as_default=False) as client:
            yield client


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Use the cluster in this test only; tests without this fixture run in this process."""
    client = started("dask", workers)
    with client.as_current():
        yield client
