"""`validate`: performance on unseen rows, from one fit and arithmetic on its evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tallybayes import engines
from tallybayes.display.progress import span
from tallybayes.encoding import open_rows
from tallybayes.engines import Partitioned
from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Floats
from tallybayes.evidence.count import Count, count
from tallybayes.fitting import FitOptions, add_structure, check_classes, infer_rows, model_of
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import log_prior
from tallybayes.model import Model
from tallybayes.schema.schema import Schema
from tallybayes.sources import ReadOptions
from tallybayes.validation.folds import Folds
from tallybayes.validation.leave_one_out import leave_each_out
from tallybayes.validation.notes import remarks
from tallybayes.validation.plan import Plan, check_seed, parse
from tallybayes.validation.result import Validation, impossible_rows
from tallybayes.validation.row_info import Roles, RowInfo
from tallybayes.validation.split import IntCodes, assign, blocks

_COUNTED = 0.1  # share of the time that the first pass takes; folds are calibrated, which takes longer


def validate(
    source: Any,
    label: Any,
    how: str = "10-fold",
    *,
    seed: int = 0,
    groups: Any = None,
    folds: Any = None,
    order: Any = None,
    threads: int | None = None,
    weights: Any = None,
    **options: Any,
) -> Validation:
    """Measure how well naive Bayes predicts rows that it has not seen.

    Parameters
    ----------
    source : anything `fit` takes
        The rows. Files too large for memory are read again in each pass; a stream is kept. The rows of a Dask or a
        Spark collection are counted and scored by its workers.
    label : str or array_like
        The column that holds the class, or the classes themselves.
    how : str
        - ``"loo"``: each row by all others; with `groups`, each group by all others;
        - ``"10-fold"`` (or any number): each tenth by the other nine; ``"10x10"``: ten repeats with other folds;
        - ``"holdout"``: a third by the rest, ``"holdout(0.25)"`` a quarter; ``"10xholdout"``: ten times, other rows;
        - ``"prequential"``: in the order of the rows, each block by all before it; ``"prequential(500)"``: blocks
          of 500 rows (by default there are 20 blocks).
    seed : int
        Folds are drawn at random within each class; the same seed draws the same folds.
    groups : str or array_like, optional
        Rows of one group are either all held out or all trained on. A column named here is not a feature.
    folds : str or array_like, optional
        The fold of each row, instead of `how`.
    order : str or array_like, optional
        The values that a prequential validation sorts the rows by.
    threads : int, optional
        The number of threads that count and score; the result does not depend on it.
    weights, **options
        As in `fit`.

    Notes
    -----
    Only the model of all rows is fitted. Evidence adds, so the evidence of all rows but a fold's is exactly the total
    minus the fold's, and the scores are those of a model fitted on the other rows.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": list("ppppqqqq"), "y": ["no", "no", "no", "yes", "yes", "yes", "yes", "no"]}
    >>> seen = tb.validate(rows, "y", "loo", alpha=1, calibrate=None)
    >>> seen.probabilities[3].round(3)          # p: 4/6 of four no's, 1/5 of three yes's: 8/3 to 3/5
    array([0.816, 0.184])
    >>> seen.evaluation.accuracy
    0.75
    """
    beside = {"groups": groups, "folds": folds, "order": order}
    fit_options = FitOptions.of(options)
    learn = learner(fit_options)

    def read(types: open_rows.Types | None) -> open_rows.Labelled:
        return open_rows.labelled(source, label, weights, fit_options.reading, types, columns=fit_options.columns)

    return _validate(read, learn, how, seed, beside, threads, features=False)


class Learned(NamedTuple):
    """The model of all rows, and the info of each row."""

    model: Model
    info: RowInfo
    columns: Sequence[str]  # that were read


class Learn(Protocol):
    """A function that learns from all rows in one pass; `calibrated` if their own model is needed, too."""

    def __call__(self, rows: Partitioned, roles: Roles, threads: int, *, calibrated: bool) -> Learned:
        """Learn."""


def learner(options: FitOptions) -> Learn:
    """Return a function that learns with these options."""

    def learn(rows: Partitioned, roles: Roles, threads: int, *, calibrated: bool) -> Learned:
        schema = infer_rows(rows, roles.label, roles.weight, options.columns, options.choices, hidden=roles.hidden)
        learned = _learn(rows, roles, schema, options.choices, threads, calibrated=calibrated)
        check_classes(learned.model, options.columns)
        return learned

    return learn


def _learn(
    rows: Partitioned, roles: Roles, schema: Schema, choices: Choices, threads: int, *, calibrated: bool
) -> Learned:
    task = Count(schema, sampled=calibrated and choices.open(schema), keep=roles.columns)
    found = count(schema, rows, threads, sampled=task.sampled, keep=task.keep)
    found = add_structure(found, choices, rows, threads) if calibrated else found
    model = model_of(found, choices, rows.name, threads)
    return Learned(model, RowInfo.of(found.kept, roles, model.evidence.classes), task.columns)


def validate_model(
    model: Model,
    source: Any,
    label: Any = None,
    how: str = "10-fold",
    *,
    weights: Any = None,
    seed: int = 0,
    groups: Any = None,
    folds: Any = None,
    order: Any = None,
    threads: int | None = None,
) -> Validation:
    """Validate with a model's schema and choices on other rows; the model's own evidence is not used."""
    weights = model.schema.weight if weights is None and label is None else weights
    beside = {"groups": groups, "folds": folds, "order": order}

    def learn(rows: Partitioned, roles: Roles, threads: int, *, calibrated: bool) -> Learned:
        # Products are chosen again, by the rows of each training set: those of the model know the labels.
        own = tuple(block for block in model.schema.blocks if not block.event.product)
        schema = replace(model.schema, label=roles.label, weight=roles.weight, blocks=own)
        return _learn(rows, roles, schema, model.choices, threads, calibrated=calibrated)

    def read(types: open_rows.Types | None) -> open_rows.Labelled:
        named, reading = model.schema.label if label is None else label, ReadOptions(model.schema.missing_values)
        return open_rows.labelled(source, named, weights, reading, types, columns=model.schema)

    return _validate(read, learn, how, seed, beside, threads, features=True)


def _validate(
    read: Callable[[open_rows.Types | None], open_rows.Labelled],
    learn: Learn,
    how: str,
    seed: int,
    beside: dict[str, Any],
    threads: int | None,
    *,
    features: bool,
) -> Validation:
    given = {role: column for role, column in beside.items() if column is not None}
    plan = _plan(how, given)
    seed, workers = check_seed(seed), engines.default_threads(threads)

    def work(types: open_rows.Types | None) -> Validation:
        rows, name, weight = read(types)
        columns = {}
        for role, column in given.items():
            rows, columns[role] = open_rows.beside(rows, role, column)
        roles = Roles(name, weight, columns, features)
        roles.check(rows)
        rows = rows.buffered()
        alone = plan.kind == "loo" and "groups" not in given
        with span(0.0, _COUNTED):
            learned = learn(rows, roles, workers, calibrated=alone)
        with span(_COUNTED, 1.0):
            return (_leave_one_out if alone else _hold_out)(plan, rows, learned, seed, workers)

    return open_rows.reading(work)


def _plan(how: str, given: dict[str, Any]) -> Plan:
    plan = Plan("given folds", "given") if "folds" in given else parse(how)
    if "folds" in given and "groups" in given:
        raise BadOption(wanted("groups", "none beside folds", "both", "The folds already keep rows together"))
    if "order" in given and plan.kind != "prequential":
        raise BadOption(wanted("order", "how='prequential'", repr(how)))
    if "groups" in given and plan.kind == "prequential":
        raise BadOption(wanted("groups", "another how than 'prequential'", repr(how)))
    return plan


def _leave_one_out(plan: Plan, rows: Partitioned, learned: Learned, seed: int, threads: int) -> Validation:
    """Score each row by all others."""
    total, info, columns = learned
    _check_memory(total, len(info), 1)
    scores, calibrated = leave_each_out(total, rows, info, columns, threads)
    impossible_priors = _prior_without(total, info, np.flatnonzero(impossible_rows(scores)))
    after = None if calibrated is None else calibrated[None]
    return _result(plan, total, info, None, scores[None], after, impossible_priors, None, seed)


def _hold_out(plan: Plan, rows: Partitioned, learned: Learned, seed: int, threads: int) -> Validation:
    """Score each fold by the others, or by those before it."""
    total, info, columns = learned
    place, names = _places(plan, info, seed)
    K = int(place.max()) + 1
    _check_memory(total, len(info), len(place))
    scores = np.full((len(place), len(info), len(total.classes)), np.nan)
    priors = np.empty((len(place), K, len(total.classes)))
    calibrated = scores.copy() if total.choices.open(total.schema) else None
    folds = Folds(total, rows, info, columns, place, K, plan.kind == "prequential", threads)
    folds.score(scores, priors.reshape(-1, len(total.classes)), calibrated)
    impossible = impossible_rows(scores)
    impossible_priors = np.exp(priors[np.nonzero(impossible)[0], place[impossible]])
    return _result(plan, total, info, place, scores, calibrated, impossible_priors, names, seed)


def _check_memory(total: Model, rows: int, repeats: int) -> None:
    """Raise if the scores of all rows and classes would not fit into memory."""
    classes = len(total.classes)
    # Numbers for each row and class: scores before and after calibration, in parts and together, and probabilities and
    # their squares. And the table of mistakes.
    needed = 8 * (6 * repeats * rows * classes + classes**2)
    got = f"the scores of {repeats * rows:,} rows and {classes:,} classes"
    do = "Name a label with fewer classes, or validate some of the rows"
    engines.check_memory(needed, f"label {total.schema.label!r}", got, do)


def _places(plan: Plan, rows: RowInfo, seed: int) -> tuple[IntCodes, tuple[Any, ...] | None]:
    """Return the fold of each row for each repeat, and the names of the folds where they have any."""
    if plan.kind in ("given", "loo"):
        role = "folds" if plan.kind == "given" else "groups"
        place, names = rows.codes(role)
        if len(names) < 2:
            raise BadOption(wanted(role, "at least 2", f"1, {names.values[0]!r}"))
        return place[None], names.values
    if plan.kind == "prequential":
        return blocks(len(rows), plan.block, rows.order())[None], None
    groups = rows.codes("groups")[0] if "groups" in rows.others else None
    return assign(plan, rows.strata, groups, seed), None


def _prior_without(total: Model, rows: RowInfo, index: npt.NDArray[np.intp]) -> Floats:  # (m, C)
    """Return the class prior without each of some rows."""
    if not len(index):
        return np.empty((0, len(total.classes)))
    evidence, own = total.evidence, np.maximum(rows.classes[index], 0)
    weight = np.tile(evidence.rows.to_float(), (len(index), 1))
    taken = np.ones(len(own)) if rows.weights is None else rows.weights[index]
    weight[np.arange(len(own)), own] = evidence.rows.less((own,), taken)
    return np.exp(log_prior(weight, evidence.classes, total._resolved_choices.prior))


def _result(
    plan: Plan,
    total: Model,
    rows: RowInfo,
    place: IntCodes | None,
    scores: Floats,
    calibrated: Floats | None,
    impossible_priors: Floats,
    names: tuple[Any, ...] | None,
    seed: int,
) -> Validation:
    alone = place is None
    place = np.arange(len(rows), dtype=np.int32)[None] if place is None else place
    scored = ~np.isnan(scores[..., 0])
    unknown = _unknown(plan, rows, place, len(total.classes), alone=alone)
    unscored = int((~scored.any(axis=0)).sum())
    notes = remarks(plan, rows.found.values, rows.strata, unscored, unknown & scored, len(impossible_priors))
    if len(place) == 1:
        place, scores, unknown = place[0], scores[0], unknown[0]
        calibrated = None if calibrated is None else calibrated[0]
    classes, weights = total.evidence.classes, rows.weights
    return Validation(
        plan.how,
        seed,
        classes,
        rows.classes,
        scores,
        place,
        unknown,
        weights,
        notes,
        names,
        calibrated,
        impossible_priors,
        model=total,
    )


def _unknown(plan: Plan, rows: RowInfo, place: IntCodes, classes: int, *, alone: bool) -> npt.NDArray[np.bool_]:
    """Return the mask (R, n) of rows whose class has no weight in their training rows; `alone`: one row is a fold."""
    has_weight = rows.classes >= 0 if rows.weights is None else (rows.weights > 0) & (rows.classes >= 0)
    own = np.maximum(rows.classes, 0)
    everywhere = np.bincount(own[has_weight], minlength=classes)
    largest = 1 if alone else max(np.bincount(one[one >= 0]).max(initial=0) for one in place)
    if everywhere.min() > largest:
        return np.zeros(place.shape, bool)  # no fold is large enough to hold all rows of a class
    unknown = np.empty(place.shape, bool)
    for one, out in zip(place, unknown, strict=True):
        K = int(one.max()) + 1
        held = has_weight & (one >= 0)
        inside = np.bincount(one[held] * np.int64(classes) + own[held], minlength=K * classes).reshape(K, classes)
        left = np.cumsum(inside, axis=0) - inside if plan.kind == "prequential" else everywhere - inside
        out[:] = (left[np.maximum(one, 0), own] == 0) & (one >= 0) & (rows.classes >= 0)
    return unknown
