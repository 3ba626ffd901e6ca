"""Run a Python target under atheris: python -m fuzz.in_python NAME [options of libFuzzer]."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["tallybayes"]):
    from fuzz.targets import run


def main() -> None:
    """Hand the process over to libFuzzer."""
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, lambda data: run(name, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
