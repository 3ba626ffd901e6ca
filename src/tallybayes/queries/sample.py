"""Rows drawn from a fitted model: first a class, then each column by what is believed of it given the class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.categories import Categories
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.inference.posterior import normalise
from tallybayes.model import Model

__all__ = ["sample"]


def sample(
    model: Model, n: int, given: Any | Mapping[str, Any] = None, *, missing: bool = False, seed: int = 0
) -> pa.Table:
    """Rows drawn from what a model believes; `Model.sample` says how.

    Notes
    -----
    Each class in turn is drawn from at once, block by block, and the rows are then put in the order of the classes
    drawn: the cost is that of the numbers drawn. Values held fixed take nothing from the others, since given the class
    columns are independent, and so are the faces of a die whose number of rolls is Poisson distributed.
    """
    for name, value in (("n", n), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise BadOption(wanted(f"sample {name}", "a whole number not below 0", repr(value)))
    rng = np.random.default_rng(int(seed))
    fixed = dict(given) if isinstance(given, Mapping) else {} if given is None else {model.schema.label: given}
    codes = _classes(model, int(n), fixed, rng)
    columns = _features(model, codes, rng, missing=missing)
    for name, value in fixed.items():
        if name != model.schema.label:
            columns[name] = _repeated(columns[name], value, name)
    columns[model.schema.label] = model.evidence.classes.array.take(pa.array(codes))
    names = [*model.schema.columns, model.schema.label]
    texts = {name for block in model.schema.blocks if block.event.input == "text" for name in block.columns}
    # Texts are marked, so that they are read as texts however few words they have.
    fields = [(sources.prose_field if name in texts else pa.field)(name, columns[name].type) for name in names]
    return pa.table([columns[name] for name in names], schema=pa.schema(fields))


def _classes(model: Model, n: int, fixed: Mapping[str, Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The class of each row: given, or drawn by its probability given the values that are."""
    label, classes = model.schema.label, model.evidence.classes
    for name in fixed:
        if name != label and name not in model.schema.columns:
            known = [*model.schema.columns[:50], label]
            raise BadOption(wanted("sample given", "columns of the model", repr(name), did_you_mean(str(name), known)))
    if label in fixed:
        return np.full(n, _place(classes, fixed[label]), np.int64)
    belief = model.log_joint([dict(fixed)]) if fixed else model.belief.log_prior[None, :].copy()
    normalise(belief, model.belief.log_prior)
    return rng.choice(len(classes), n, p=belief[0] / belief[0].sum())


def _place(classes: Categories, given: Any) -> int:
    try:
        return classes.positions[given]
    except (KeyError, TypeError):
        do = did_you_mean(str(given), map(str, classes.values))
        raise BadOption(wanted("sample given", f"a class ({classes.kind})", repr(given), do)) from None


def _features(
    model: Model, codes: npt.NDArray[np.int64], rng: np.random.Generator, *, missing: bool
) -> dict[str, pa.Array]:
    """Every column, in the order of the classes of the rows."""
    order = np.argsort(codes, kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    sizes = np.bincount(codes, minlength=len(model.classes))
    columns: dict[str, pa.Array] = {}
    for block, likelihood in zip(model.schema.blocks, model.belief.likelihoods, strict=True):
        some = np.flatnonzero(sizes) if len(codes) else np.zeros(1, np.int64)  # of no rows, the types of the first
        parts = [likelihood.sample(int(c), int(sizes[c]), rng) for c in some]
        rates = likelihood.missing() if missing else None
        for f, name in enumerate(block.columns):
            values = pa.concat_arrays([pa.array(part[f]) for part in parts]).take(pa.array(back))
            if rates is not None and rates[:, f].any():
                gone = pa.array(rng.random(len(values)) < rates[codes, f])
                values = pc.if_else(gone, pa.scalar(None, values.type), values)
            columns[name] = values
    return columns


def _repeated(drawn: pa.Array, value: Any, name: str) -> pa.Array:
    """A value held fixed, as many times as there are rows, in the type of what was drawn."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        return pa.repeat(pa.scalar(value, None if pa.types.is_null(drawn.type) else drawn.type), len(drawn))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        got = f"{value!r} ({type(value).__name__})"
        raise BadData(wanted(f"sample given, column {name!r}", f"a value of type {drawn.type}", got)) from None
