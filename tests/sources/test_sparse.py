import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from tallybayes.sources import kind_of, names_of, read, sparse_of, was_bool, width_of

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 4]], float)


def dense(source):
    field = source.schema.field("x")
    made = []
    for batch in source:
        indptr, indices, data, width = sparse_of(batch.column("x"), field)
        start, stop = indptr[0], indptr[-1]
        rows = sp.csr_array((data[start:stop], indices[start:stop], indptr - start), shape=(batch.num_rows, width))
        made.append(rows.toarray())
    return np.concatenate(made)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1", "?"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_csr_matrix_is_one_column_without_a_copy(make, dtype, index):
    matrix = make(DENSE.astype(dtype))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    source = read(matrix)
    field = source.schema.field("x")
    assert (source.rows, source.again, source.name) == (3, True, "the sparse matrix")
    assert (kind_of(field), width_of(field), names_of(field)) == ("sparse", 4, None)
    assert field.metadata[b"tallybayes.width"] == b"4"
    assert was_bool(field) is (dtype == "?")
    (batch,) = source
    batch.validate(full=True)
    indptr, indices, data, _ = sparse_of(batch.column("x"), field)
    assert np.shares_memory(indptr, matrix.indptr)
    assert np.shares_memory(indices, matrix.indices)
    assert np.shares_memory(data, matrix.data)
    np.testing.assert_array_equal(dense(source), DENSE.astype(dtype))


@pytest.mark.parametrize("format", ["csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
def test_every_format_reads_as_its_rows(format, make):
    np.testing.assert_array_equal(dense(read(make(DENSE).asformat(format))), DENSE)


def test_slices_are_views_into_the_same_arrays():
    matrix = sp.csr_array(DENSE)
    source = read(matrix, batch_rows=2)
    np.testing.assert_array_equal(dense(source), DENSE)
    second = list(source)[1]
    indptr, indices, _, _ = sparse_of(second.column("x"), source.schema.field("x"))
    assert indptr.tolist() == [2, 4]
    assert np.shares_memory(indices, matrix.indices)


def test_duplicate_entries_are_summed_and_the_callers_matrix_is_left_alone():
    matrix = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    assert dense(read(matrix)).tolist() == [[5, 3]]
    assert matrix.data.tolist() == [1, 2, 5]
    (batch,) = read(matrix)
    assert len(sparse_of(batch.column("x"), batch.schema.field("x"))[1]) == 2


def test_names_travel_with_the_matrix_and_through_files(tmp_path, all_of):
    source = read(sp.csr_array(DENSE), names=["a", "b", "c", "d"])
    pq.write_table(all_of(source), tmp_path / "a.parquet")
    again = read(tmp_path / "a.parquet")
    assert names_of(again.schema.field("x")) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(dense(again), DENSE)


def test_a_matrix_without_rows_or_entries_is_read():
    assert list(read(sp.csr_array((0, 5)))) == []
    assert dense(read(sp.csr_array((2, 5)))).tolist() == [[0] * 5] * 2


def test_the_mark_of_a_sparse_column_is_ignored_on_another_type():
    marks = {b"tallybayes.kind": b"sparse", b"tallybayes.width": b"3"}
    assert kind_of(pa.field("x", pa.int64(), metadata=marks)) == "column"
    assert kind_of(pa.field("x", pa.list_(pa.int64()), metadata=marks)) == "column"


def test_bad_matrices_are_refused_in_a_sentence(sentence):
    assert sentence(sp.csr_array(DENSE.astype(complex))) == "the sparse matrix: wanted numbers, got complex128."
    if sp.coo_array(DENSE[0]).ndim == 1:  # since scipy 1.13
        assert sentence(sp.coo_array(DENSE[0])) == (
            "the sparse matrix: wanted two dimensions, rows and columns, got 1 (shape (4,))."
        )
    broken = sp.csr_array(DENSE)
    broken.indptr[1] = 99
    assert sentence(broken) == (
        "the sparse matrix: wanted row pointers that rise from 0 to the number of entries, got pointers that do not."
    )
    assert sentence(sp.csr_array(DENSE), names=["a"]) == "names: wanted 4, one for each column, got 1."
