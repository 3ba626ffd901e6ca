"""The description of the interface is true: schemathesis makes requests of it and checks the answers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from hypothesis.errors import Unsatisfiable

from .conftest import ages, weather
from .process import Server


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("described")
    weather().save(folder / "weather.tally")
    ages().save(folder / "ages.tally")
    with Server(folder, "--learn") as one:
        yield one
    assert "Traceback" not in "".join(one.log)


def test_the_description_is_true(served: Server) -> None:
    described = schemathesis.openapi.from_url(f"{served.url}/openapi.json")
    operations = [result.ok() for result in described.get_all_operations()]
    assert len(operations) == 21  # all but the description's own
    for operation in operations:
        for mode in schemathesis.GenerationMode:  # requests as described, and others that are refused
            cases = operation.as_strategy(generation_mode=mode)
            if mode == schemathesis.GenerationMode.POSITIVE:
                cases = cases.filter(lambda case: columns_have_one_type(case.body))

            @given(case=cases)
            @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
            def check(case: schemathesis.Case) -> None:
                assume(case.media_type in (None, "application/json"))  # tables are described as text only
                case.call_and_validate()

            with contextlib.suppress(Unsatisfiable):  # nothing can be wrong with a route that takes nothing
                check()


def columns_have_one_type(rows: Any) -> bool:
    """Whether no column of a request has both texts and other values: a schema cannot say so."""
    given = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    kinds = {(name, isinstance(value, str)) for row in given for name, value in row.items() if value is not None}
    return len(kinds) == len({name for name, _ in kinds})


def test_every_route_is_described(served: Server) -> None:
    paths = set(served.get("/openapi.json").json()["paths"])
    assert {"/models", "/healthz", "/metrics", "/openapi.json"} <= paths
    for name in ("weather", "ages"):
        for route in ("", "/predict", "/explain", "/learn", "/forget", "/calibrate", "/file", "/journal"):
            assert f"/models/{name}{route}" in paths


def test_a_read_only_server_describes_no_learning(tmp_path: Path) -> None:
    weather().save(tmp_path / "weather.tally")
    with Server(tmp_path) as one:
        assert "/models/weather/learn" not in one.get("/openapi.json").json()["paths"]
