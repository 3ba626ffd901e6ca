"""Convert arrays validated by scikit-learn for the kernels: classes as codes, rows in slices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import issparse

from tallybayes import engines, kernels
from tallybayes.categories import encode
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Dense, Sparse
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact
from tallybayes.kernels import Limbs

Array: TypeAlias = npt.NDArray[Any]
# Returns the sums of a slice of rows, given their classes and weights.
Counter: TypeAlias = Callable[[slice, ClassCodes, Weights], Mapping[str, Limbs]]

_FEW = 4096  # rows; below, NumPy's sorting is faster than Arrow's hashing
_LEAST_ROWS = 8192  # rows per slice, at least: enough to pay for a thread
_COPY_BYTES = 64 << 20  # copied per slice, at most, to bound memory
_SUMS_BYTES = 256 << 20  # sums of all slices together, at most; more means one thread
_FEW_VALUES = 1 << 19  # counted in less than a millisecond: threads would take as long to start
_FEW_BYTES = 1 << 20  # sums small enough that merging more slices costs nothing
_WIDE = 1024  # columns from which rows of whole numbers are added one by one: no copy as floats, no split into parts
_ENTRIES = (np.float64, np.float32, np.int32, np.int64)


def as_numpy(y: Any) -> Any:
    """Return classes of pandas' own types as objects or in their NumPy type, so that whole numbers stay whole."""
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if kind is None or getattr(kind, "kind", "") not in "biu":
        return y
    return y.to_numpy(object, na_value=None) if y.isna().any() else y.to_numpy(kind)


def class_codes(y: Array) -> tuple[ClassCodes, Array]:
    """Return each row's class code, and the sorted classes in their own type (text as narrow as possible).

    Examples
    --------
    >>> class_codes(np.array(["no", "yes", "no"]))
    (array([0, 1, 0], dtype=int32), array(['no', 'yes'], dtype='<U3'))
    """
    hashed = _hashed(y) if len(y) >= _FEW else None
    if hashed is not None:
        return hashed
    classes, places = np.unique(y, return_inverse=True)
    continuous = classes.dtype.kind == "f" and bool((classes != np.floor(classes)).any())
    if continuous or (classes.dtype.kind == "O" and not isinstance(classes[0], str)):
        raise ValueError(
            f"Unknown label type: {'continuous' if continuous else 'unknown'}. Wanted classes (text, whole numbers or "
            f"booleans), got {classes.tolist()[0]!r}. Cut a quantity into classes, or use a regressor."
        )
    text = classes.dtype.kind in "UO"
    return places.astype(np.int32), np.array(classes.tolist()) if text else classes


def _hashed(y: Array) -> tuple[ClassCodes, Array] | None:
    """Return codes and classes by hashing; None if the values are neither text nor whole numbers."""
    text = y.dtype.kind == "U" or isinstance(y[0], str)
    if not text and y.dtype.kind not in "bi":
        return None
    try:
        values = pa.array(y, pa.string() if text else None)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # not all of these objects are text
        return None
    if values.null_count:
        return None
    codes, labels = encode(values)
    return codes, labels.to_numpy() if text else labels.to_numpy().astype(y.dtype)


def places(y: Array, classes: Array) -> ClassCodes:
    """Return each row's class code among given classes; raise for a class that is not among them."""
    codes, found = class_codes(y)
    place = np.searchsorted(classes, found)
    unknown = classes[np.minimum(place, len(classes) - 1)] != found
    if np.any(unknown):
        raise ValueError(
            f"The target label(s) {found[unknown]} in y do not exist in the initial classes {classes}. "
            "Name all classes in the first call of partial_fit, or use tallybayes.NaiveBayes, which needs no such list."
        )
    return place.astype(np.int32)[codes]


