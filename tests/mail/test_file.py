"""Files of mail filters: equal filters are equal bytes, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

import tallybayes as tb
from tallybayes.errors import BadModelFile
from tallybayes.evidence import container
from tallybayes.mail import MailFilter
from tallybayes.mail.file import dump, load, parse_bytes

from .messages import pairs


@pytest.fixture(scope="module")
def content() -> bytes:
    return dump(MailFilter.train(pairs(30, "ham", "spam", "news"), false_positives=0.01))


@pytest.mark.parametrize(
    "mail",
    [MailFilter(), MailFilter.train(pairs(3)), MailFilter.train(pairs(300))],
    ids=["empty", "small", "large"],
)
def test_a_filter_is_read_back_as_it_was(mail: MailFilter, tmp_path: Path) -> None:
    mail.save(tmp_path / "m.tally")
    again = MailFilter.load(tmp_path / "m.tally")
    assert again == mail
    assert dump(again) == dump(mail)
    assert (again.max_tokens, again.dropped, again.totals) == (mail.max_tokens, mail.dropped, mail.totals)


def test_a_missing_file_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(BadModelFile, match=": no such file"):
        load(tmp_path / "none.tally")
    with pytest.raises(BadModelFile, match="wanted a file, got Is a directory"):
        load(tmp_path)


def test_a_model_of_rows_is_no_filter_and_a_filter_no_model(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.tally"
    tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y").save(path)
    with pytest.raises(BadModelFile, match="wanted a mail filter, got a model of rows"):
        load(path)
    path.write_bytes(content)
    with pytest.raises(BadModelFile, match=r"wanted a model of rows, got a mail filter\. Use it with 'tally mail'"):
        tb.load(path)


def test_damaged_files_are_refused(content: bytes) -> None:
    for broken in (b"", content[:100], content[:-1], content.replace(b"mail-1", b"mail-2"), b"\0" * 400):
        with pytest.raises(BadModelFile):
            parse_bytes(broken)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_tokens", 0),
        ("max_tokens", "many"),
        ("dropped", -1),
        ("tokens", 7),
        ("rows", None),
        ("messages", None),
        ("calibration", {}),
        ("calibration", {"slope": -1.0}),
        ("calibration", {"slope": "1"}),
        ("calibration", {"biases": {"spam": None}}),
        ("calibration", {"other": 1}),
    ],
)
def test_forged_headers_are_refused(content: bytes, key: str, value: object) -> None:
    header, tensors = container.unpack(content, "file")
    forged = container.pack({**header, key: value}, tensors)
    if (key, value) == ("calibration", {}):
        assert parse_bytes(forged).calibration.messages == 0
        return
    with pytest.raises(BadModelFile, match="wanted the parts of a mail filter"):
        parse_bytes(forged)


FORGERIES = {
    "reversed": lambda one: one[::-1].copy(),
    "shorter": lambda one: one[:-1],
    "zero": lambda one: one * 0,
    "of another type": lambda one: one.astype("f4"),
    "too large": lambda one: one + one.dtype.type(100),
}


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, how) for name in ("header", "body") for how in ("reversed", "shorter", "zero", "of another type")),
        *(("messages", how) for how in ("shorter", "zero", "of another type", "too large")),
        *(("rows", how) for how in ("shorter", "zero", "of another type")),
    ],
)
def test_forged_arrays_are_refused(content: bytes, name: str, how: str) -> None:
    header, tensors = container.unpack(content, "file")
    forged = FORGERIES[how](tensors[name])
    with pytest.raises(BadModelFile):
        parse_bytes(container.pack(header, {**tensors, name: forged}))
