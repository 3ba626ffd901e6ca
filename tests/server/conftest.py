"""Models that the tests serve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb

from .process import Server


def weather_rows(n: int = 200, seed: int = 5) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    play = rng.choice(["yes", "no"], n)
    outlook = np.where(rng.random(n) < 0.6, np.where(play == "yes", "sunny", "rainy"), "overcast")
    temperature = np.where(play == "yes", 21.0, 12.0) + rng.normal(0, 4, n).round(1)
    return {
        "outlook": outlook.tolist(),
        "temperature": temperature.tolist(),
        "windy": rng.choice([True, False], n).tolist(),
        "guests": rng.integers(0, 5, n).tolist(),
        "note": rng.choice(
            ["took the boat out", "stayed in and read", "the boat was wet", "read by the fire"], n
        ).tolist(),
        "play": play.tolist(),
    }


def weather() -> tb.Model:
    return tb.fit(weather_rows(), "play", events={"note": "text"})


def ages() -> tb.Model:
    """Return a model whose classes are whole numbers, with weighted rows."""
    rng = np.random.default_rng(8)
    rows = {"height": rng.normal(150, 20, 60).tolist(), "w": [1.0, 2.0] * 30, "grade": [1, 2, 3] * 20}
    return tb.fit(rows, "grade", weights="w")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two models."""
    path = tmp_path_factory.mktemp("models")
    weather().save(path / "weather.tally")
    ages().save(path / "ages.tally")
    return path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """Return a server of both models that may learn."""
    with Server(folder, "--learn") as one:
        yield one
    assert "Traceback" not in "".join(one.log)


ROW = {"outlook": "sunny", "temperature": 18.5, "windy": True, "guests": 2, "note": "the boat"}
