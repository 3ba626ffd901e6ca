"""No input may crash the process: wrong types, shapes and ranges are refused in one sentence."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

from tallybayes import kernels
from tallybayes.kernels import _native

from . import reference

N, F, C = 6, 3, 2
X = np.ones((N, F))
Y = np.zeros(N, np.int32)
CODES = np.zeros((N, F), np.int64)
SIZES = [2] * F
CSR = np.arange(N + 1), np.zeros(N, np.int64), np.ones(N)
CF = np.ones((C, F))
OUT = np.zeros((N, C))

GOOD = {
    "power_sums": ((X, Y, C), {"order": 2, "weights": None}),
    "count_codes": ((CODES, Y, C, SIZES), {"low": 0, "weights": None}),
    "count_pairs": ((CODES, Y, C, SIZES), {"weights": None}),
    "count_sparse": ((*CSR, F, Y, C), {"weights": None, "binary": False}),
    "score_gaussian": ((X, CF, CF, CF, OUT), {}),
    "score_student": ((X, CF, CF, CF, CF, OUT), {}),
    "score_codes": ((CODES, np.zeros((6, C)), SIZES, OUT), {"low": 0}),
    "score_own_codes": ((CODES, np.zeros((6, C)), SIZES, Y, OUT), {"low": 0}),
    "score_sparse": ((*CSR, np.zeros((F, C)), OUT, np.zeros(N)), {}),
    "leave_sparse": ((*CSR, Y, np.ones((C, F), int), np.ones(F), np.zeros(N)), {}),
    "softmax": ((OUT, OUT), {}),
    "best_class": ((OUT, np.zeros(N, np.int64)), {}),
    "log_softmax": ((OUT, OUT), {}),
}

unaligned = np.frombuffer(bytearray(8 * N * F + 1), np.uint8)[1:].view(np.float64).reshape(N, F)
BAD = [
    None,
    3,
    "text",
    b"bytes",
    [],
    [1.0, 2.0],
    [[1.0] * F] * N,
    [None] * F,
    object(),
    np.float64(3.0),
    np.zeros(()),
    np.zeros(0),
    np.zeros(N),
    np.zeros((N + 1, F)),
    np.zeros((N, F + 1)),
    np.zeros((N, F, 1)),
    np.zeros((N, F), np.float16),
    np.zeros((N, F), complex),
    np.zeros((N, F), object),
    np.zeros((N, F), "U3"),
    np.zeros((N, F), "M8[s]"),
    np.zeros((N, F), np.uint64),
    np.zeros((N, F), ">f8"),
    np.zeros((N, F), ">i4"),
    np.zeros((N, F), [("a", float), ("b", float)]),
    np.zeros((F, N)).T[:, ::-1],
    unaligned,
    np.zeros(N, np.int64),
    np.zeros(2 * N, np.int32)[::2],
    np.full(N, C, np.int32),
    np.full(N, -1, np.int32),
    np.full(N + 1, 7, np.int64),
    [np.zeros(N), np.zeros(N + 1), np.zeros(N)],
    [np.zeros(N), np.zeros((N, 1)), np.zeros(N)],
    [2, 2],
    [2, 2, -1],
    [2, 2, 2**62],
    [2, 2, 2.5],
    -1,
    2**31,
    2**62,
    2**70,
    1.5,
]


@pytest.mark.parametrize("name", GOOD)
def test_anything_in_any_place_is_taken_or_refused(each_isa, name):
    arguments, options = GOOD[name]
    kernel = getattr(kernels, name)
    refused = 0
    for _ in each_isa():
        kernel(*arguments, **options)
        for place in range(len(arguments)):
            for bad in BAD:
                if name.startswith("count") and isinstance(bad, int) and bad == 2**31 - 1:
                    continue
                try:
                    kernel(*arguments[:place], bad, *arguments[place + 1 :], **options)
                except (TypeError, ValueError):
                    refused += 1
        for option in options:
            for bad in BAD:
                try:
                    kernel(*arguments, **{**options, option: bad})
                except (TypeError, ValueError):
                    refused += 1
    assert refused > 100


def test_read_only_output_is_refused():
    out = np.zeros((N, C))
    out.flags.writeable = False
    with pytest.raises(TypeError, match="writable"):
        kernels.softmax(out)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_weights_are_refused_among_many_rows(each_isa, bad):
    weights = np.ones(1000)
    weights[700] = bad
    for _ in each_isa():
        with pytest.raises(ValueError, match=r"weights.*row 700"):
            kernels.power_sums(np.ones((1000, 2)), np.zeros(1000, np.int32), 1, weights=weights)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_weights_are_refused(each_isa, bad):
    weights = np.array([1.0, 1.0, bad, 1.0, 1.0, 1.0])
    for _ in each_isa():
        for name in ("power_sums", "count_codes", "count_pairs", "count_sparse"):
            with pytest.raises(ValueError, match=r"weights.*row 2"):
                getattr(kernels, name)(*GOOD[name][0], weights=weights)


@pytest.mark.parametrize("n", [6, 600])
def test_classes_out_of_range_are_refused(each_isa, n):
    y = np.zeros(n, np.int32)
    y[n - 2] = C
    x, codes, indptr = np.ones((n, 1)), np.zeros((n, 1), np.int8), np.zeros(n + 1, np.int32)
    for _ in each_isa():
        with pytest.raises(ValueError, match=f"classes.*row {n - 2}"):
            kernels.power_sums(x, y, C)
        with pytest.raises(ValueError, match=f"classes.*row {n - 2}"):
            kernels.count_codes(codes, y, C, [1])
        with pytest.raises(ValueError, match=f"classes.*row {n - 2}"):
            kernels.count_pairs(codes, y, C, [1])
        with pytest.raises(ValueError, match=f"classes.*row {n - 2}"):
            kernels.count_sparse(indptr, np.zeros(0, np.int32), np.zeros(0), 1, y, C)
        with pytest.raises(ValueError, match=f"classes.*row {n - 2}"):
            kernels.score_own_codes(codes, np.zeros((1, C)), [1], y, np.zeros((n, C)))


def test_messages_say_what_was_wanted_and_what_was_got():
    with pytest.raises(TypeError, match=r"classes: wanted int32, got int64"):
        kernels.power_sums(X, np.zeros(N, np.int64), C)
    with pytest.raises(ValueError, match=r"mean: wanted shape \(2, 3\), got \(3, 3\)"):
        kernels.score_gaussian(X, np.ones((3, F)), CF, CF, OUT)
    with pytest.raises(ValueError, match=r"outside: wanted 'skip' or 'last', got 'first'"):
        kernels.score_codes(CODES, np.zeros((6, C)), SIZES, OUT, outside="first")


@pytest.mark.parametrize("error", [kernels.NotFinite, kernels.BadEntry])
def test_errors_survive_pickling(error):
    copy = pickle.loads(pickle.dumps(error(3, 4, -1.5)))
    assert (copy.row, copy.column, copy.value, str(copy)) == (3, 4, -1.5, str(error(3, 4, -1.5)))


def test_an_index_outside_survives_pickling():
    copy = pickle.loads(pickle.dumps(kernels.BadIndex(3, 7)))
    assert (copy.row, copy.index, str(copy)) == (3, 7, str(kernels.BadIndex(3, 7)))


def test_no_rows_no_columns_no_classes(each_isa):
    for n, columns, n_classes in np.ndindex(2, 2, 2):
        x, y = np.zeros((n, columns)), np.zeros(n, np.int32)
        parameters, out = np.ones((n_classes, columns)), np.zeros((n, n_classes))
        for _ in each_isa():
            kernels.score_gaussian(x, parameters, parameters, parameters, out)
            kernels.score_student(x, parameters, parameters, parameters, parameters, out)
            kernels.softmax(out)
            if n and not n_classes:
                with pytest.raises(ValueError, match="classes"):
                    kernels.power_sums(x, y, n_classes)
            else:
                assert kernels.power_sums(x, y, n_classes).first.limbs.shape == (n_classes, columns, 1)


def test_every_kernel_has_a_twin():
    for name in GOOD | {"to_float": 0, "exact_moments": 0}:
        assert callable(getattr(reference, name))


def test_unknown_instruction_sets_are_refused():
    with pytest.raises(ValueError, match="instruction set"):
        _native.use("v9")
    assert _native.isa() in _native.available()


def test_kernels_run_in_threads_at_once():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20_000, 8)), rng.integers(0, 3, 20_000).astype(np.int32)
    want = kernels.power_sums(x, y, 3)
    got: list[kernels.PowerSums] = []
    threads = [threading.Thread(target=lambda: got.append(kernels.power_sums(x, y, 3))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert all((a.limbs == b.limbs).all() for sums in got for a, b in zip(sums, want, strict=True))
