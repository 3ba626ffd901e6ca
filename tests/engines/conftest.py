"""A cluster for the tests that want one; they are of one xdist group, so that there is but one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import pytest


@pytest.fixture(scope="class")
def cluster() -> Iterator[Any]:
    """Two workers, each a process of its own, for a class of tests: what comes after it is for Dask's own threads."""
    from distributed import Client, LocalCluster

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        # Port 0 is any that is free: another cluster may run beside this one.
        made = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
        with made, Client(made) as client:
            yield client
