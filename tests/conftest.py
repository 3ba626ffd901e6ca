"""Shared by all tests: the real data sets, a real browser, and the order of tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
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


# Tests that share a slow start (a cluster, a server, the built site), by a part of their names. Those of one group run
# one after the other in one process, which starts it once. Groups start in this order, before all other tests: Spark
# takes longest, and started late it would keep one process busy after the others are done.
SHARED = {
    "test_spark.py::": "spark",
    "[on_spark.py]": "spark",
    "::TestCluster::": "dask",
    "[on_dask.py]": "dask",
    "test_postgresql.py::": "postgresql",
    "test_site.py::": "site",
}


def group_of(nodeid: str) -> str | None:
    """Return the group of a test in SHARED, if any."""
    return next((group for part, group in SHARED.items() if part in nodeid), None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put groups first, in their order, if several processes run the tests."""
    if hasattr(config, "workerinput"):
        order = {group: k for k, group in enumerate(dict.fromkeys(SHARED.values()))}
        items.sort(key=lambda item: order.get(group_of(item.nodeid) or "", len(order)))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute tests one by one, but keep groups together.

    pytest-xdist has `--dist loadgroup` for this, which with pytest 9 does nothing.
    """
    from xdist.scheduler import LoadScopeScheduling

    class KeepShared(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid) or nodeid

    config.option.loadscopereorder = False  # by default the group with most tests goes first, not the slowest
    return KeepShared(config, log)
