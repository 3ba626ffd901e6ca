"""The record of each case, and the comparison of records.

Sums are exact, so they and the file they are saved in are recorded as a SHA-256. Scores and probabilities are computed
with logarithms, which differ in their last bits from one processor to another: they are recorded to twelve digits, and
compared with a tolerance.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.buckets import Buckets

from .cases import Case

HERE = Path(__file__).parent
GOLDEN = HERE / "golden.json"
# What version 0.1 answered with the models in `files`, which it wrote.
OLDER = HERE / "files.json"
FILES = HERE / "files"
# The cases of which the folder `files` has the model, as it was written when the case was first recorded.
SAVED = (
    "weather",
    "measures",
    "mixed",
    "gaps_as_values",
    "weighted",
    "waits",
    "pixels",
    "sparse",
    "text",
    "text_bernoulli",
    "text_and_numbers",
    "dates",
)
SEED = 7
HOW = ("5-fold", "loo")
FIGURES = ("accuracy", "log_loss", "brier", "ece", "mcc", "kappa")
CLOSE = {"rel": 1e-9, "abs": 1e-12, "nan_ok": True}
_ROWS = 8
_TIED = 1e-9


def fitted(case: Case) -> tb.Model:
    """Return the model of a case, with the case's options."""
    return tb.fit(case.rows, case.label, **case.options)


def bare(case: Case) -> tb.Model:
    """Return the model of a case whose file has only exact sums and given options.

    A temperature, or a smoothing chosen by rows left out, is the result of a search in floating point and stands in
    the file with all its digits. So nothing is calibrated here, and where a smoothing would be searched for it is 0.5.
    """
    model = tb.fit(case.rows, case.label, **(case.options | {"calibrate": None}))
    if model.calibration is None:
        return model
    return tb.fit(case.rows, case.label, **(case.options | {"calibrate": None, "alpha": 0.5}))


