"""What all tests share: the real data sets, where they are to be had."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("quick", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("quick")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets named by TALLY_DATA."""
    folder = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the data sets are not here: set TALLY_DATA to their folder")
    return folder
