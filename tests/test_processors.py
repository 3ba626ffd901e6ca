"""Figures and refusals do not depend on the processor, whatever NumPy and BLAS use."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import tallybayes as tb
from tallybayes.kernels import _native
from tallybayes.storage.model_file import dump


def tables() -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """Small tables in which equal counts arise in many ways: true ties differ in the last bit."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        words = {f"x{k}": rng.choice(["a", "b"], 14).tolist() for k in range(2)}
        yield f"words {seed}", {**words, "y": rng.choice(["no", "yes"], 14).tolist()}
        numbers = {f"x{k}": rng.integers(0, 4, 30).tolist() for k in range(3)}
        yield f"numbers {seed}", {**numbers, "y": rng.choice(["p", "q", "r"], 30).tolist()}


def figures() -> dict[str, dict[str, float]]:
    """Return the figures of models of these tables."""
    out = {}
    for name, table in tables():
        for calibrate in ("loo", None):
            seen = tb.validate(table, "y", how="5-fold", calibrate=calibrate).evaluation
            told = {"auc": seen.auc, "ece": seen.ece, "brier": seen.brier, "loss": seen.log_loss}
            out[f"{name}, calibrate={calibrate}"] = told
    return out


def refusals() -> list[str]:
    """Return the drop-ins' errors for rows that are not finite, with warnings as errors."""
    X, y = np.arange(12.0).reshape(4, 3), [0, 1, 1, 0]
    said = []
    for value in (np.nan, np.inf, -np.inf):
        bad = X.copy()
        bad[2, 1] = value
        for name in ("MultinomialNB", "ComplementNB", "BernoulliNB", "GaussianNB"):
            for rows in [bad] if name == "GaussianNB" else [bad, csr_matrix(bad), bad.astype(np.float32)]:
                for ask in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
                    try:
                        getattr(getattr(tb, name)().fit(X, y), ask)(rows)
                    except Exception as error:
                        said.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
                    else:
                        said.append(f"{name}.{ask} said nothing")
    return said


def unsmoothed() -> list[Any]:
    """Return predictions without an answer (0 · −∞ is NaN): the same everywhere, without a warning."""
    X, y = np.array([[0.0, 2.0], [3.0, 0.0], [1.0, 0.0]]), [0, 1, 1]
    return list(np.isfinite(tb.MultinomialNB(alpha=0.0).fit(X, y).predict_joint_log_proba(X)).tolist())


def mixed(n: int = 60) -> dict[str, list[Any]]:
    """Return columns that any event model takes some of, with missing values."""
    rng = np.random.default_rng(3)
    y = np.resize(["p", "q", "r"], n)
    shift = np.resize([0.0, 0.7, 1.9], n)
    columns: dict[str, Any] = {
        "number": rng.normal(shift),
        "size": np.exp(rng.normal(shift)),
        "far": 1e9 + rng.normal(shift),
        "count": rng.poisson(1 + shift).astype(float),
        "value": rng.choice(["a", "b", "c"], n).astype(object),
        "flag": rng.random(n) < 0.3 + 0.2 * shift,
        "said": [" ".join(rng.choice(["one", "two", "three", "four", str(of)], 6)) for of in y],
        "y": y,
    }
    for name in ("number", "count"):
        columns[name][rng.random(n) < 0.1] = np.nan
    columns["value"][rng.random(n) < 0.1] = None
    return {name: np.asarray(values, object).tolist() for name, values in columns.items()}


ALIKE: dict[str, tuple[str, ...]] = {
    "gaussian": ("number", "size", "far"),
    "lognormal": ("size",),
    "exponential": ("size",),
    "histogram": ("number", "size", "far"),
    "bins": ("number", "size"),
    "mdl": ("number", "size"),
    "poisson": ("count",),
    "categorical": ("value", "flag"),
    "bernoulli": ("flag",),
    "multinomial": ("count", "size"),
    "complement": ("count", "size"),
    "text": ("said",),
}