def count(
    counter: Counter,
    codes: ClassCodes,
    n_classes: int,
    weights: Weights,
    *,
    values: int,
    sums_bytes: int,
    copied: int = 0,
) -> Statistic:
    """Return the sums of all rows, counted slice by slice on all cores.

    `values` is the number of values in all rows, `sums_bytes` the approximate size of the sums, and `copied` the number
    of bytes of each row that are copied first.
    Negative weights subtract, as in scikit-learn.
    """
    if weights is not None and (weights < 0).any():
        more, less = (
            count(counter, codes, n_classes, part, values=values, sums_bytes=sums_bytes, copied=copied)
            for part in (np.maximum(weights, 0.0), np.maximum(-weights, 0.0))
        )
        return more.subtract(less, more.rows - less.rows)

    def work(rows: slice) -> Mapping[str, Limbs]:
        return counter(rows, codes[rows], None if weights is None else weights[rows])

    n, threads = len(codes), engines.default_threads(None)
    if values < _FEW_VALUES:
        return _summed(work(slice(0, n)), codes, n_classes, weights)
    if threads * sums_bytes > _SUMS_BYTES:
        threads = 1
    pieces = threads if sums_bytes > _FEW_BYTES else 4 * threads  # more slices balance the load better
    size = min(-(-n // pieces), _COPY_BYTES // max(1, copied))
    sums = engines.fold_rows(n, work, _merge, threads=threads, rows=max(_LEAST_ROWS, size))
    return _summed(sums, codes, n_classes, weights)


def _summed(sums: Mapping[str, Limbs], codes: ClassCodes, n_classes: int, weights: Weights) -> Statistic:
    exact = {name: Exact.from_limbs(limbs) for name, limbs in sums.items()}
    return Statistic(_row_sums(codes, n_classes, weights), exact, dict.fromkeys(exact, Sum("column", signed=True)))


def _merge(left: Mapping[str, Limbs], right: Mapping[str, Limbs]) -> Mapping[str, Limbs]:
    return {name: _plus(left[name], right[name]) for name in left}


def _plus(a: Limbs, b: Limbs) -> Limbs:
    """Add the sums of two slices, in place where both have the same base, since these arrays may be large."""
    if a.base == b.base and a.limbs.shape == b.limbs.shape and a.limbs.flags.writeable:
        np.add(a.limbs, b.limbs, out=a.limbs)
        return a
    return (Exact.from_limbs(a) + Exact.from_limbs(b)).to_limbs()


def _row_sums(codes: ClassCodes, n_classes: int, weights: Weights) -> Exact:  # (C,)
    if weights is None:
        return Exact.from_counts(np.bincount(codes, minlength=n_classes))
    return Exact.from_limbs(kernels.power_sums((weights,), codes, n_classes, order=1).first).reshape((n_classes,))


def dense(values: Array) -> Dense:
    """Return a matrix as floats, copied only if needed."""
    kind = values.dtype if values.dtype in (np.float64, np.float32) else np.dtype(np.float64)
    return Dense(laid_out(values.astype(kind, copy=False)))


def laid_out(values: Array) -> Array | tuple[Array, ...]:
    """Return a matrix for the kernels: row-major as it is, column-major as its columns, otherwise copied."""
    if values.strides[0] == values.itemsize and values.shape[1] > 1:
        return tuple(values.T)
    return np.ascontiguousarray(values)


def reader(X: Any) -> Callable[[slice], Array | Sparse]:
    """Return a function that gives slices of rows without copying; a scipy CSR matrix gives `Sparse`.

    Entries of another type than the kernels take are converted once.
    """
    if not issparse(X):
        return lambda rows: X[rows]
    data = X.data if X.data.dtype in _ENTRIES else X.data.astype(np.float64)
    return lambda rows: Sparse(X.indptr[rows.start : rows.stop + 1], X.indices, data, X.shape[1])


def copied(X: Any) -> int:
    """Return the bytes copied of each row before the kernels take it; 0 if its layout already fits."""
    if issparse(X) or (X.dtype in (np.float64, np.float32) and (X.flags.c_contiguous or X.flags.f_contiguous)):
        return 0
    return int(8 * X.shape[1])


def column_sums(data: Array | Sparse, codes: ClassCodes, n_classes: int, weights: Weights) -> Limbs:  # (C, F)
    """Return the exact sum of each column in each class; raise for a negative sparse entry."""
    if isinstance(data, Sparse):
        return kernels.count_sparse(*data.parts(), data.width, codes, n_classes, weights=weights)
    if weights is None and data.shape[1] >= _WIDE and _add_without_overflow(data):
        sums = np.zeros((n_classes, data.shape[1], 1), np.int64)
        for row, c in zip(data, codes.tolist(), strict=True):
            sums[c, :, 0] += row
        return Limbs(sums, 0)
    return kernels.power_sums(dense(data).columns, codes, n_classes, order=1, weights=weights).first


def _add_without_overflow(data: Array) -> bool:
    """Whether these are rows of whole numbers, one after the other in memory, whose sums 64 bits hold."""
    if not (data.size and data.flags.c_contiguous and data.dtype.kind in "iu" and np.can_cast(data.dtype, np.int64)):
        return False
    return max(-int(data.min()), int(data.max())) * len(data) < 1 << 62


def are_finite(values: Array) -> bool:
    """Whether no value is NaN or infinite: one pass, while the values are in the cache."""
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())
