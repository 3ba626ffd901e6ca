"""Shared by all tests: the real data sets, and the order of tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("quick", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("quick")


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real data sets named by TALLY_DATA."""
    folder = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the data sets are missing: set TALLY_DATA to their folder")
    return folder


# Tests that share what takes long to start (a cluster, a server, the built site), by a part of their names. Those of
# one kind run one after the other, in one process, which starts it once.
SHARED = {
    "test_spark.py::": "spark",
    "[on_spark.py]": "spark",
    "::TestCluster::": "dask",
    "[on_dask.py]": "dask",
    "test_postgresql.py::": "postgresql",
    "test_site.py::": "site",
}


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal tests out one by one, but keep those together that share what they start.

    pytest-xdist has `--dist loadgroup` for this, which with pytest 9 does nothing.
    """
    from xdist.scheduler import LoadScopeScheduling

    class KeepShared(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((kind for part, kind in SHARED.items() if part in nodeid), nodeid)

    return KeepShared(config, log)