def models(rows: dict[str, Any]) -> Iterator[tuple[str, tb.Model]]:
    """Return models of every event model under every rule, and of every kind that is calibrated."""
    for event, columns in ALIKE.items():
        some = {name: rows[name] for name in (*columns, "y")}
        for rule in ("mle", "map", "bayes"):
            for alpha in (1.0, "evidence"):
                yield (
                    f"{event} {rule} {alpha}",
                    tb.fit(some, "y", events=event, estimate=rule, alpha=alpha, calibrate=None),
                )
    tables = {name: values for name, values in rows.items() if name != "said"}
    yield "default", tb.fit(tables, "y")
    yield "temperature", tb.fit(tables, "y", calibrate="loo")
    yield "pairs", tb.fit(tables, "y", structure="pairs")
    yield "tan", tb.fit(tables, "y", structure="tan", calibrate=None)
    yield "default text", tb.fit(rows["said"], list(rows["y"]))
    yield "mixed", tb.fit(rows, "y")


def digest(model: tb.Model, table: dict[str, Any]) -> str:
    """Return a digest of the bits of all predictions."""
    rows = table["said"] if model.schema.columns == ("text",) else table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        answers = (model.log_joint(rows), model.predict_proba(rows), model.predict_log_proba(rows))
    return hashlib.sha256(b"".join(answer.tobytes() for answer in answers)).hexdigest()


def all_of_it(folder: str) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = {"figures": figures(), "refusals": refusals(), "unsmoothed": unsmoothed(), "isa": _native.isa()}
    rows = json.loads(Path(folder, "rows.json").read_text(encoding="utf-8"))  # drawing them takes logarithms, too
    told["loaded"] = {path.stem: digest(tb.load(path), rows) for path in sorted(Path(folder).glob("*.tally"))}
    fitted = dict(models(rows))
    told["fitted"] = {name: digest(model, rows) for name, model in fitted.items()}
    told["evidence"] = {
        name: hashlib.sha256(dump(replace(model, calibration=None))).hexdigest() for name, model in fitted.items()
    }
    return told


def under(folder: str, **settings: str) -> dict[str, Any]:
    """Return the output of another process under other settings."""
    env = {**os.environ, **settings}
    done = subprocess.run(
        [sys.executable, "-P", __file__, folder], env=env, capture_output=True, text=True, check=True, timeout=300
    )
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the outputs as on a plain processor, as on a recent one, and on this one."""
    found = " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))  # type: ignore[call-overload]
    folder = str(tmp_path_factory.mktemp("models"))
    rows = {name: [None if one != one else one for one in values] for name, values in mixed().items()}
    Path(folder, "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    for name, model in models(rows):
        model.save(f"{folder}/{name}.tally")
    old = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": found}
    # glibc, too, has other logarithms for processors with fused operations
    plain = under(folder, TALLYBAYES_ISA="baseline", GLIBC_TUNABLES="glibc.cpu.hwcaps=-FMA,-AVX2", **old)
    best = _native.available()[-1]
    if best == "v3":
        usual = under(folder, TALLYBAYES_ISA="v3", OPENBLAS_CORETYPE="Haswell", NPY_DISABLE_CPU_FEATURES="")
        assert (plain["isa"], usual["isa"]) == ("baseline", "v3")
    else:
        usual = under(folder, TALLYBAYES_ISA=best)
    return [plain, usual, all_of_it(folder)]


def test_figures_are_the_same(told: list[dict[str, Any]]) -> None:
    first, *others = told
    for other in others:
        assert other["figures"].keys() == first["figures"].keys()
        for name, wanted in first["figures"].items():
            assert other["figures"][name] == pytest.approx(wanted, rel=1e-11, abs=1e-13), name


def test_every_event_model_is_among_them() -> None:
    assert set(ALIKE) == set(tb.events.registered())


@pytest.mark.parametrize("what", ["evidence", "loaded", "fitted"])
def test_the_bits_are_the_same(told: list[dict[str, Any]], what: str) -> None:
    """Evidence, and what a model file and a fit predict."""
    first, *others = (each[what] for each in told)
    for other in others:
        assert [name for name in first if other[name] != first[name]] == []


def test_what_is_not_finite_is_refused_alike(told: list[dict[str, Any]]) -> None:
    for each in told:
        assert each["refusals"] == told[0]["refusals"]
        assert all(said.startswith("ValueError: Input X contains") for said in each["refusals"]), each["refusals"]


def test_what_has_no_answer_has_none_everywhere(told: list[dict[str, Any]]) -> None:
    assert told[0]["unsmoothed"] == told[1]["unsmoothed"] == told[2]["unsmoothed"]


if __name__ == "__main__":
    print(json.dumps(all_of_it(sys.argv[1])))
