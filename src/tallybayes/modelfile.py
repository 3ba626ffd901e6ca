"""One safe file for a model: arrays in safetensors, the rest as JSON in its header. Nothing in it can run.

The layout is canonical (classes and values sorted, limbs in their one form, one metadata key), so equal models are
equal bytes. A checksum covers everything; what passes it is still rebuilt through the same checks as fresh counts, so
a file made with ill will is refused like a damaged one.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.calibration import Calibration, Tried
from tallybayes.errors import BadModelFile, BadOption, TallyError, wanted
from tallybayes.estimate import Alpha, Choices
from tallybayes.events import parse
from tallybayes.evidence import Evidence
from tallybayes.exact import Exact
from tallybayes.kernels.text import Tokenizer
from tallybayes.labels import Labels, kind, plain_types
from tallybayes.model import Model
from tallybayes.names import Numbered, names
from tallybayes.posterior import Temper
from tallybayes.scattered import Scattered
from tallybayes.schema import Block, Schema
from tallybayes.statistic import Statistic

__all__ = ["FORMAT", "dump", "load", "parse_bytes", "save"]

FORMAT = 1
_KEY = "tallybayes"
# A double spans 2^-1074 to 2^1024 and a weighted square thrice that: no honest sum lies beyond this many limbs.
_MOST_LIMBS = 400

Tensors = dict[str, npt.NDArray[Any]]


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model so that the file is whole or not there at all."""
    target = Path(path).expanduser()
    content = dump(model)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = file.name
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise BadOption(wanted(f"model file {str(target)!r}", "a place to write", str(error.strerror))) from None


def load(path: str | os.PathLike[str], *, tokenizer: Tokenizer | Mapping[str, Tokenizer] | None = None) -> Model:
    """Read a model that `Model.save` wrote.

    Parameters
    ----------
    path : str or path
        The file.
    tokenizer : callable, or mapping of str to callable, optional
        The function that made the words of the model's texts, if it was fitted with one (or one for each column). A
        file holds no code: without it the model can be looked at and merged, but knows no words of further texts.

    Examples
    --------
    >>> import tallybayes as tb, tempfile, os
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "m.tally"))
    ...     tb.load(os.path.join(folder, "m.tally")) == model
    True
    """
    source = Path(path).expanduser()
    try:
        content = source.read_bytes()
    except OSError as error:
        raise BadModelFile(wanted(f"model file {str(source)!r}", "a file", str(error.strerror))) from None
    model = parse_bytes(content, f"model file {str(source)!r}")
    if tokenizer is None:
        return model
    schema = model.schema.with_tokenizer(tokenizer, named=True)
    return replace(model, evidence=replace(model.evidence, schema=schema))


def dump(model: Model) -> bytes:
    """The bytes of the file."""
    from safetensors.numpy import save as to_bytes

    header, tensors = _header(model)
    header["checksum"] = _checksum(header, tensors)
    return bytes(to_bytes(tensors, metadata={_KEY: _json(header)}))


def parse_bytes(content: bytes, where: str = "model file") -> Model:
    """The model in the bytes of a file."""
    header, tensors = _open(content, where)
    if header.get("format") != FORMAT:
        raise BadModelFile(
            wanted(where, f"format {FORMAT}", repr(header.get("format")), "Use the version that wrote it")
        )
    given = header.pop("checksum", None)
    if given != _checksum(header, tensors):
        raise BadModelFile(
            wanted(where, "its checksum to fit", "another", "The file was altered or cut; save it again")
        )
    try:
        return _Reader(header, tensors).model()
    except (
        TallyError,
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        OverflowError,
        pa.ArrowException,
    ) as error:
        what = str(error) or type(error).__name__
        raise BadModelFile(wanted(where, "the parts of a model", f"something else ({what})")) from None


def _header(model: Model) -> tuple[dict[str, Any], Tensors]:
    evidence, schema, choices = model.evidence, model.schema, model.choices
    tensors: Tensors = {}
    prior = choices.prior
    header: dict[str, Any] = {
        "format": FORMAT,
        "label": schema.label,
        "weight": schema.weight,
        "missing": schema.missing,
        "choices": {
            "estimate": choices.estimate,
            "alpha": _put_alpha(choices.alpha),
            "prior": prior if isinstance(prior, str) else None,
            "variance": choices.variance,
            "floor": choices.floor,
            "unseen": choices.unseen,
            "calibrate": choices.calibrate,
        },
        "calibration": None if model.calibration is None else model.calibration.to_dict(),
        "classes": _put_labels("classes", evidence.classes, tensors),
        "rows": _put_exact("rows", evidence.rows, tensors),
        "columns": _put_names(schema.columns),
        "blocks": [],
    }
    if isinstance(prior, Mapping):
        header["choices"]["prior_of"] = [float(prior[c]) for c in evidence.classes.values]
    elif not isinstance(prior, str):
        header["choices"]["prior_list"] = [float(p) for p in prior]
    for b, (block, statistic) in enumerate(zip(schema.blocks, evidence.statistics, strict=True)):
        header["blocks"].append(
            {
                "event": block.event.spec,
                "columns": _put_names(block.columns),
                "sums": {k: _put_exact(f"{b}.{k}", v, tensors) for k, v in statistic.sums.items()},
                "labels": [_put_labels(f"{b}.labels.{f}", one, tensors) for f, one in enumerate(statistic.labels)],
            }
        )
    return header, tensors


