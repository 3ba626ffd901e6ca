"""The weights of columns in a model file: numbers as arrays, names and kinds in the header."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.categories import Categories
from tallybayes.evidence import container, deserialize, serialize
from tallybayes.evidence.container import require, text
from tallybayes.inference.weights import ColumnWeight, ColumnWeights

__all__ = ["get", "put"]

_NAME = "calibration"
_MOST_FADING = 1024  # a share to this power is 0 in all but whole rows


def put(weights: ColumnWeights, tensors: container.Tensors) -> dict[str, Any]:
    """Return the header of weights, and add their arrays to the tensors."""
    columns = []
    for k, (name, one) in enumerate(sorted(weights.columns.items())):
        where = f"{_NAME}.{k}"
        if len(one.table) or one.missing.any():
            tensors[f"{where}.table"] = np.concatenate([one.table, one.missing[None]])
        stored: dict[str, Any] = {"name": name, "weight": one.weight}
        if isinstance(one.cells, Categories):
            stored["values"] = serialize.put_labels(f"{where}.values", one.cells, tensors)
        elif one.cells is not None:
            tensors[f"{where}.bounds"] = one.cells
        columns.append(stored)
    tensors[f"{_NAME}.bias"] = weights.bias
    labels = serialize.put_labels(f"{_NAME}.classes", weights.classes, tensors)
    return {"classes": labels, "columns": columns, "fading": weights.fading}


def get(stored: dict[str, Any], reader: deserialize.Reader) -> ColumnWeights:
    """Return the weights that `put` was given; raise unless they fit together."""
    classes, columns = reader.labels(f"{_NAME}.classes", stored["classes"]), {}
    for k, one in enumerate(stored["columns"]):
        columns[text(one["name"])] = _column(f"{_NAME}.{k}", one, len(classes), reader)
    require(list(columns) == sorted(columns) and len(columns) == len(stored["columns"]), "weights of different columns")
    fading = stored["fading"]
    require(type(fading) is int and 1 <= fading <= _MOST_FADING, "how weights fade")
    return ColumnWeights(classes, columns, _numbers(reader, f"{_NAME}.bias", (len(classes),)), fading)


def _column(where: str, stored: dict[str, Any], n_classes: int, reader: deserialize.Reader) -> ColumnWeight:
    weight = stored["weight"]
    require(isinstance(weight, float) and np.isfinite(weight), "a weight")
    cells: Any = None
    if "values" in stored:
        cells = reader.labels(f"{where}.values", stored["values"])
    elif f"{where}.bounds" in reader.tensors:
        cells = _numbers(reader, f"{where}.bounds", reader.tensors[f"{where}.bounds"].shape)
        require(cells.ndim == 1 and bool((np.diff(cells) > 0).all()), "rising bounds")
    rows = 1 if cells is None else len(cells) + 2
    if cells is None and f"{where}.table" not in reader.tensors:
        return ColumnWeight(weight, None, np.zeros((0, n_classes)), np.zeros(n_classes))
    table = _numbers(reader, f"{where}.table", (rows, n_classes))
    return ColumnWeight(weight, cells, table[:-1], table[-1])


def _numbers(reader: deserialize.Reader, name: str, shape: tuple[int, ...]) -> Any:
    values = reader.tensors[name]
    require(values.dtype == np.float64 and values.shape == shape and bool(np.isfinite(values).all()), name)
    return values
