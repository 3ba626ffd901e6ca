"""The figures of a validation that the validated model keeps."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors

import tallybayes as tb
from tallybayes.errors import BadModelFile, BadOption
from tallybayes.evidence import container
from tallybayes.inference.validation_record import ValidationRecord
from tallybayes.storage.model_file import dump, parse_bytes


def some(n: int = 60, seed: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["ash", "elm"], n)
    leaf = np.where(rng.random(n) < 0.8, y, rng.choice(["ash", "elm", "oak"], n))
    return {"leaf": leaf.tolist(), "height": rng.normal(np.where(y == "elm", 20.0, 17.0), 3).tolist(), "y": y.tolist()}


ROWS = some()


def validated(**options: Any) -> tb.Model:
    model = tb.fit(ROWS, "y", **options)
    return model.with_validation(model.validate(ROWS, how="3-fold", seed=1))


@pytest.mark.parametrize("structure", ["naive", "tan", "joint", "aode", "auto"])
@pytest.mark.parametrize("how", ["loo", "2x3", "holdout"])
def test_a_model_keeps_the_figures_of_its_own_validation(how: str, structure: str) -> None:
    model = tb.fit(ROWS, "y", structure=structure)
    for found in (model.validate(ROWS, how=how), tb.validate(ROWS, "y", how, structure=structure)):
        kept = model.with_validation(found).validation
        assert kept == ValidationRecord(
            how, 0, 20 if how == "holdout" else 60, found.evaluation.accuracy, found.figures["log_loss"].overall
        )


def test_they_are_shown_as_text_and_in_a_notebook() -> None:
    model = validated()
    assert model.validation is not None
    said = f"accuracy {model.validation.accuracy:.4f} by 3-fold"
    assert said in repr(model)
    assert said in model._repr_html_()
    assert "accuracy" not in repr(tb.fit(ROWS, "y"))


def test_they_are_in_the_file_which_is_the_same_without_them(tmp_path: Path) -> None:
    model, plain = validated(), tb.fit(ROWS, "y")
    model.save(tmp_path / "seen.tally")
    assert tb.load(tmp_path / "seen.tally") == model != plain
    assert b"validation" not in dump(plain)
    assert dump(model.learn(ROWS)) == dump(plain.learn(ROWS))


def test_an_infinite_loss_is_kept() -> None:
    rows = {"x": list("pqpqpp"), "y": ["yes", "no", "no", "yes", "yes", "no"]}
    model = tb.fit(rows, "y", estimate="mle", calibrate=None)
    kept = model.with_validation(model.validate(rows, folds=[0, 0, 0, 1, 1, 1]))
    assert kept.validation is not None
    assert math.isinf(kept.validation.log_loss)
    assert parse_bytes(dump(kept)) == kept


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.learn(some(5, 1)),
        lambda model: model.forget({name: values[:5] for name, values in ROWS.items()}),
        lambda model: model + tb.fit(some(9, 2), "y"),
        lambda model: tb.fit(some(9, 2), "y") + model,
        lambda model: model.select(["leaf"]),
        lambda model: model.with_(estimate="mle"),
        lambda model: model.with_(calibrate=None),
        lambda model: learned(model, {"leaf": "oak", "height": 3.0, "y": "elm"}),
    ],
)
def test_a_change_of_the_model_drops_them(change: Callable[[tb.Model], tb.Model]) -> None:
    assert change(validated()).validation is None


def learned(model: tb.Model, row: dict[str, Any]) -> tb.Model:
    learner = tb.Learner.of(model)
    learner.learn(row)
    return learner.model()


def test_a_learner_of_numbers_drops_them_too() -> None:
    rows = {name: ROWS[name] for name in ("height", "y")}
    model = tb.fit(rows, "y", events="gaussian", calibrate=None)
    model = model.with_validation(model.validate(rows))
    assert tb.Learner.of(model).model().validation is not None
    assert learned(model, {"height": 3.0, "y": "elm"}).validation is None


def test_a_validation_of_another_model_is_refused() -> None:
    model = tb.fit(ROWS, "y")
    few = {name: values[:40] for name, values in ROWS.items()}
    with pytest.raises(BadOption, match="rows of the model, got one of others"):
        model.with_validation(model.validate(few))
    with pytest.raises(BadOption, match="choices of the model, got one with others"):
        model.with_validation(tb.validate(ROWS, "y", alpha=3.0))
    with pytest.raises(BadOption, match="what 'validate' returned"):
        model.with_validation(0.93)  # type: ignore[arg-type]
    grown = tb.fit(few, "y").learn({name: values[40:] for name, values in ROWS.items()})
    with pytest.raises(BadOption, match="Calibrate it first"):
        grown.with_validation(grown.validate(ROWS))
    fresh = grown.calibrate(ROWS)
    assert fresh.with_validation(fresh.validate(ROWS, how="3-fold", seed=1)) == validated()


@pytest.mark.parametrize(
    "change", [{"accuracy": 1.5}, {"rows": -1}, {"how": 3}, {"log_loss": "0"}, {"seed": True}, {"accuracy": None}]
)
def test_a_file_with_impossible_figures_is_refused(change: dict[str, Any]) -> None:
    content = dump(validated())
    header = {**container.header_of(content)}
    header["validation"] = {**header["validation"], **change}
    header.pop("checksum")
    with pytest.raises(BadModelFile):
        parse_bytes(container.pack(header, load_tensors(content)))
