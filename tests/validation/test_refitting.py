"""Every way of holding rows out equals refitting without them, for every event model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.events import Event
from tallybayes.evidence.evidence import Evidence
from tallybayes.validation import folds as folding
from tests.laws.rows import every_event, rows_for
from tests.laws.test_belief import refitted_without_each

from .refitted import fitted, refitted

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
each_rule = pytest.mark.parametrize("rule", ["mle", "map", "bayes"])

# Fixed smoothing and temperature; those chosen by leave-one-out are tested below.
PLAIN: dict[str, Any] = {"alpha": 1.0, "calibrate": None}
HOWS: dict[str, dict[str, Any]] = {
    "loo": {},
    "5-fold": {},
    "2x3": {},
    "holdout": {},
    "holdout(0.25)": {},
    "3xholdout": {},
    "prequential(19)": {},
    "loo, by group": {"groups": "group"},
    "3-fold, by group": {"groups": "group"},
    "holdout, by group": {"groups": "group"},
    "given": {"folds": "group"},
    "prequential(19), by order": {"order": "when"},
}


def table_for(event: Event, *, weighted: bool = False) -> pa.Table:
    """Return rows of four classes, one of them with a single row."""
    table = rows_for(event, 40, weighted=weighted, seed=5)
    labels = table.column("label").to_pylist()
    labels[-1] = "alone"
    return table.set_column(table.column_names.index("label"), "label", pa.array(labels))


def validated(table: pa.Table, event: Event, how: str, **options: Any) -> tb.Validation:
    """Validate with extra columns of groups and order."""
    rng = np.random.default_rng(1)
    beside = {"group": rng.integers(0, 6, len(table)), "when": rng.permutation(len(table))}
    chosen = {role: name for role, name in HOWS[how].items() if name}
    for name in chosen.values():
        table = table.append_column(name, pa.array(beside[name]))
    weights = "w" if "w" in table.column_names else None
    options = PLAIN | options
    return tb.validate(table, "label", how.split(",")[0], events=event, weights=weights, **chosen, **options)


@each_event
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_how_equals_refitting(event: Event, how: str, weighted: bool) -> None:
    table = table_for(event, weighted=weighted)
    seen = validated(table, event, how)
    if how == "loo":  # a histogram keeps its cells and weights, as tests/laws has it
        wanted = refitted_without_each(table, fitted(table, event), event)
    else:
        wanted = refitted(table, seen, event, before=how.startswith("prequential"))
    np.testing.assert_allclose(seen.scores, wanted, rtol=1e-9, atol=1e-9)


@each_event
@each_rule
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_every_rule_equals_refitting(event: Event, rule: str, alpha: float) -> None:
    table = table_for(event)
    seen = tb.validate(table, "label", "4-fold", events=event, estimate=rule, alpha=alpha, calibrate=None)
    wanted = refitted(table, seen, event, estimate=rule, alpha=alpha)
    np.testing.assert_allclose(seen.scores, wanted, rtol=1e-9, atol=1e-9)


@each_event
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_evidence_of_the_other_folds_is_theirs_to_the_bit(
    event: Event, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_for(event, weighted=weighted)
    used: list[Evidence] = []
    plain = folding.Folds.model

    def noted(self: folding.Folds, k: int, evidence: Evidence) -> tb.Model | None:
        used.append(evidence)
        return plain(self, k, evidence)

    monkeypatch.setattr(folding.Folds, "model", noted)
    for before, how in ((False, "5-fold"), (True, "prequential(19)")):
        used.clear()
        seen = validated(table, event, how) if how in HOWS else None
        assert seen is not None
        for k, evidence in enumerate(used):
            others = table.filter(pa.array(seen.folds < k if before else seen.folds != k))
            if len(others):
                assert evidence == fitted(others, event).evidence


@each_event
def test_few_sums_at_a_time_give_the_same(event: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_for(event)
    plain = [tb.validate(table, "label", how, events=event) for how in ("5-fold", "prequential(19)")]
    monkeypatch.setattr(folding, "_MOST_CELLS", 1)
    for one in plain:
        again = tb.validate(table, "label", one.how, events=event)
        np.testing.assert_array_equal(again.scores, one.scores)


def test_columns_of_several_kinds_equal_refitting() -> None:
    rng = np.random.default_rng(2)
    n = 60
    table = pa.table(
        {
            "age": pa.array(rng.normal(40, 10, n), mask=rng.random(n) < 0.1),
            "town": pa.array(rng.choice(["Ulm", "Bonn", "Kiel"], n)),
            "said": [" ".join(rng.choice(["buy", "now", "see", "you", "at", "lunch"], 5)) for _ in range(n)],
            "label": rng.choice(["a", "b"], n),
        }
    )
    events = {"age": "gaussian", "said": "text"}
    for how in ("loo", "10-fold", "holdout", "prequential"):
        seen = tb.validate(table, "label", how, events=events, **PLAIN)
        wanted = refitted(table, seen, events, before=how == "prequential")
        np.testing.assert_allclose(seen.scores, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("prior", ["uniform", {"a": 0.2, "b": 0.5, "c": 0.3}, [0.2, 0.5, 0.3]])
def test_a_given_prior_holds_for_a_class_unseen_in_training(prior: Any) -> None:
    rows = {"x": [1.0, 2.0, 4.0, 5.0, 9.0], "label": ["a", "a", "b", "b", "c"]}
    options: dict[str, Any] = {"prior": prior, "events": "gaussian", "calibrate": None}
    for how in ("loo", "5-fold"):
        seen = tb.validate(rows, "label", how, **options)
        assert np.isneginf(seen.scores[4, 2])
        assert np.isfinite(seen.scores[4, :2]).all()
        np.testing.assert_allclose(seen.probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        tb.validate(rows, "label", "5-fold", **options).probabilities,
        tb.validate(rows, "label", "loo", **options).probabilities,
        rtol=1e-9,
    )


@each_event
@pytest.mark.parametrize("how", ["5-fold", "holdout", "prequential(19)"])
def test_smoothing_and_temperature_are_chosen_by_the_other_folds_alone(event: Event, how: str) -> None:
    table = table_for(event)
    options: dict[str, Any] = {"alpha": "loo", "calibrate": "loo"}
    seen = validated(table, event, how, **options) if how in HOWS else None
    assert seen is not None
    for k in range(seen.folds.max() + 1):
        others = table.filter(pa.array(seen.folds < k if how.startswith("preq") else seen.folds != k))
        if not len(others):
            continue
        model = fitted(others, event, **options)
        here = np.flatnonzero(seen.folds == k)
        place = [seen.classes.index(c) for c in model.classes]
        wanted = model.predict_proba(table.take(pa.array(here)))
        np.testing.assert_allclose(seen.probabilities[np.ix_(here, place)], wanted, rtol=1e-8, atol=1e-9)


def test_leave_one_out_takes_smoothing_and_temperature_from_all_rows() -> None:
    table = rows_for(every_event()[0], 60)
    seen = tb.validate(table, "label", "loo")
    model = tb.fit(table, "label")
    assert seen.calibrated is not None
    np.testing.assert_array_equal(seen.scores, model.leave_one_out(table))
    np.testing.assert_array_equal(seen.probabilities, tb.fit(table, "label").validate(table, how="loo").probabilities)
