from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tallybayes import sources
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.categorical import Categorical
from tallybayes.events.gaussian import Gaussian
from tallybayes.events.inputs import Codes, Dense
from tallybayes.schema.schema import Block

MATRIX = np.random.default_rng(0).integers(-3, 4, (50, 6))


def rows_of(matrix: np.ndarray, **more: list[int]) -> RowBatch:
    [batch] = sources.read(matrix)
    for name, values in more.items():
        batch = batch.append_column(name, pa.array(values))
    return RowBatch(batch)


def values(found: Codes) -> list[list[int]]:
    """Return the values of each column, row by row."""
    known = [labels.array.to_numpy() for labels in found.labels]
    return [[int(known[f][k]) for k in found.of_column(f, slice(0, len(found)))] for f in range(len(known))]


@pytest.mark.parametrize("columns", [(0, 1, 2, 3, 4, 5), (2, 3, 4), (5,), (4, 2), (1, 3), (3, 2, 1)])
@pytest.mark.parametrize("kind", [np.int64, np.int8, np.float64])
def test_some_columns_of_a_matrix_are_encoded_as_columns(columns: tuple[int, ...], kind: type) -> None:
    rows, names = rows_of(MATRIX.astype(kind)), tuple(f"x{f}" for f in columns)
    dense = rows.encode(Block(Gaussian(), names))
    assert isinstance(dense, Dense)
    assert [column.tolist() for column in dense.each()] == MATRIX[:, columns].T.tolist()
    if kind is not np.float64:
        codes = rows.encode(Block(Categorical(), names))
        assert isinstance(codes, Codes)
        assert values(codes) == MATRIX[:, columns].T.tolist()


def test_a_column_beside_the_matrix_hides_its_own_of_that_name() -> None:
    rows = rows_of(MATRIX, x3=list(range(50)))
    dense = rows.encode(Block(Gaussian(), ("x2", "x3", "x4")))
    assert isinstance(dense, Dense)
    assert dense.column(1).tolist() == list(range(50))
