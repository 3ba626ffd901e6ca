"""Rows sampled from a fitted model: first a class, then each column given the class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.arguments import instance, whole_number
from tallybayes.categories import Categories
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.inference.posterior import normalise
from tallybayes.model import Model
from tallybayes.queries.joint_distribution import JointDistribution, joint_distribution
from tallybayes.sources.reading import Unreadable


def sample(
    model: Model, n: int, given: Any | Mapping[str, Any] = None, *, missing: bool = False, seed: int = 0
) -> pa.Table:
    """Sample rows from a model: see `Model.sample`.

    Notes
    -----
    All rows of a class are sampled at once, block by block, and then put in the order of the sampled classes: the cost
    is that of the random numbers. Fixed values do not change columns that are independent of them given the class. So
    are the counts of a bag whose total is Poisson distributed. Columns that a tree, a joint table or all pairs join are
    sampled from a root outwards, given the fixed values. Pairs that only calibration weighs are no part of the joint
    distribution: columns are sampled as if there were none.
    """
    n, seed = whole_number("sample n", n), whole_number("sample seed", seed)
    instance("sample missing", missing, bool, "True or False")
    rng = np.random.default_rng(seed)
    fixed = dict(given) if isinstance(given, Mapping) else {} if given is None else {model.schema.label: given}
    joint = joint_distribution(model)
    fixed = _as_read(model, fixed)
    _check_names(model, fixed)
    held = {} if joint is None else _held(model, joint, fixed)
    codes = _classes(model, n, fixed, joint, held, rng)
    columns = _features(model, codes, rng, joint, held, missing=missing)
    for name, value in fixed.items():
        if name != model.schema.label:
            columns[name] = _repeated(columns[name], value, name)
    columns[model.schema.label] = model.evidence.classes.array.take(pa.array(codes))
    names = [*model.schema.columns, model.schema.label]
    texts = set(model.schema.texts)
    # Texts are marked, so that they are read as text even if they have few words.
    fields = [(sources.prose_field if name in texts else pa.field)(name, columns[name].type) for name in names]
    return pa.table([columns[name] for name in names], schema=pa.schema(fields))


def _as_read(model: Model, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fixed values as the model reads them: a date as its parts, a time as seconds."""
    found: dict[str, Any] = {}
    for name, value in fixed.items():
        reading = model.schema.readings.get(name)
        if reading is None:
            found[name] = value
            continue
        try:
            columns = reading.apply(pa.array([value]), model.schema.reader.missing)
        except (Unreadable, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            want = f"{reading.one_value}, as in the training data"
            raise BadOption(wanted(f"sample given, column {name!r}", want, repr(value))) from None
        found |= {part: column[0].as_py() for part, column in zip(reading.columns(name), columns, strict=True)}
    return found


def _check_names(model: Model, fixed: Mapping[str, Any]) -> None:
    label = model.schema.label
    for name in fixed:
        if name != label and name not in model.schema.columns:
            do = did_you_mean(str(name), [*model.schema.columns[:50], label])
            raise BadOption(wanted("sample given", "columns of the model", repr(name), do))


def _held(model: Model, joint: JointDistribution, fixed: Mapping[str, Any]) -> dict[str, Floats]:
    """Return what fixed values say of the slots of their columns, where these are joined to others."""
    prior, held = model.belief.log_prior, {}
    for name, value in fixed.items():
        if name in joint.parts and value is not None:
            held[name] = joint.at(name, model.log_joint([{name: value}])[0] - prior, value)
    return held


def _classes(
    model: Model,
    n: int,
    fixed: Mapping[str, Any],
    joint: JointDistribution | None,
    held: Mapping[str, Floats],
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Return the class of each row: fixed, or sampled given the fixed values."""
    label, classes = model.schema.label, model.evidence.classes
    if label in fixed:
        return np.full(n, _place(classes, fixed[label]), np.int64)
    alone = {name: value for name, value in fixed.items() if name not in held}
    posterior = model.log_joint([alone]) if alone else model.belief.log_prior[None, :].copy()
    if joint is not None and held:
        posterior += joint.log_probability(held)
    normalise(posterior, model.belief.log_prior)
    return rng.choice(len(classes), n, p=posterior[0] / posterior[0].sum())


def _place(classes: Categories, given: Any) -> int:
    try:
        return classes.positions[given]
    except (KeyError, TypeError, ValueError):  # a memoryview that can be written raises the last
        do = did_you_mean(str(given), map(str, classes.values))
        raise BadOption(wanted("sample given", f"a class ({classes.kind})", repr(given), do)) from None


def _features(
    model: Model,
    codes: npt.NDArray[np.int64],
    rng: np.random.Generator,
    joint: JointDistribution | None,
    held: Mapping[str, Floats],
    *,
    missing: bool,
) -> dict[str, pa.Array]:
    """Return every column, in the order of the rows' classes."""
    order = np.argsort(codes, kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    sizes = np.bincount(codes, minlength=len(model.classes))
    columns: dict[str, pa.Array] = {}
    some = np.flatnonzero(sizes) if len(codes) else np.zeros(1, np.int64)  # no rows: types of class 0
    slots = [] if joint is None else [joint.draw(int(c), int(sizes[c]), held, rng) for c in some]
    for b, (block, likelihood) in enumerate(zip(model.schema.blocks, model.belief.likelihoods, strict=True)):
        if block.event.product:
            continue
        parts = [likelihood.sample(int(c), int(sizes[c]), rng) for c in some]
        for c, part, mine in zip(some, parts, slots, strict=False):
            assert joint is not None
            drawn = joint.values(int(c), mine, b, rng)
            part[:] = [drawn.get(name, values) for name, values in zip(block.columns, part, strict=True)]
        rates = likelihood.missing() if missing else None
        for f, name in enumerate(block.columns):
            values = pa.concat_arrays([pa.array(part[f]) for part in parts]).take(pa.array(back))
            if rates is not None and rates[:, f].any():
                gone = pa.array(rng.random(len(values)) < rates[codes, f])
                values = pc.if_else(gone, pa.scalar(None, values.type), values)
            columns[name] = values
    return columns


def _repeated(drawn: pa.Array, value: Any, name: str) -> pa.Array:
    """Return a fixed value repeated for every row, in the type of the sampled values."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        return pa.repeat(pa.scalar(value, None if pa.types.is_null(drawn.type) else drawn.type), len(drawn))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        got = f"{value!r} ({type(value).__name__})"
        raise BadData(wanted(f"sample given, column {name!r}", f"a value of type {drawn.type}", got)) from None
