"""Every instruction set gives the same bits, and TALLYBAYES_ISA selects one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tallybayes import kernels
from tallybayes.kernels import Coefficients, _native
from tallybayes.kernels.text import Lookup

N, F, C = 75, 70, 5
SPREADS = [1.0, 1e-9, 1e-160, 1e30, 1e60, 1e155, 1e300]


def dense(rng: np.random.Generator, spread: float = 1.0) -> np.ndarray:
    """Return numbers with missing values and a few outliers."""
    x = rng.normal(size=(N, F))
    x[rng.random(x.shape) < 0.01] *= 1e20
    x[:20][rng.random((20, F)) < 0.1] = np.nan
    return x * spread


def densities(kind: str, spread: float) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(0)
    x, (mean, scale, constant), asked = dense(rng), rng.normal(size=(3, C, F)), rng.normal(size=(N, C))
    power = np.resize([0.5, 3.0, 3.0, 3.0, 1e6], (C, F))
    out, terms = np.zeros((N, C)), np.zeros((N, F))
    with_power = {"gaussian": None, "student": power}[kind]
    parameters = [mean, np.abs(scale) * spread, constant] + ([] if with_power is None else [power])
    for rest in (None, constant * 1e-9):
        getattr(kernels, f"score_{kind}")(x, *parameters, out, rest=rest)
        kernels.terms_dense(x, mean, np.abs(scale) * spread, constant, with_power, asked, terms, rest=rest)
        yield from (out.copy(), terms.copy())


def left_out(student: bool, spread: float, *, prior: bool = True) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(1)
    x, classes = dense(rng, spread), rng.integers(0, C, N).astype(np.int32)
    n, mean, m2 = np.full((C, F), 15.0), rng.normal(size=(C, F)) * spread, np.full((C, F), 1e3) * spread * spread
    rest = mean * 1e-9
    whole = np.stack([n.sum(axis=0), mean.mean(axis=0), m2.sum(axis=0), rest.mean(axis=0)])
    sizes = np.resize([3.0, 3.0, 5.0], (C, F))
    full, less = (Coefficients(*rng.uniform(0.01, 1, (4, C, F)), sizes, rng.normal(size=(C, F))) for _ in range(2))
    if not prior:
        full, less = (k._replace(pull=0 * k.pull, between=0 * k.between, whole=0 * k.whole) for k in (full, less))
    out = np.zeros((N, C))
    cells = kernels.leave_dense(
        x, classes, np.stack([n, mean, m2, rest]), whole, full, less, out, floor=1e-9, student=student
    )
    yield from (out, np.asarray(sorted(map(tuple, cells))))


def sparse(classes: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(2)
    indptr, indices = np.arange(0, 401, 20), rng.integers(0, 50, 400)
    data, out = np.round(rng.exponential(2, 400), 3), np.zeros((20, classes))
    kernels.score_sparse(indptr, indices, data, rng.normal(size=(50, classes)), out)
    limbs = kernels.count_sparse(indptr, indices, data, 50, np.zeros(20, np.int32), 1, weights=rng.random(20))
    own, y = np.zeros(20), rng.integers(0, classes, 20).astype(np.int32)
    kernels.leave_sparse(indptr, indices, data, y, rng.poisson(90, (classes, 50)), rng.random(50), own)
    yield from (out, kernels.to_float(limbs), own)


def normalised(classes: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(300, classes)) * 10 ** rng.uniform(-16, 3, (300, 1))
    scores[rng.random(scores.shape) < 0.05] = -np.inf
    scores[:9] -= 740  # what is left of the others is below the smallest normal double
    scores[:9, 0] = 0.0
    for normalise in (kernels.softmax, kernels.log_softmax):
        out = np.empty_like(scores)
        yield normalise(scores, out)
        yield out
    shifted = np.maximum(scores, -1e8)
    shifted -= shifted.max(axis=1, keepdims=True)
    logs, loss = rng.normal(size=300), np.empty(300)
    logs[:5] = np.nan
    for at in ((0.1, -0.3), (-3.0, 2.0), (700.0, 20.0)):
        yield np.array(kernels.temper(shifted, shifted[:, 0].copy(), logs, rng.random(300), *at, loss))
        yield loss.copy()


def moments(spread: float) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(4)
    x, classes = dense(rng, spread), rng.integers(0, C, N).astype(np.int32)
    for weights in (None, rng.exponential(size=N)):
        sums = kernels.power_sums(x, classes, C, weights=weights)
        yield from kernels.exact_moments(*sums)
        yield from map(kernels.to_float, sums)


def words() -> Iterator[np.ndarray]:
    rng = np.random.default_rng(5)
    vocabulary = [f"word{k}" for k in range(60)]
    documents = pa.array([" ".join(rng.choice(vocabulary, 30)) + " other" for _ in range(40)])
    for classes in (1, 2, 7, 41):
        out = np.zeros((40, classes))
        table = rng.normal(size=(60, classes))
        yield Lookup(pa.array(vocabulary)).score(documents, table, out, unknown=rng.normal(size=classes))
        yield out


WORKS: dict[str, Callable[[], Iterator[np.ndarray]]] = {
    **{f"gaussian, {s:g}": lambda s=s: densities("gaussian", s) for s in SPREADS},
    **{f"student, {s:g}": lambda s=s: densities("student", s) for s in SPREADS},
    **{f"left out, {k}, {s:g}": lambda k=k, s=s: left_out(k, s) for k in (False, True) for s in (1.0, 1e-70, 1e70)},
    **{f"left out of no prior, {s:g}": lambda s=s: left_out(False, s, prior=False) for s in (1.0, 1e-70, 1e70)},
    **{f"sparse, {c} classes": lambda c=c: sparse(c) for c in (1, 3, 4, 20, 33)},
    **{f"normalised, {c} classes": lambda c=c: normalised(c) for c in (1, 2, 5, 130)},
    **{f"moments, {s:g}": lambda s=s: moments(s) for s in (1.0, 1e-150, 1e100)},
    "words": words,
}


def digest(work: Callable[[], Iterator[np.ndarray]]) -> str:
    """Return a digest of all result bits; all NaNs are equal, and the sign of zero counts."""
    made = hashlib.sha256()
    for values in work():
        plain = np.asarray(values)
        made.update(np.where(np.isnan(plain), np.nan, plain).tobytes() if plain.dtype.kind == "f" else plain.tobytes())
    return made.hexdigest()


@pytest.mark.parametrize("work", WORKS)
def test_all_instruction_sets_give_the_same_bits(each_isa: Callable[[], Iterator[str]], work: str) -> None:
    assert len({digest(WORKS[work]) for _ in each_isa()}) == 1


def elsewhere(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Return the output of another process under other settings."""
    kept = {name: value for name, value in os.environ.items() if name not in ("TALLYBAYES_ISA", "OPENBLAS_CORETYPE")}
    return subprocess.run(
        [sys.executable, *arguments], env=kept | settings, capture_output=True, text=True, check=True, timeout=120
    )


