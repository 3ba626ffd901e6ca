"""Mail filters as files: evidence and calibration, in the container of model files (`evidence.serialize`)."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from tallybayes.errors import BadModelFile, BadOption, wanted
from tallybayes.events.statistic import Statistic
from tallybayes.evidence import serialize
from tallybayes.evidence.serialize import require, text
from tallybayes.kernels.mail import GROUPS
from tallybayes.mail.calibration import Calibration
from tallybayes.mail.evidence import SUMS, MailEvidence
from tallybayes.mail.mail_filter import MailFilter
from tallybayes.storage import atomic_write

__all__ = ["KIND", "dump", "load", "parse_bytes", "read_bytes", "save"]

KIND = "mail"
_WHAT = "mail filter"


def save(mail: MailFilter, path: str | os.PathLike[str]) -> None:
    """Write a filter to a file, atomically."""
    atomic_write.write(dump(mail), path, _WHAT)


def load(path: str | os.PathLike[str]) -> MailFilter:
    """Read a filter that `save` wrote."""
    return parse_bytes(read_bytes(path), f"{_WHAT} {os.fspath(path)!r}")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file."""
    try:
        source = atomic_write.local_path(path, _WHAT)
        return source.read_bytes()
    except BadOption as error:
        raise BadModelFile(str(error)) from None
    except OSError as error:
        got = "no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)
        raise BadModelFile(wanted(f"{_WHAT} {os.fspath(path)!r}", "a file", got)) from None


def dump(mail: MailFilter) -> bytes:
    """Return the bytes of the file."""
    evidence, tensors = mail.evidence(), serialize.Tensors()
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
    return serialize.pack(header, tensors)


def parse_bytes(content: bytes, where: str = _WHAT) -> MailFilter:
    """Return the filter in the bytes of a file."""
    header, tensors = serialize.unpack(content, where)
    if header.get("kind") != KIND:
        raise BadModelFile(wanted(where, "a mail filter", "a model of rows", "Make one with 'tally mail train'"))
    try:
        reader = serialize.Reader(header, tensors)
        classes = reader.labels("classes", header["classes"])
        rows = reader.exact("rows", header["rows"], (len(classes),))
        require(bool(rows.nonzero().all()) and not rows.negative().any(), "messages of each class")
        labels = tuple(reader.labels(name, one) for name, one in zip(GROUPS, header["labels"], strict=True))
        shape = (len(classes), sum(map(len, labels)))
        numbers = reader.sum("messages", header["messages"], shape, scattered=True)
        statistic = Statistic(rows, {"messages": numbers}, SUMS, labels)
        require(statistic.without_unused_values() is statistic, "tokens that occur")
        statistic.check()
        evidence = MailEvidence(text(header["tokens"]), classes, rows, (statistic,))
        most, dropped = header["max_tokens"], header["dropped"]
        require(isinstance(dropped, int) and dropped >= 0, "dropped")
        return MailFilter.of(evidence, _calibration(header["calibration"]), max_tokens=most, dropped=dropped)
    except serialize.BROKEN as error:
        what = str(error) or type(error).__name__
        raise BadModelFile(wanted(where, "the parts of a mail filter", f"something else ({what})")) from None


def _calibration(put: dict[str, Any]) -> Calibration:
    found = Calibration(**put)
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
