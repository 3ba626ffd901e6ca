"""Shared by kernel tests: run on every instruction set, compare exact numbers as integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tallybayes.kernels import Limbs, _native

from . import reference


@pytest.fixture(scope="session")
def each_isa() -> Callable[[], Iterator[str]]:
    """Iterate over this processor's instruction sets; each is active during its turn."""

    def iterate() -> Iterator[str]:
        before = _native.isa()
        try:
            for name in _native.available():
                _native.use(name)
                yield name
        finally:
            _native.use(before)

    return iterate


@pytest.fixture(scope="session")
def exact() -> Callable[[Limbs], np.ndarray]:
    """Return limbs as Python integers in units of 2**-6400, whatever their base."""
    return lambda limbs: reference.integers(limbs) * (1 << 32 * (limbs.base + 200))


@pytest.fixture(scope="session")
def as_table() -> Callable[[np.ndarray, str], object]:
    """Return the same numbers in every form that a table may have."""

    def arrange(x: np.ndarray, form: str) -> object:
        if form == "columns":
            return [np.ascontiguousarray(x[:, f]) for f in range(x.shape[1])]
        if form == "read-only columns":
            columns = [x[:, f].copy() for f in range(x.shape[1])]
            for column in columns:
                column.flags.writeable = False
            return tuple(columns)
        if form == "slice":
            wide = np.full((x.shape[0] + 2, x.shape[1] + 3), 77, dtype=x.dtype)
            wide[1:-1, 2:-1] = x
            return wide[1:-1, 2:-1]
        if form == "fortran":
            return np.asfortranarray(x)
        if form == "reversed":
            return x[::-1, ::-1].copy()[::-1, ::-1]
        return np.ascontiguousarray(x)

    return arrange
