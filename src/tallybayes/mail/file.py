"""Mail filters as files: evidence and calibration, in the container of model files (`evidence.container`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.errors import BadModelFile, BadOption, wanted
from tallybayes.evidence import container, deserialize, serialize
from tallybayes.evidence.container import require, text
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact
from tallybayes.kernels.mail import GROUPS, release_memory
from tallybayes.mail.calibration import ScoreCalibration
from tallybayes.mail.evidence import TokenTable
from tallybayes.mail.mail_filter import MailFilter
from tallybayes.storage import atomic_write

__all__ = ["KIND", "dump", "load", "parse_bytes", "read_bytes", "save"]

KIND = "mail"
_WHAT = "mail filter"
_MOST = 2.0**31  # messages


def save(mail: MailFilter, path: str | os.PathLike[str]) -> None:
    """Write a filter to a file, atomically."""
    atomic_write.write(dump(mail), path, _WHAT)
    release_memory()


def load(path: str | os.PathLike[str]) -> MailFilter:
    """Read a filter that `save` wrote."""
    found = parse_bytes(read_bytes(path), f"{_WHAT} {os.fspath(path)!r}")
    release_memory()
    return found


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file."""
    try:
        source = atomic_write.local_path(path, _WHAT)
        return source.read_bytes()
    except BadOption as error:
        raise BadModelFile(str(error)) from None
    except OSError as error:
        where = f"{_WHAT} {os.fspath(path)!r}"
        if isinstance(error, FileNotFoundError):
            raise BadModelFile(f"{where}: no such file.") from None
        raise BadModelFile(wanted(where, "a file", str(error.strerror))) from None


def dump(mail: MailFilter) -> bytes:
    """Return the bytes of the file."""
    evidence, tensors = mail.evidence(), container.Tensors()
    [statistic] = evidence.statistics
    header: dict[str, Any] = {
        "kind": KIND,
        "blocks": [],
        "tokens": evidence.version,
        "max_tokens": mail.max_tokens,
        "dropped": mail.dropped,
        "classes": serialize.put_labels("classes", evidence.classes, tensors),
        "rows": serialize.put_exact("rows", evidence.rows, tensors),
        "labels": [
            serialize.put_labels(name, one, tensors) for name, one in zip(GROUPS, statistic.labels, strict=True)
        ],
        "messages": serialize.put_sum("messages", statistic.sums["messages"], tensors, scattered=True),
        "calibration": asdict(mail.calibration),
    }
    return container.pack(header, tensors)


def parse_bytes(content: bytes, where: str = _WHAT) -> MailFilter:
    """Return the filter in the bytes of a file."""
    header, tensors = container.unpack(content, where)
    if header.get("kind") != KIND:
        raise BadModelFile(wanted(where, "a mail filter", "a model of rows", "Make one with 'tally mail train'"))
    try:
        return _Reader(header, tensors).mail()
    except container.BROKEN as error:
        what = str(error) or type(error).__name__
        raise BadModelFile(wanted(where, "the parts of a mail filter", f"something else ({what})")) from None


class _Reader(deserialize.Reader):
    """Rebuilds a filter from header and arrays, trusting none of them.

    Counts go into the table as they are: as evidence, a million tokens would take three times the memory for a moment,
    and a process keeps it.
    """

    def mail(self) -> MailFilter:
        """Return the filter that `dump` was given."""
        header = self.header
        classes = self.labels("classes", header["classes"])
        rows = self.exact("rows", header["rows"], (len(classes),))
        require(bool(rows.nonzero().all()) and not rows.negative().any(), "messages of each class")
        require(isinstance(header["dropped"], int) and header["dropped"] >= 0, "dropped")
        new = MailFilter(max_tokens=header["max_tokens"])
        new.dropped, new.version = header["dropped"], text(header["tokens"])
        new.calibration = _calibration(header["calibration"])
        new.fill([text(name) for name in classes.values], _whole(rows), self._groups(_whole(rows)))
        return new

    def _groups(self, messages: npt.NDArray[np.int64]) -> Iterator[TokenTable]:
        keys = [self._keys(name, put["count"]) for name, put in zip(GROUPS, self.header["labels"], strict=True)]
        numbers = self.sum("messages", self.header["messages"], (len(messages), sum(map(len, keys))), scattered=True)
        assert isinstance(numbers, SparseExact)
        require(bool(numbers.used().all()) and not numbers.has_negative(), "tokens that occur")
        values, starts, first = _whole(numbers.values), numbers.places.starts, 0
        require(bool((values <= messages[numbers.places.rows]).all()), "tokens in no more messages than there are")
        for one in keys:
            bounds = starts[first : first + len(one) + 1]
            part = slice(int(bounds[0]), int(bounds[-1]))
            yield one, bounds - bounds[0], numbers.places.rows[part], values[part]
            first += len(one)

    def _keys(self, name: str, count: int) -> npt.NDArray[np.int64]:
        found = self.tensors.pop(name) if count else np.zeros(0, np.int64)
        require(found.dtype == np.int64 and found.shape == (count,), f"{name} of 64 bits")
        require(bool((found[1:] > found[:-1]).all()), f"{name} sorted and different")
        return found


def _whole(numbers: Exact) -> npt.NDArray[np.int64]:
    """Return counts as whole numbers; raise unless they are."""
    found = numbers.to_float()
    require(bool((found == np.floor(found)).all()) and bool((np.abs(found) < _MOST).all()), "whole numbers")
    return found.astype(np.int64)


def _calibration(put: dict[str, Any]) -> ScoreCalibration:
    found = ScoreCalibration(**put)
    numbers = [
        found.slope,
        found.log_loss,
        found.threshold or 0.0,
        found.false_positives or 0.0,
        *found.biases.values(),
    ]
    require(all(isinstance(one, (int, float)) for one in numbers), "numbers of the calibration")
    require(bool(np.isfinite(numbers).all()) and found.slope > 0 and isinstance(found.messages, int), "a calibration")
    return found