class _Reader:
    """Rebuilds a model from the parts of a file, trusting none of them."""

    def __init__(self, header: dict[str, Any], tensors: Tensors) -> None:
        self.header, self.tensors = header, tensors

    def model(self) -> Model:
        header = self.header
        blocks = tuple(Block(parse(b["event"]), self.names(b["columns"])) for b in header["blocks"])
        weight = header["weight"]
        schema = Schema(
            _text(header["label"]),
            None if weight is None else _text(weight),
            blocks,
            self.names(header["columns"]),
            header["missing"],
        )
        _require(schema.missing in ("skip", "category", "error"), "missing")
        _require(sorted(schema.columns) == sorted(n for b in blocks for n in b.columns), "columns")
        _require(len(set(schema.columns)) == len(schema.columns), "columns that differ")
        classes = self.labels("classes", header["classes"])
        rows = self.exact("rows", header["rows"], (len(classes),))
        _require(bool(rows.nonzero().all()) and not rows.negative().any(), "class weights above 0")
        statistics = tuple(
            self.statistic(b, block, stored, rows)
            for b, (block, stored) in enumerate(zip(blocks, header["blocks"], strict=True))
        )
        choices = self.choices(classes)
        choices.check(schema)
        return Model(Evidence(schema, classes, rows, statistics), choices, self.calibration(choices, schema))

    def calibration(self, choices: Choices, schema: Schema) -> Calibration | None:
        stored = self.header["calibration"]
        if stored is None:
            return None
        alphas, temper = stored["alphas"], stored["temper"]
        _require(all(_is_positive(alpha) for alpha in alphas.values()), "smoothings above 0")
        _require(temper is None or (_is_positive(temper["a"]) and np.isfinite(temper["b"])), "a temperature")
        _require(isinstance(stored["stale"], bool), "stale")
        _require(all(isinstance(stored[k], int) and stored[k] >= 0 for k in ("rows", "unscored")), "rows")
        numbers = {k: None if stored[k] is None else float(stored[k]) for k in ("before", "after")}
        tried = tuple(
            Tried(_text(one["columns"]), float(one["alpha"]), float(one["log_loss"]), float(one["error"]))
            for one in stored["tried"]
        )
        return Calibration(
            {_text(name): float(alpha) for name, alpha in alphas.items()},
            None if temper is None else Temper(float(temper["a"]), float(temper["b"])),
            stored["rows"],
            stored["unscored"],
            **numbers,
            tried=tried,
            stale=stored["stale"],
        )

    def statistic(self, b: int, block: Block, stored: dict[str, Any], rows: Exact) -> Statistic:
        axes = block.event.axes
        width = len(block.columns)
        found = tuple(self.labels(f"{b}.labels.{f}", one) for f, one in enumerate(stored["labels"]))
        _require(len(found) == (width if "value" in axes.values() else 0), "labels for each column")
        sizes = {"column": width, "value": sum(map(len, found))}
        _require(set(stored["sums"]) == set(axes), f"sums of {block.event.name}")
        shape = {k: (rows.shape[0], sizes[axis]) for k, axis in axes.items()}
        sums = {k: self.exact(f"{b}.{k}", stored["sums"][k], shape[k]) for k in axes}
        sums |= {k: Scattered.from_whole(sums[k]) for k in block.event.scattered}
        statistic = Statistic(rows, sums, axes, found)
        statistic.check()
        _require(statistic.without_unused_values() is statistic, "values that occur")
        return statistic

    def choices(self, classes: Labels) -> Choices:
        stored = dict(self.header["choices"])
        of, listed = stored.pop("prior_of", None), stored.pop("prior_list", None)
        if of is not None:
            stored["prior"] = dict(zip(classes.values, of, strict=True))
        elif listed is not None:
            stored["prior"] = tuple(listed)
        return Choices(**stored)

    def exact(self, name: str, base: Any, shape: tuple[int, ...]) -> Exact:
        if base is None:
            _require(name not in self.tensors, name)
            return Exact.zeros(shape)
        stored = self.tensors[name]
        _require(stored.dtype == np.uint32 and stored.shape[:-1] == shape and isinstance(base, int), name)
        _require(0 < stored.shape[-1] <= _MOST_LIMBS and abs(base) <= _MOST_LIMBS, name)
        limbs = stored.astype(np.int64)
        limbs[..., -1] = stored[..., -1].view(np.int32)
        value = Exact(limbs, base)
        _require(value.base == base and value.limbs.shape == limbs.shape, f"{name} in canonical form")
        return value

    def labels(self, name: str, stored: dict[str, Any]) -> Labels:
        type_ = plain_types()[stored["kind"]]
        count, null = stored["count"], stored["null"]
        _require(isinstance(count, int) and count >= 0 and isinstance(null, bool), name)
        if type_ == pa.null():
            array = pa.nulls(count)
        elif type_ == pa.string():
            array = _get_text(self.tensors[f"{name}.bytes"], self.tensors[f"{name}.ends"])
        else:
            values = self.tensors[name]
            _require(values.ndim == 1, name)
            array = pa.array(values.astype(bool)) if type_ == pa.bool_() else pa.array(values).cast(type_)
        if null and type_ != pa.null():
            array = pa.concat_arrays([array, pa.nulls(1, type_)])
        _require(len(array) == count, name)
        found = Labels(array)
        _require(Labels.of(array) == found or count == 0, f"{name} sorted and different")
        return found

    def names(self, stored: Any) -> Any:
        if isinstance(stored, dict):
            _require(isinstance(stored["numbered"], int) and 0 < stored["numbered"] < 1 << 40, "columns")
            return Numbered(stored["numbered"])
        return names(_text(one) for one in stored)


