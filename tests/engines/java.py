"""Whether Java, which Spark needs, is installed."""

from __future__ import annotations

import os
import shutil

import pytest

__all__ = ["QUICK_JAVA", "java_is_here"]

# Environment of short runs, which end before an optimising compiler or parallel garbage collection pay off.
QUICK_JAVA = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}

MISSING = "Java is missing: install Java 17, for instance Debian's default-jre-headless, and set JAVA_HOME"


def java_is_here() -> None:
    """Skip the test if Java is missing; in CI, fail."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        return
    if os.environ.get("CI") == "true":
        pytest.fail(MISSING)
    pytest.skip(MISSING)