def test_other_processes_give_the_same_bits_on_every_instruction_set() -> None:
    here: dict[str, Any] = {work: digest(WORKS[work]) for work in WORKS}
    for isa in _native.available():
        for core in ["Prescott", "Haswell"] if "v3" in _native.available() else ["Prescott"]:
            there = json.loads(elsewhere(__file__, TALLYBAYES_ISA=isa, OPENBLAS_CORETYPE=core).stdout)
            assert there.pop("isa") == isa
            assert there == here, (isa, core)


ASK = "from tallybayes import kernels; print(kernels._native.isa())"


def test_without_the_variable_the_best_is_used() -> None:
    best = _native.available()[-1]
    assert elsewhere("-c", ASK).stdout.strip() == best
    assert elsewhere("-c", ASK, TALLYBAYES_ISA="").stdout.strip() == best


def test_an_instruction_set_that_the_processor_lacks_is_replaced_with_a_warning() -> None:
    done = elsewhere("-c", ASK, TALLYBAYES_ISA="v9")
    assert done.stdout.strip() == _native.available()[-1]
    has = " or ".join(_native.available())
    wanted = f"TALLYBAYES_ISA: wanted an instruction set that this processor has ({has}), got 'v9'. Using "
    assert wanted in done.stderr


if __name__ == "__main__":
    print(json.dumps({"isa": _native.isa(), **{work: digest(WORKS[work]) for work in WORKS}}))
