"""Model files: evidence as bytes (`evidence.serialize`), the choices and the calibration.

Equal models are equal bytes. Nothing in the file can run, and its content is rebuilt through the same checks as fresh
counts and choices.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tallybayes.categories import Categories
from tallybayes.errors import BadModelFile, BadOption, wanted
from tallybayes.events.text.text import Text
from tallybayes.events.text.token_cells import TokenWeights, n_cells
from tallybayes.evidence import container, deserialize, serialize
from tallybayes.evidence.container import FORMAT, require, text
from tallybayes.inference.calibration import Calibration, Tried
from tallybayes.inference.choices import Alpha, Choices
from tallybayes.inference.estimate import log_prior
from tallybayes.inference.posterior import Temperature, Tempering
from tallybayes.inference.text_view import TextView, views
from tallybayes.inference.validation_record import ValidationRecord
from tallybayes.kernels.text import Tokenizer
from tallybayes.model import Model
from tallybayes.schema.schema import Schema
from tallybayes.storage import atomic_write, column_weights

__all__ = ["FORMAT", "dump", "dump_calibration", "load", "parse_bytes", "save", "with_calibration", "with_tokenizer"]

# Version 0.1 wrote "auto" where 1 was meant for all but text.
_AUTO = "automatic"


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, atomically, if it can be read back."""
    where = f"model file {str(atomic_write.local_path(path, 'model file'))!r}"
    content = dump(model)
    _read_back(content, model, where)
    atomic_write.write(content, path, "model file")


def load(path: str | os.PathLike[str], *, tokenizer: Tokenizer | Mapping[str, Tokenizer] | None = None) -> Model:
    """Read a model that `Model.save` wrote.

    Parameters
    ----------
    path : str or path
        The file.
    tokenizer : callable, or mapping of str to callable, optional
        The function that split the model's texts into words, if it was fitted with one (or one for each column). A
        file holds no code: without the function, the model can be inspected and merged but cannot read new texts.

    Examples
    --------
    >>> import tallybayes as tb, tempfile, os
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "m.tally"))
    ...     tb.load(os.path.join(folder, "m.tally")) == model
    True
    """
    try:
        source = atomic_write.local_path(path, "model file")
    except BadOption as error:
        raise BadModelFile(str(error)) from None
    try:
        content = source.read_bytes()
    except FileNotFoundError:
        raise BadModelFile(f"model file {str(source)!r}: no such file.") from None
    except OSError as error:
        raise BadModelFile(wanted(f"model file {str(source)!r}", "a file", str(error.strerror))) from None
    model = parse_bytes(content, f"model file {str(source)!r}")
    return model if tokenizer is None else with_tokenizer(model, tokenizer)


def with_tokenizer(model: Model, tokenizer: Tokenizer | Mapping[str, Tokenizer]) -> Model:
    """Return a loaded model with its tokenizer, which the file holds only by name."""
    schema = model.schema.with_tokenizer(tokenizer, named=True)
    return replace(model, evidence=replace(model.evidence, schema=schema))


def dump(model: Model) -> bytes:
    """Return the bytes of the file."""
    tensors: container.Tensors = {}
    header = serialize.put(model.evidence, tensors)
    header["choices"] = _put_choices(model)
    header["calibration"] = None if model.calibration is None else _put_calibration(model.calibration, tensors)
    if model.validation is not None:  # absent otherwise, as in files of older versions
        header["validation"] = model.validation.to_dict()
    return container.pack(header, tensors)


def _read_back(content: bytes, model: Model, where: str) -> None:
    """Raise if `load` would refuse the header; arrays hold whatever numbers they are given, and are not read."""
    try:
        header = container.header_of(content)
        events = [deserialize.get_event(block).spec for block in header["blocks"]]
        require(events == [block.event.spec for block in model.schema.blocks], "event models")
        require(_get_choices(header["choices"], model.evidence.classes) == model.choices, "choices")
        given = None if model.calibration is None else replace(model.calibration, weights=None)  # arrays are not read
        require(_get_calibration(header["calibration"], None) == given, "calibration")
        require(_get_validation(header) == model.validation, "validation")
    except container.BROKEN as error:
        raise BadModelFile(wanted(where, "a model that can be read back", f"another ({error})")) from None


def parse_bytes(content: bytes, where: str = "model file") -> Model:
    """Return the model in the bytes of a file."""
    header, tensors = container.unpack(content, where)
    if header.get("kind") == "mail":
        raise BadModelFile(wanted(where, "a model of rows", "a mail filter", "Use it with 'tally mail'"))
    try:
        evidence = deserialize.Reader(header, tensors).evidence()
        older = header["choices"]["alpha"] == "auto"
        choices = _get_choices(header["choices"], evidence.classes)
        choices = _as_in_0_1(choices, evidence.schema) if older else choices
        choices.check(evidence.schema)
        _ = log_prior(np.ones(len(evidence.classes)), evidence.classes, choices.prior)  # refuses any that is none
        calibration = _get_calibration(header["calibration"], deserialize.Reader(header, tensors))
        if older and isinstance(choices.alpha, Mapping) and calibration is not None:
            tuned = dict.fromkeys(choices.alpha, calibration.alphas.get("*", 1.0))
            calibration = replace(calibration, alphas=tuned)
        return _checked(Model(evidence, choices, calibration, _get_validation(header)))
    except container.BROKEN as error:
        what = str(error) or type(error).__name__
        raise BadModelFile(wanted(where, "the parts of a model", f"something else ({what})")) from None


