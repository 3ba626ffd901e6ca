"""Every example in a docstring of the installed package does what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import tallybayes

# The compiled module has no docstrings of ours.
MODULES = ["tallybayes"] + [
    found.name for found in pkgutil.walk_packages(tallybayes.__path__, "tallybayes.") if "._" not in found.name
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_are_true(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_examples_to_check() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert examples > 50
