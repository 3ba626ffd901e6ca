"""Figures and refusals do not depend on the processor, whatever NumPy and BLAS use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import tallybayes as tb
from tallybayes.kernels import _native


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


def all_of_it() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {"figures": figures(), "refusals": refusals(), "unsmoothed": unsmoothed(), "isa": _native.isa()}


def under(**settings: str) -> dict[str, Any]:
    """Return the output of another process under other settings."""
    env = {**os.environ, **settings}
    done = subprocess.run(
        [sys.executable, "-P", __file__], env=env, capture_output=True, text=True, check=True, timeout=300
    )
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def told() -> list[dict[str, Any]]:
    """Return the outputs as on a plain processor, as on a recent one, and on this one."""
    found = " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))  # type: ignore[call-overload]
    plain = under(TALLYBAYES_ISA="baseline", OPENBLAS_CORETYPE="Prescott", NPY_DISABLE_CPU_FEATURES=found)
    best = _native.available()[-1]
    if best == "v3":
        usual = under(TALLYBAYES_ISA="v3", OPENBLAS_CORETYPE="Haswell", NPY_DISABLE_CPU_FEATURES="")
        assert (plain["isa"], usual["isa"]) == ("baseline", "v3")
    else:
        usual = under(TALLYBAYES_ISA=best)
    return [plain, usual, all_of_it()]


def test_figures_are_the_same(told: list[dict[str, Any]]) -> None:
    first, *others = told
    for other in others:
        assert other["figures"].keys() == first["figures"].keys()
        for name, wanted in first["figures"].items():
            assert other["figures"][name] == pytest.approx(wanted, rel=1e-11, abs=1e-13), name


def test_what_is_not_finite_is_refused_alike(told: list[dict[str, Any]]) -> None:
    for each in told:
        assert each["refusals"] == told[0]["refusals"]
        assert all(said.startswith("ValueError: Input X contains") for said in each["refusals"]), each["refusals"]


def test_what_has_no_answer_has_none_everywhere(told: list[dict[str, Any]]) -> None:
    assert told[0]["unsmoothed"] == told[1]["unsmoothed"] == told[2]["unsmoothed"]


if __name__ == "__main__":
    print(json.dumps(all_of_it()))