def file_digest(model: tb.Model, folder: Path) -> str:
    """Return the SHA-256 of a model's file.

    The file tells its format (1), not the version of the program: a new version alone does not change it. Its frame is
    written by safetensors, which could change that; the evidence is then the same, and only the file is to be recorded
    anew.
    """
    path = folder / "model.tally"
    model.save(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def evidence_digest(model: tb.Model) -> str:
    """Return the SHA-256 of a model's counts, whatever the layout of its file."""
    return hashlib.sha256(json.dumps(evidence_told(model), ensure_ascii=True).encode()).hexdigest()


def evidence_told(model: tb.Model) -> list[Any]:
    """Return all counts of a model as plain lists, text and fractions.

    The only place here that knows how sums are kept: where something inside is renamed, this function is the one to
    change.
    """

    def told(sums: Any) -> list[Any]:
        limbs = sums.limbs  # of the whole array, zeros included: (..., L)
        unit = Fraction(2) ** (32 * sums.base)
        flat = limbs.reshape(-1, limbs.shape[-1]).tolist()
        return [list(sums.shape), [str(sum(digit << (32 * k) for k, digit in enumerate(n)) * unit) for n in flat]]

    def labels_told(labels: Any) -> list[Any]:
        if isinstance(labels, Buckets):
            return ["buckets", labels.shift, labels.keys.tolist()]
        return [labels.kind, [repr(value) for value in labels.values]]

    evidence = model.evidence
    schema = evidence.schema
    blocks = [
        [
            block.event.spec,
            list(block.columns),
            [labels_told(labels) for labels in statistic.labels],
            [[name, told(statistic.sums[name])] for name in sorted(statistic.sums)],
        ]
        for block, statistic in zip(schema.blocks, evidence.statistics, strict=True)
    ]
    names = [schema.label, schema.weight, schema.missing, list(schema.columns)]
    return [names, labels_told(evidence.classes), told(evidence.rows), blocks]


def sums_told(model: tb.Model) -> list[str]:
    """Return the rounded sums of each block, for a case that is not exact."""
    _, _, _, blocks = evidence_told(model)
    return [
        f"{name} {numbers(float(Fraction(value)) for value in values)}"
        for _, _, _, sums in blocks
        for name, (_, values) in sums
    ]


def scores_told(model: tb.Model, case: Case) -> dict[str, Any]:
    """Return a model's predictions for its training rows and for new rows."""
    by_name = isinstance(case.label, str)
    label = {} if by_name else {"label": case.label, "weights": case.options.get("weights")}
    between = model.predict_interval(case.rows)
    return {
        "predict": classes_told(model.predict(case.rows)),
        "predict_proba": array_told(model.predict_proba(case.rows)),
        "log_joint": array_told(model.log_joint(case.rows)),
        "leave_one_out": array_told(model.leave_one_out(case.rows, **label)),
        "interval_low": array_told(between.low),
        "interval_high": array_told(between.high),
        "fresh_predict": classes_told(model.predict(case.fresh)),
        "fresh_predict_proba": array_told(model.predict_proba(case.fresh)),
        "fresh_log_joint": array_told(model.log_joint(case.fresh)),
    }


def calibration_told(model: tb.Model) -> dict[str, Any] | None:
    """Return the choices made by leave-one-out; None if there are none."""
    calibration = model.calibration
    if calibration is None:
        return None
    told, weights = calibration.to_dict(), calibration.weights
    temperature = told["temper"]
    if temperature is not None:
        cells = temperature.pop("cells", [])
        temperature = numbers([*temperature.values(), *cells])
    return {
        **({} if weights is None else {"weights": weights_told(weights)}),
        "alphas": {name: numbers([alpha]) for name, alpha in told["alphas"].items()},
        "temper": temperature,
        "rows": told["rows"],
        "unscored": told["unscored"],
        "losses": numbers([math.nan if told[name] is None else told[name] for name in ("before", "after")]),
        "tried": [f"{t['columns']} {numbers([t['alpha'], t['log_loss'], t['error']])}" for t in told["tried"]],
        "stale": told["stale"],
    }


def weights_told(weights: Any) -> dict[str, str]:
    """Return the weight of each column with the sums of its corrections, and the bias of each class."""
    columns = {
        name: numbers([one.weight, *one.table.sum(axis=0), *one.missing]) for name, one in weights.columns.items()
    }
    return {"bias": numbers(weights.bias), **columns}


def validated(case: Case, how: str) -> tb.Validation:
    """Return the validation of a case."""
    return tb.validate(case.rows, case.label, how, seed=SEED, **case.options)


def validation_told(seen: tb.Validation) -> dict[str, Any]:
    """Return the figures of a validation, and the probabilities behind them."""
    return {
        "figures": {name: numbers(seen.figures[name]) for name in FIGURES},
        "auc": "tied" if has_ties(seen) else numbers(seen.figures["auc"]),
        "confusion": [numbers(row) for row in seen.evaluation.confusion.matrix],
        "probabilities": array_told(seen.probabilities),
        "scores": array_told(seen.scores),
        "folds": hashlib.sha256(json.dumps(seen.folds.tolist()).encode()).hexdigest(),
        "notes": list(seen.notes),
    }


def has_ties(seen: tb.Validation) -> bool:
    """Return whether a class is practically equally probable for two rows.

    Then rounding decides which of them comes first, and the AUC jumps.
    """
    return bool(np.diff(np.sort(seen.probabilities, axis=0), axis=0).min() < _TIED)


def record(case: Case, folder: Path) -> dict[str, Any]:
    """Return the whole record of a case."""
    model = fitted(case)
    told: dict[str, Any] = {
        "classes": classes_told(model.classes),
        "calibration": calibration_told(model),
        "scores": scores_told(model, case),
        "validation": {how: validation_told(validated(case, how)) for how in HOW},
    }
    if case.exact:
        return told | {"file": file_digest(bare(case), folder), "evidence": evidence_digest(model)}
    return told | {"sums": sums_told(model)}


def classes_told(classes: Any) -> str:
    """Return classes as one line of text."""
    return " ".join(map(str, np.asarray(classes).tolist()))


def array_told(array: Any) -> dict[str, Any]:
    """Return the first rows of an array (n, C), and sums over all rows.

    Of the sums one is plain, and one weighs each row by its place: so no row can change, or move, unseen.
    """
    finite = np.where(np.isfinite(array), array, 0.0)
    return {
        "rows": len(array),
        "first": [numbers(row) for row in array[:_ROWS]],
        "sums": numbers(math.fsum(column) for column in finite.T),
        "by_place": numbers(math.fsum(x * (i + 1) for i, x in enumerate(column)) for column in finite.T),
        "not_finite": int(array.size - np.isfinite(array).sum()),
    }


def numbers(values: Any) -> str:
    """Return numbers in one line, to twelve digits."""
    return " ".join(f"{float(value):.12g}" for value in values)


def differences(got: Any, wanted: Any, where: str = "") -> Iterator[str]:
    """Return where two records differ by more than rounding.

    Numbers in text are compared with a tolerance, everything else has to be equal.
    """
    if isinstance(got, dict) and isinstance(wanted, dict) and got.keys() == wanted.keys():
        for name in sorted(wanted):
            yield from differences(got[name], wanted[name], f"{where}/{name}")
    elif isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):
        for k, (mine, theirs) in enumerate(zip(got, wanted, strict=True)):
            yield from differences(mine, theirs, f"{where}[{k}]")
    elif isinstance(got, str) and isinstance(wanted, str):
        mine, theirs = got.split(" "), wanted.split(" ")
        if len(mine) != len(theirs) or not all(map(_alike, mine, theirs)):
            yield f"{where}: wanted {wanted}, got {got}"
    elif got != wanted:
        yield f"{where}: wanted {wanted!r}, got {got!r}"


def _alike(got: str, wanted: str) -> bool:
    """Return whether two words are equal, or numbers that differ only by rounding."""
    if got == wanted:
        return True
    try:
        return float(got) == pytest.approx(float(wanted), **CLOSE)
    except ValueError:
        return False
