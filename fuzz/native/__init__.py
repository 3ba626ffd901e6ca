"""The kernels under libFuzzer: one C++ file for each target, compiled by clang with sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
NATIVE = ("tokeniser", "limbs", "sparse", "message")


def build(name: str) -> str:
    """Compile a target, and return its path."""
    compiler = shutil.which("clang++")
    if compiler is None:
        raise SystemExit("fuzz: wanted clang++, got none. Install clang.")
    out = HERE / "build"
    out.mkdir(exist_ok=True)
    made = out / name
    flags = ["-std=c++20", "-O1", "-g", "-ffp-contract=off", "-fsanitize=fuzzer,address,undefined"]
    flags += ["-fno-sanitize-recover=undefined", "-DTALLY_ISA=baseline", f"-I{HERE.parents[1] / 'cpp'}"]
    subprocess.run([compiler, *flags, str(HERE / f"{name}.cpp"), "-o", str(made)], check=True)
    return str(made)