def dump_calibration(model: Model) -> bytes:
    """Return the bytes of a model's calibration, with the hash of the evidence it was computed from.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": list("ppqq"), "y": ["no", "no", "yes", "yes"]}, "y")
    >>> with_calibration(replace(model, calibration=None), dump_calibration(model)) == model
    True
    """
    tensors: container.Tensors = {}
    put = None if model.calibration is None else _put_calibration(model.calibration, tensors)
    return container.pack({"calibration": put, "of": serialize.evidence_hash(model.evidence), "blocks": []}, tensors)


def with_calibration(model: Model, content: bytes, where: str = "calibration") -> Model:
    """Return a model with a calibration from bytes, stale unless it was computed from the same evidence."""
    header, tensors = container.unpack(content, where)
    try:
        calibration = _get_calibration(header["calibration"], deserialize.Reader(header, tensors))
        if calibration is not None and header["of"] != serialize.evidence_hash(model.evidence):
            calibration = calibration.outdated()
        return _checked(replace(model, calibration=calibration))
    except container.BROKEN as error:
        what = str(error) or type(error).__name__
        raise BadModelFile(wanted(where, "a calibration of the model", f"something else ({what})")) from None


def _put_choices(model: Model) -> dict[str, Any]:
    choices = model.choices
    prior = choices.prior
    put: dict[str, Any] = {
        "estimate": choices.estimate,
        "alpha": _put_alpha(choices.alpha),
        "prior": prior if isinstance(prior, str) else None,
        "variance": choices.variance,
        "floor": choices.floor,
        "unseen": choices.unseen,
        "calibrate": choices.calibrate,
    }
    if choices.structure != "naive":  # what older versions read has none
        put["structure"] = choices.structure
    if isinstance(prior, Mapping):
        put["prior_of"] = [float(prior[c]) for c in model.classes]
    elif not isinstance(prior, str):
        put["prior_list"] = [float(p) for p in prior]
    return put


def _get_choices(put: dict[str, Any], classes: Categories) -> Choices:
    put = dict(put)
    of, listed = put.pop("prior_of", None), put.pop("prior_list", None)
    if of is not None:
        put["prior"] = dict(zip(classes.values, of, strict=True))
    elif listed is not None:
        put["prior"] = tuple(listed)
    if put["alpha"] == _AUTO:
        put["alpha"] = "auto"
    return Choices(**put)


def _as_in_0_1(choices: Choices, schema: Schema) -> Choices:
    """Return the choices of an older file, in which "auto" meant "loo" for text, and 1 otherwise."""
    texts = [name for block in schema.blocks if block.event.input == "text" for name in block.columns]
    if len(texts) == len(schema.columns):
        return replace(choices, alpha="loo")
    return replace(choices, alpha=dict.fromkeys(texts, "loo") if texts else 1.0)


def _put_calibration(calibration: Calibration, tensors: container.Tensors) -> dict[str, Any]:
    put = calibration.to_dict()
    if calibration.weights is None:
        return put
    return {**put, "weights": column_weights.put(calibration.weights, tensors)}


def _get_calibration(put: dict[str, Any] | None, reader: deserialize.Reader | None) -> Calibration | None:
    if put is None:
        return None
    alphas, temperature = put["alphas"], put["temper"]
    require(all(_is_positive(alpha) for alpha in alphas.values()), "smoothings above 0")
    require(isinstance(put["stale"], bool), "stale")
    require(all(isinstance(put[k], int) and put[k] >= 0 for k in ("rows", "unscored")), "rows")
    before, after = (None if put[k] is None else float(put[k]) for k in ("before", "after"))
    tried = tuple(
        Tried(text(one["columns"]), float(one["alpha"]), float(one["log_loss"]), float(one["error"]))
        for one in put["tried"]
    )
    return Calibration(
        {text(name): float(alpha) for name, alpha in alphas.items()},
        None if temperature is None else _get_temperature(temperature),
        put["rows"],
        put["unscored"],
        before,
        after,
        tried,
        put["stale"],
        None if "weights" not in put or reader is None else column_weights.get(put["weights"], reader),
        TextView.from_dict(put["view"]) if "view" in put else None,
    )


def _get_validation(header: dict[str, Any]) -> ValidationRecord | None:
    return ValidationRecord.from_dict(header["validation"]) if "validation" in header else None


def _checked(model: Model) -> Model:
    """Return the model; raise unless its weights and its view are those of its texts."""
    if model.calibration is not None and model.calibration.view is not None:
        require(model.calibration.view in views(model.evidence), "a view of texts")
    if model._token_weights is not None:
        [block] = model._viewed.schema.blocks
        fit = isinstance(block.event, Text) and len(model._token_weights.cells) == n_cells(block.event.ngrams)
        require(fit and len(block.columns) == 1, "weights of tokens")
    return model


def _get_temperature(put: dict[str, Any]) -> Tempering:
    if "cells" in put:
        return TokenWeights.from_dict(put)
    require(_is_positive(put["a"]) and bool(np.isfinite(put["b"])), "a temperature")
    return Temperature(float(put["a"]), float(put["b"]))


def _put_alpha(alpha: Alpha) -> Any:
    if isinstance(alpha, Mapping):
        return {name: one if isinstance(one, str) else float(one) for name, one in alpha.items()}
    if isinstance(alpha, str):
        return _AUTO if alpha == "auto" else alpha
    return float(alpha)


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < np.inf
