"""A cluster for a class of tests that want one; there is one at a time (see the conftest above)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import pytest


@pytest.fixture(scope="class")
def _workers() -> Iterator[Any]:
    """Two workers, each a process of its own."""
    from distributed import Client, LocalCluster

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        # Port 0 is any that is free: another cluster may run beside this one.
        made = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
        with made, Client(made, set_as_default=False) as client:
            yield client


@pytest.fixture
def cluster(_workers: Any) -> Iterator[Any]:
    """The cluster, for this test alone: what the next does without one, it does in this process."""
    with _workers.as_current():
        yield _workers
