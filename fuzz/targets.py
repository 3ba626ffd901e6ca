"""What is fuzzed in Python: each target takes any bytes, and must answer or raise a TallyError."""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from collections.abc import Callable
from random import Random

import numpy as np
from tests.contract.mutate import mutated_model

import tallybayes as tb
from tallybayes.errors import TallyError
from tallybayes.mail import MailFilter
from tallybayes.mail import file as mail_file
from tallybayes.storage.model_file import dump, parse_bytes

ROWS = {"x": [1.0, 2.5, 0.0, None], "k": [1, 2, 3, 4], "s": ["a", "b", None, "a"], "y": ["p", "q", "p", "q"]}
_MODELS: dict[str, tb.Model] = {}


def _model(kind: str) -> tb.Model:
    """Return a small model, made once."""
    if kind not in _MODELS:
        rows = {**ROWS, "x": [1, 2, 1, 2]} if kind == "joint" else ROWS
        texts = {"s": ["a b", "b c", "c d d", "a"], "y": ["p", "q", "p", "q"]}
        _MODELS[kind] = {
            "plain": lambda: tb.fit(rows, "y"),
            "text": lambda: tb.fit(texts, "y", events={"s": "text"}),
            "joint": lambda: tb.fit(rows, "y", structure="joint", events={"*": "categorical"}),
            "mle": lambda: tb.fit(rows, "y", estimate="mle", events={"k": "poisson"}),
        }[kind]()
    return _MODELS[kind]


def model_file(data: bytes) -> None:
    """Load a model file: the bytes as they are, or as the changes of a good file whose checksum fits again."""
    if data[:1] == b"\0":
        kinds = ("plain", "text", "joint", "mle")
        content = mutated_model(Random(data[2:]), dump(_model(kinds[data[1] % 4 if len(data) > 1 else 0])))
    else:
        content = data
    model = parse_bytes(content)
    row = dict.fromkeys(model.schema.columns)
    if model.classes:
        answer = model.predict_proba([row])
        assert not np.isnan(answer).any(), answer
    repr(model)
    assert dump(parse_bytes(dump(model))) == dump(model)


def mail(data: bytes) -> None:
    """Load a mail filter changed past its checksum; or learn, explain and forget a message."""
    if data[:1] == b"\0":
        changed = mail_file.parse_bytes(mutated_model(Random(data[1:]), mail_file.dump(_mail_filter())))
        assert mail_file.dump(mail_file.parse_bytes(mail_file.dump(changed))) == mail_file.dump(changed)
        verdicts = [changed.classify(data)]
    else:
        filtering = _mail_filter()
        before, verdicts = mail_file.dump(filtering), [filtering.classify(data)]
        filtering.explain(data)
        filtering.learn([("ham", data)])
        verdicts.append(filtering.classify(data))
        filtering.forget([("ham", data)])
        assert mail_file.dump(filtering) == before, data
    for verdict in verdicts:
        assert not np.isnan([verdict.margin, *verdict.probabilities.values()]).any(), verdict


def _mail_filter() -> MailFilter:
    return MailFilter.train([("spam", b"Subject: cheap\n\npills"), ("ham", b"Subject: lunch\n\nat noon?")])


def where(data: bytes) -> None:
    """Read rows by a predicate."""
    for _ in tb.read(ROWS, where=data.decode("utf-8", "surrogateescape")):
        pass


def event(data: bytes) -> None:
    """Parse the text of an event model, and fit with it."""
    text = data.decode("utf-8", "surrogateescape")
    made = tb.events.parse(text)
    assert tb.events.parse(made.spec) == made, text
    tb.fit(ROWS, "y", events={"k": text}, calibrate=None).predict_proba(ROWS)


def query(data: bytes) -> None:
    """Ask rows and a model for a probability."""
    text = data.decode("utf-8", "surrogateescape")
    for ask in (lambda: tb.probability(ROWS, text), lambda: _model("plain").probability(text)):
        with contextlib.suppress(TallyError):
            assert 0.0 <= ask().probability <= 1.0, text


def _file(ending: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        path = os.path.join(_folder(), f"rows.{ending}")
        with open(path, "wb") as file:
            file.write(data)
        for bad_lines in ("error", "skip"):
            with contextlib.suppress(TallyError):
                tb.fit(path, "y", bad_lines=bad_lines, calibrate=None, threads=1).predict_proba(path, threads=1)

    read.__doc__ = f"Fit and predict from a .{ending} file."
    return read


def _folder() -> str:
    if "folder" not in _KEPT:
        _KEPT["folder"] = tempfile.TemporaryDirectory(prefix="fuzz")
    return _KEPT["folder"].name


_KEPT: dict[str, tempfile.TemporaryDirectory[str]] = {}

TARGETS: dict[str, Callable[[bytes], None]] = {
    "model-file": model_file,
    "mail": mail,
    "where": where,
    "event": event,
    "query": query,
    "csv": _file("csv"),
    "jsonl": _file("jsonl"),
    "arff": _file("arff"),
}


def run(name: str, data: bytes) -> None:
    """Run one input; any error but a TallyError is a finding."""
    with warnings.catch_warnings(), contextlib.suppress(TallyError):
        warnings.simplefilter("ignore")
        TARGETS[name](data)
