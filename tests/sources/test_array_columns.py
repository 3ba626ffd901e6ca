import numpy as np
import pyarrow as pa

from tallybayes.sources import kind_of, matrix_of, width_of


def test_any_list_of_a_fixed_size_of_numbers_is_a_matrix():
    assert kind_of(pa.field("x", pa.list_(pa.int8(), 3))) == "matrix"
    assert kind_of(pa.field("x", pa.list_(pa.string(), 3))) == "column"
    assert kind_of(pa.field("x", pa.list_(pa.bool_(), 3))) == "column"
    assert kind_of(pa.field("x", pa.list_(pa.int8()))) == "column"
    assert width_of(pa.field("x", pa.string())) == 1


def test_a_slice_of_a_slice_of_a_matrix_is_a_view():
    column = pa.array([[i, -i] for i in range(10)], pa.list_(pa.int64(), 2))
    view = matrix_of(column[3:][2:5])
    assert view.tolist() == [[5, -5], [6, -6], [7, -7]]
    assert np.shares_memory(view, column.values.to_numpy())
    assert matrix_of(column[10:]).shape == (0, 2)


def test_nulls_in_a_matrix_become_nan():
    column = pa.array([[9, 9], [1, None], None, [3, 4]], pa.list_(pa.int64(), 2))[1:]
    np.testing.assert_array_equal(matrix_of(column), [[1, np.nan], [np.nan, np.nan], [3, 4]])