def _put_alpha(alpha: Alpha) -> Any:
    if isinstance(alpha, Mapping):
        return {name: one if isinstance(one, str) else float(one) for name, one in alpha.items()}
    return alpha if isinstance(alpha, str) else float(alpha)


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < np.inf


def _put_names(given: Any) -> Any:
    return {"numbered": len(given)} if isinstance(names(given), Numbered) else list(given)


def _put_exact(name: str, value: Exact, tensors: Tensors) -> int | None:
    """Store the limbs, unless all are zero; what is returned is their base."""
    if value.is_zero:
        return None
    tensors[name] = value.limbs.astype(np.uint32)  # the last limb's sign wraps, and is restored on reading
    return value.base


def _put_labels(name: str, labels: Labels, tensors: Tensors) -> dict[str, Any]:
    array = labels.array.drop_null()
    type_ = array.type
    if type_ == pa.string():
        bounds, content = _text_buffers(array)
        tensors[f"{name}.bytes"] = content[bounds[0] : bounds[-1]]
        tensors[f"{name}.ends"] = bounds[1:] - bounds[0]
    elif type_ == pa.bool_():
        tensors[name] = array.cast(pa.uint8()).to_numpy()
    elif type_ != pa.null():
        stored = {pa.date32(): pa.int32(), pa.timestamp("us"): pa.int64()}.get(type_, type_)
        tensors[name] = array.cast(stored).to_numpy()
    return {"kind": kind(type_), "count": len(labels), "null": len(array) < len(labels)}


def _get_text(joined: npt.NDArray[Any], ends: npt.NDArray[Any]) -> pa.Array:
    _require(joined.dtype == np.uint8 and ends.dtype == np.int64 and joined.ndim == ends.ndim == 1, "text")
    bounds = np.concatenate([[0], ends])
    _require(bool((np.diff(bounds) >= 0).all()) and int(bounds[-1]) == len(joined), "text")
    buffers = [None, pa.py_buffer(bounds.astype(np.int64)), pa.py_buffer(joined.tobytes())]
    array = pa.Array.from_buffers(pa.large_string(), len(ends), buffers)
    array.validate(full=True)  # offsets in order, and text that is UTF-8
    return array.cast(pa.string())


def _text_buffers(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Where each text begins and ends, and the bytes of all."""
    _, offsets, content = array.buffers()
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return bounds, np.frombuffer(content if content is not None else b"", np.uint8)


def _open(content: bytes, where: str) -> tuple[dict[str, Any], Tensors]:
    """Header and arrays, if this is a safetensors file with our key."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    try:
        tensors = from_bytes(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][_KEY])
        if not isinstance(header, dict):
            raise ValueError
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
        raise BadModelFile(wanted(where, "a tallybayes model", "something else, or only a part of one")) from None
    return header, tensors


def _checksum(header: dict[str, Any], tensors: Tensors) -> str:
    digest = hashlib.sha256(_json(header).encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype.str} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise BadModelFile(what)


def _text(value: Any) -> str:
    _require(isinstance(value, str), "text")
    return str(value)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
