"""What all kernel tests share: run on every instruction set, and compare exact numbers as Python integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tallybayes.kernels import Limbs, _native, reference


@pytest.fixture(scope="session")
def each_isa() -> Callable[[], Iterator[str]]:
    """Iterate over the instruction sets that this processor has, each in force while it is the turn."""

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
    """Limbs as Python integers in units of 2**-6400, whatever their base: equal numbers are equal integers."""
    return lambda limbs: reference.integers(limbs) * (1 << 32 * (limbs.base + 200))


@pytest.fixture(scope="session")
def as_table() -> Callable[[np.ndarray, str], object]:
    """The same numbers in every form that a table may have."""

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
