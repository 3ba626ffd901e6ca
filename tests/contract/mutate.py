"""Random changes of the content of files: bytes, lines, JSON values, and model files past their checksum."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np

from tallybayes.evidence import container

TOKENS = (
    *(b"", b",", b'"', b"'", b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"\t", b";", b"nan", b"inf", b"1e999"),
    *(b"-0.0", b"NA", b"?", b"9" * 400, b"{", b"}", b"[", b"]", b"null", b"\\u0000", b"\\ud800", b"@data", b"%"),
    *(b"@attribute", b"1.5", b"true", b"2020-01-01", b"\xc3\xa9", b"=cmd", b"x" * 300, b"-1", b"{1 2}", b"numeric"),
)
JSON_VALUES: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 2**31, 2**63, 0.5, 1e300, -1.0, "", "a", "\ud800", [], {}, [[]], [1, 2], ["a", "a"]),
    *({"a": 1}, "-" * 3000, 1 << 28, [None], "float64", "int64", "categorical", "gaussian", "text", "x" * 300),
)


def mutated(rng: Random, content: bytes) -> bytes:
    """Return a content with a few random changes of bytes, tokens or lines."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        content = _changed(rng, content)
    return content


def _changed(rng: Random, content: bytes) -> bytes:
    at, end = sorted((rng.randint(0, len(content)), rng.randint(0, len(content))))
    how = rng.randrange(8)
    if how == 0:
        return content[:at]
    if how == 1:
        return content[:at] + rng.choice(TOKENS) + content[at:]
    if how == 2:
        return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
    if how == 3:
        return content[:at] + content[min(end, at + 9) :]
    if how == 4:
        return content[:at] + content[at:end] * 2 + content[end:]
    lines = content.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    if how == 5:
        lines[first] = lines[second]
    elif how == 6:
        del lines[first]
    else:
        cells = lines[first].split(b",")
        cells[rng.randrange(len(cells))] = rng.choice(TOKENS)
        lines[first] = b",".join(cells)
    return b"\n".join(lines)


def mutated_json(rng: Random, value: Any) -> Any:
    """Return a JSON value with one part replaced, dropped, doubled or swapped with another."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
        return rng.choice(JSON_VALUES)
    if isinstance(value, dict):
        made, key = dict(value), rng.choice(list(value))
        if rng.random() < 0.1:
            del made[key]
        else:
            made[key] = mutated_json(rng, value[key])
        return made
    listed, k = list(value), rng.randrange(len(value))
    how = rng.random()
    if how < 0.1:
        del listed[k]
    elif how < 0.2:
        listed.insert(k, listed[rng.randrange(len(listed))])
    else:
        listed[k] = mutated_json(rng, value[k])
    return listed


def mutated_model(rng: Random, content: bytes) -> bytes:
    """Return a model file with parts of its header or its arrays changed, and a checksum that fits."""
    header, tensors = container.unpack(content, "model file")
    for _ in range(rng.choice((1, 1, 2, 4))):
        if rng.random() < 0.7 or not tensors:
            changed = mutated_json(rng, header)
            header = changed if isinstance(changed, dict) else header
        else:
            name = rng.choice(sorted(tensors))
            tensors = {**tensors, name: _changed_array(rng, tensors[name])}
            if rng.random() < 0.1:
                del tensors[name]
    try:
        return container.pack(header, tensors)
    except Exception:  # a header that cannot be written at all, such as one without its blocks
        return json.dumps(header).encode("utf-8", "surrogatepass")


def _changed_array(rng: Random, array: np.ndarray) -> np.ndarray:
    how = rng.randrange(6)
    if how == 0 and array.size:
        made = array.copy()
        edges = (0, 1, -1, 2**31, 2**32, 2**62, -(2**62), 127)
        with np.errstate(all="ignore"):
            made.flat[rng.randrange(array.size)] = np.array(rng.choice(edges)).astype(array.dtype)
        return made
    if how == 1:
        return array[: len(array) // 2].copy() if array.ndim else array
    if how == 2:
        return np.concatenate([array, array]) if array.ndim else array
    if how == 3:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(("f8", "i8", "i4", "u1", "?")))
    if how == 4:
        return array.reshape(-1)
    return np.zeros(rng.choice(((0,), (1,), (2, 3), ())), array.dtype)
