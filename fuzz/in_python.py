"""Run one target under atheris: python -m fuzz.in_python NAME [options of libFuzzer]."""

from __future__ import annotations

import contextlib
import gc
import importlib
import pkgutil
import sys
from types import FunctionType

import atheris

import tallybayes
from fuzz.targets import run


def instrument() -> None:
    """Let atheris see the branches of all functions of the package.

    Its own hook sees only what is imported under it, and nothing of an editable installation; modules here are imported
    when they are first used.
    """
    for module in pkgutil.walk_packages(tallybayes.__path__, "tallybayes."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # of a library that is not installed
                importlib.import_module(module.name)
    for function in [one for one in gc.get_objects() if isinstance(one, FunctionType)]:
        if str(function.__module__).partition(".")[0] == "tallybayes":
            atheris.instrument_func(function)


def main() -> None:
    """Hand the process over to libFuzzer."""
    name = sys.argv.pop(1)
    instrument()
    atheris.Setup(sys.argv, lambda data: run(name, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
