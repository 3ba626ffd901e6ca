"""Files, sums, predictions and figures are as recorded, unless a change is intended.

Where a change of results is meant, ``python -m tests.golden.make`` records them anew.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import tallybayes as tb

from .cases import CASES, Case
from .recorded import (
    FILES,
    GOLDEN,
    HOW,
    OLDER,
    SAVED,
    SEED,
    bare,
    calibration_told,
    classes_told,
    differences,
    evidence_digest,
    file_digest,
    fitted,
    scores_told,
    sums_told,
    validated,
    validation_told,
)

# What NumPy made of our seed when the folds were recorded. It does not promise that to future versions.
SHUFFLED = [8, 0, 7, 1, 3, 6, 2, 4, 5, 9]


@cache
def case_of(name: str) -> Case:
    return CASES[name]()


@cache
def model_of(name: str) -> tb.Model:
    return fitted(case_of(name))


@cache
def golden() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


@cache
def older() -> dict[str, Any]:
    return json.loads(OLDER.read_text(encoding="utf-8"))


def assert_alike(got: Any, wanted: Any) -> None:
    found = list(differences(got, wanted))
    assert not found, "\n".join(found[:10])


every_case = pytest.mark.parametrize("name", CASES)
every_exact_case = pytest.mark.parametrize("name", [name for name in CASES if case_of(name).exact])


def test_every_case_is_recorded_and_nothing_else() -> None:
    assert sorted(golden()) == sorted(CASES)
    assert sorted(path.name for path in FILES.iterdir()) == sorted(f"{name}.tally" for name in SAVED)


@every_exact_case
def test_the_model_file_is_the_same_to_the_byte(name: str, tmp_path) -> None:
    assert file_digest(bare(case_of(name)), tmp_path) == golden()[name]["file"]


@every_exact_case
def test_the_evidence_is_the_same_to_the_bit(name: str) -> None:
    assert evidence_digest(model_of(name)) == golden()[name]["evidence"]


@pytest.mark.parametrize("name", [name for name in CASES if not case_of(name).exact])
def test_sums_of_logarithms_are_the_same_but_for_rounding(name: str) -> None:
    assert_alike(sums_told(model_of(name)), golden()[name]["sums"])


@every_case
def test_smoothing_and_temperature_chosen_are_the_same(name: str) -> None:
    assert_alike(calibration_told(model_of(name)), golden()[name]["calibration"])


@every_case
def test_classes_and_scores_and_probabilities_are_the_same(name: str) -> None:
    assert classes_told(model_of(name).classes) == golden()[name]["classes"]
    assert_alike(scores_told(model_of(name), case_of(name)), golden()[name]["scores"])


@every_case
@pytest.mark.parametrize("how", HOW)
def test_the_validation_says_the_same(name: str, how: str) -> None:
    if how != "loo" and np.random.default_rng([SEED, 0]).permutation(10).tolist() != SHUFFLED:
        pytest.skip("this version of NumPy shuffles otherwise: other rows are in the folds")
    assert_alike(validation_told(validated(case_of(name), how)), golden()[name]["validation"][how])


@pytest.mark.parametrize("name", SAVED)
def test_a_file_written_before_loads_after(name: str) -> None:
    model, wanted = tb.load(FILES / f"{name}.tally"), older()[name]
    assert evidence_digest(model) == wanted["evidence"]
    assert replace(model.choices, alpha=1.0) == replace(model_of(name).choices, alpha=1.0)
    assert_alike(calibration_told(model), wanted["calibration"])
    assert_alike(scores_told(model, case_of(name)), wanted["scores"])


@pytest.mark.parametrize("name", SAVED)
def test_a_file_written_before_and_saved_again_is_the_same_model(name: str, tmp_path) -> None:
    before = tb.load(FILES / f"{name}.tally")
    before.save(tmp_path / "again.tally")
    after = tb.load(tmp_path / "again.tally")
    assert after == before
    assert after.schema == before.schema


def test_a_difference_is_reported_unless_it_is_rounding() -> None:
    assert not list(differences({"a": ["1.5 -inf nan"]}, {"a": ["1.50000000001 -inf nan"]}))
    for got in ({"a": ["1.5001 -inf nan"]}, {"a": ["1.5 inf nan"]}, {"a": ["1.5 -inf"]}, {"a": []}, {"b": []}, None):
        assert list(differences(got, {"a": ["1.5 -inf nan"]}))
    assert list(differences({"rows": 3}, {"rows": 4}))
