"""A trained filter, and a daemon that serves it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .served import served, trained


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a trained filter."""
    place = tmp_path_factory.mktemp("mail") / "mail.tally"
    trained().save(place)
    return place


@pytest.fixture(scope="module")
def address(path: Path) -> Iterator[Path]:
    """Yield the socket of a daemon; what one test teaches it, the others see."""
    with served(path) as found:
        yield found
