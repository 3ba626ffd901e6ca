"""Rows taken from batches: the same as Arrow takes, for every kind of column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import random_array

from tallybayes.sources import gather, read, rejoin, take


def batch(seed: int, kind: type) -> pa.RecordBatch:
    """Return a slice of a batch: a matrix, one with nulls, lists, words and numbers."""
    rng = np.random.default_rng(seed)
    matrix = next(iter(read(rng.integers(0, 99, (30, 3)).astype(kind))))
    holes = pa.array([None if k % 4 == 0 else [k, None] for k in range(30)], pa.list_(pa.int64(), 2))
    lists = pa.array([list(range(k % 3)) for k in range(30)])
    words = pa.array([None if k % 5 == 0 else f"{seed}-{k}" for k in range(30)])
    columns = [matrix.column(0), holes, lists, words, pa.array(rng.normal(size=30))]
    fields = [matrix.schema.field(0), *(pa.field(name, c.type) for name, c in zip("hlwn", columns[1:], strict=True))]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)).slice(4, 20)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("places", [[], [0], [19, 3, 3, 7]])
def test_rows_of_one_batch(kind: type, places: list[int]) -> None:
    index = np.array(places, np.intp)
    assert take(batch(0, kind), index).equals(batch(0, kind).take(pa.array(index)))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("pieces", [[[2, 0]], [[3, 5, 3], [], [0, 1]], [[], []]], ids=str)
def test_rows_of_several_batches_in_any_order(kind: type, shared: bool, pieces: list[list[int]]) -> None:
    whole = batch(0, kind)
    each = [whole.slice(6 * k, 6) if shared else batch(k, kind) for k in range(len(pieces))]
    given = [(one, np.array(places, np.intp)) for one, places in zip(each, pieces, strict=True)]
    order = np.random.default_rng(1).permutation(sum(map(len, pieces)))
    joined = pa.Table.from_batches([one.take(pa.array(index)) for one, index in given])
    want = joined.take(pa.array(order)).combine_chunks()
    assert pa.Table.from_batches([gather(given, order)]).equals(want, check_metadata=True)


def sparse(seed: int, kind: type, pointer: type = np.int32) -> pa.RecordBatch:
    """Return a batch of sparse rows."""
    rows = random_array((30, 5), density=0.4, rng=np.random.default_rng(seed), format="csr").astype(kind)
    rows.data[:] = np.arange(len(rows.data)) % 7 + 1
    rows.indptr, rows.indices = rows.indptr.astype(pointer), rows.indices.astype(pointer)
    return next(iter(read(rows)))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, np.uint16, bool])
@pytest.mark.parametrize("pointer", [np.int32, np.int64])
@pytest.mark.parametrize("places", [[], [0], [19, 3, 3, 7]], ids=str)
def test_sparse_rows_of_one_batch(kind: type, pointer: type, places: list[int]) -> None:
    index, rows = np.array(places, np.intp), sparse(0, kind, pointer).slice(4, 20)
    taken = take(rows, index)
    taken.validate(full=True)
    assert taken.equals(rows.take(pa.array(index)))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("pieces", [[[3, 9, 3], [], [0, 1]], [[], []]], ids=str)
def test_sparse_rows_of_several_batches_in_any_order(shared: bool, pieces: list[list[int]]) -> None:
    whole = sparse(0, np.float64)
    each = [whole.slice(10 * k, 10) if shared else sparse(k, np.float64) for k in range(len(pieces))]
    index = [np.array(places, np.intp) for places in pieces]
    order = np.random.default_rng(1).permutation(sum(map(len, pieces)))
    want = pa.Table.from_batches([one.take(pa.array(at)) for one, at in zip(each, index, strict=True)])
    found = gather(list(zip(each, index, strict=True)), order)
    found.validate(full=True)
    assert pa.Table.from_batches([found]).equals(want.take(pa.array(order)).combine_chunks(), check_metadata=True)


def test_slices_of_a_matrix_are_joined_without_a_copy() -> None:
    X = np.arange(30.0).reshape(10, 3)
    [whole] = read(X)
    parts = [whole.slice(0, 4), whole.slice(4, 1), whole.slice(5)]
    joined = rejoin(parts)
    assert joined is not None
    assert joined.equals(whole, check_metadata=True)
    assert joined.column(0).values.buffers()[1].address == whole.column(0).values.buffers()[1].address
    part = rejoin(parts[1:])
    assert part is not None
    assert part.equals(whole.slice(4))


def test_other_batches_are_not_joined() -> None:
    one, other = (next(iter(read(np.full((4, 3), float(k))))) for k in range(2))
    assert rejoin([one, other]) is None  # other memory
    assert rejoin([one.slice(2), one.slice(0, 2)]) is None  # another order
    assert rejoin([one.slice(0, 1), one.slice(2)]) is None  # a gap
    assert rejoin([one, next(iter(read(np.ones((4, 2)))))]) is None  # another width
    assert rejoin([batch(0, np.float64).slice(0, 3), batch(0, np.float64).slice(3)]) is None  # lists
    assert rejoin([one]) is one
