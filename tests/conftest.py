"""Shared by all tests: the real data sets, a real browser, and the order of tests."""

from __future__ import annotations

import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.engines.spark_session import spark_session
from tests.examples import number_of
from tests.sources.postgresql_server import database, postgresql_server
from tests.started_once import end_all, started

settings.register_profile(
    "quick", deadline=None, max_examples=number_of(30), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real data sets named by TALLY_DATA."""
    folder = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the data sets are missing: set TALLY_DATA to their folder")
    return folder


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a real browser; where there is none, tests are skipped, saying so, and fail where CI needs it."""
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        missing = f"no browser is here: install one of {', '.join(BROWSERS)}"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # Chromium refuses to run as root in its sandbox, as CI does.
        opened = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def spark(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a Spark session with two executor processes; skipped without Java, unless CI is true."""
    return started("spark", lambda: spark_session(tmp_path_factory.mktemp("spark")))


@pytest.fixture(scope="module")
def postgresql() -> str:
    """Return the URL of a new database in a PostgreSQL server; skipped without one, unless CI is true."""
    return database(started("postgresql", postgresql_server))


# Tests that share a slow start (a cluster, a server) although they are in different files, by a part of their names.
# Tests of one group, and else of one file, run one after the other in one process, which so makes each fixture once.
# Groups start in this order, before all files: those that take longest, which started late would keep one process busy
# after the others are done.
SHARED = {
    "test_spark.py::": "spark",
    "[on_spark.py]": "spark",
    "::TestCluster::": "dask",
    "[on_dask.py]": "dask",
    "test_postgresql.py::": "postgresql",
    "export/test_data_sets.py::": "postgresql",
    "test_checkpoint.py::": "checkpoint",
    "test_processors.py::": "processors",
    "tests/reporting/": "reporting",
    "test_site.py::": "site",
}


def group_of(nodeid: str) -> str:
    """Return the group of a test in SHARED, or its file."""
    return next((group for part, group in SHARED.items() if part in nodeid), nodeid.partition("::")[0])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put groups first, in their order, if several processes run the tests; then files, those of most tests first."""
    if hasattr(config, "workerinput"):
        size = Counter(group_of(item.nodeid) for item in items)
        order = {group: k for k, group in enumerate(dict.fromkeys(SHARED.values()))}

        def place(item: pytest.Item) -> tuple[int, int, str]:
            group = group_of(item.nodeid)
            return order.get(group, len(order)), -size[group], group

        items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among modules and tests, which stay until the end: it takes half the time of collecting."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)  # after the fixtures of the test
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End what a group of tests shares after its last test."""
    if nextitem is None or group_of(nextitem.nodeid) != group_of(item.nodeid):
        end_all()


def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than cores: tests wait for clusters, servers and commands a fifth of their time."""
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute tests group by group.

    pytest-xdist has `--dist loadgroup` for this, which with pytest 9 does nothing.
    """
    from xdist.scheduler import LoadScopeScheduling

    class KeepShared(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            super().mark_test_complete(node, item_index, duration)
            work = self.assigned_work[node]
            for group in [group for group, tests in work.items() if all(tests.values())]:
                del work[group]  # else the tests that are done would be gone through after each test

    config.option.loadscopereorder = False  # the order is that of the items
    return KeepShared(config, log)
