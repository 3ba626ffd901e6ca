"""Row 8: medical diagnosis from symptoms: heart disease, with columns of all kinds and values that are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb

SICK, WELL = ">50_1", "<50"
PATIENT = {"age": 61, "sex": "male", "cp": "asympt", "thalach": 120, "exang": "yes", "oldpeak": 2.5}


@pytest.fixture(scope="module")
def hearts(data: Path) -> Path:
    """303 patients; a question mark is a value that was not taken down."""
    return data / "heart-cleveland" / "heart_cleveland.csv.gz"


def test_columns_of_all_kinds_are_learned_and_missing_values_skipped(hearts: Path) -> None:
    model = tb.fit(hearts, "label", missing_values=["?"])
    events = model.schema.events()
    assert {events[name] for name in ("age", "chol", "oldpeak", "ca")} == {"histogram"}
    assert {events[name] for name in ("sex", "cp", "thal", "exang")} == {"categorical"}
    thal, ca = model.table("thal"), model.table("ca")
    assert thal.counts is not None
    assert thal.counts.sum() == 303 - 2
    assert ca.counts is not None
    assert ca.counts.sum() == 303 - 5


def test_a_patient_of_whom_some_things_are_known_gets_a_probability(hearts: Path) -> None:
    model = tb.fit(hearts, "label", missing_values=["?"])
    assert model.classes == (WELL, SICK)
    sick = model.predict_proba([PATIENT])[0, 1]
    assert sick > 0.9
    assert model.predict([PATIENT]).tolist() == [SICK]
    # One finding less, and one that speaks against it: each moves the probability the way it should.
    assert model.predict_proba([{k: v for k, v in PATIENT.items() if k != "exang"}])[0, 1] < sick
    assert model.predict_proba([PATIENT | {"cp": "non_anginal"}])[0, 1] < sick
    assert model.predict_proba([PATIENT | {"thal": None}])[0, 1] == sick
    bounds = model.predict_interval([PATIENT])
    assert bounds.low[0, 1] < sick < bounds.high[0, 1]


def test_the_diagnosis_is_explained_finding_by_finding(hearts: Path) -> None:
    model = tb.fit(hearts, "label", missing_values=["?"])
    why = model.explain(PATIENT)
    assert why.of == SICK
    assert why.probability == pytest.approx(model.predict_proba([PATIENT])[0, 1])
    assert why.log_odds == pytest.approx(np.log(why.probability / (1 - why.probability)))
    said = {part.column: part for part in why.parts}
    assert all(said[name].term > 0 for name in PATIENT)  # each of them speaks for it
    assert said["cp"].counts == (39.0, 104.0)
    assert {name for name, part in said.items() if part.note == "missing"} == set(model.schema.columns) - set(PATIENT)
    against = {part.column: part.term for part in model.explain(PATIENT | {"cp": "non_anginal"}, of=SICK).parts}
    assert against["cp"] < 0


def test_the_table_of_a_symptom_says_how_much_more_often_the_sick_have_it(hearts: Path) -> None:
    pain = tb.fit(hearts, "label", missing_values=["?"], estimate="mle").table("cp")
    shares = dict(zip(pain.rows, pain.values, strict=True))
    assert pain.counts is not None
    assert dict(zip(pain.rows, pain.counts.tolist(), strict=True))["asympt"] == [39.0, 104.0]
    assert shares["asympt"].round(3).tolist() == [0.236, 0.754]  # 39/165, 104/138
    np.testing.assert_allclose(pain.values.sum(axis=0), 1.0)


def test_held_out_patients_are_classified_with_calibrated_probabilities(hearts: Path) -> None:
    seen = tb.validate(hearts, "label", "10-fold", missing_values=["?"]).evaluation
    assert seen.accuracy > 0.8
    assert seen.log_loss < 0.5


def test_patients_drawn_from_the_model_miss_what_real_ones_miss(hearts: Path) -> None:
    model = tb.fit(hearts, "label", missing_values=["?"])
    drawn = model.sample(20_000, missing=True)
    gone = {name: drawn.column(name).null_count for name in drawn.column_names}
    assert {name for name, count in gone.items() if count} == {"ca", "thal"}
    assert gone["ca"] / 20_000 == pytest.approx(5 / 303, abs=0.005)
