"""Messages as arguments: checked, and in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, TypeVar

import numpy as np

from tallybayes.arguments import shown
from tallybayes.errors import BadData, wanted

__all__ = ["Pair", "batched", "check_message"]

Pair: TypeAlias = tuple[str, bytes]  # a class and a message
T = TypeVar("T", bytes, Pair)

_BATCH_MESSAGES, _BATCH_BYTES = 256, 4 << 20


def check_message(one: object, *, alone: bool = True) -> None:
    """Raise unless this is a message, or where it need not be alone, a class and a message."""
    message = one[1] if not alone and isinstance(one, tuple) and len(one) == 2 else one
    if not isinstance(message, bytes):
        want = "bytes" if alone else "bytes, or pairs of a class and bytes"
        raise BadData(wanted("message" if alone else "messages", want, shown(one)))


def batched(messages: Iterable[T], *, alone: bool = False) -> Iterator[list[T]]:
    """Yield lists of messages, neither long nor large."""
    batch: list[T] = []
    size = 0
    if isinstance(messages, str | bytes | memoryview | np.ndarray) or not isinstance(messages, Iterable):
        raise BadData(wanted("messages", "a list of messages", shown(messages)))
    for one in messages:
        check_message(one, alone=alone)
        batch.append(one)
        size += len(one if isinstance(one, bytes) else one[1])
        if len(batch) >= _BATCH_MESSAGES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
