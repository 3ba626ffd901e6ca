"""Every program in examples/ runs without an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.java import QUICK_JAVA, java_is_here

from .pages import ROOT


@pytest.mark.parametrize("program", sorted((ROOT / "examples").glob("*.py")), ids=lambda program: program.name)
def test_the_program_runs(program: Path, tmp_path: Path) -> None:
    if "spark" in program.name:
        java_is_here()
    command, env = [sys.executable, str(program)], os.environ | QUICK_JAVA
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
