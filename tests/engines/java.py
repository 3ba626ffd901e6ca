"""Whether there is Java, without which there is no Spark."""

from __future__ import annotations

import os
import shutil

import pytest

__all__ = ["java_is_here"]

MISSING = "no Java is here: install Java 17, for instance Debian's default-jre-headless, and set JAVA_HOME"


def java_is_here() -> None:
    """Skip the test where there is no Java; in CI there has to be."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        return
    if os.environ.get("CI") == "true":
        pytest.fail(MISSING)
    pytest.skip(MISSING)
