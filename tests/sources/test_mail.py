"""Mailboxes of every kind give the messages that were put in."""

from __future__ import annotations

import gzip
import io
import mailbox
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tallybayes.errors import BadData
from tallybayes.sources.mail import class_folders, read_messages, split_mbox
from tests.mail.messages import message

MESSAGES = [message(kind, seed) for seed in range(3) for kind in ("ham", "spam")]


def contents(path: Path | str) -> list[bytes]:
    return [one.content.rstrip(b"\r\n") for one in read_messages(path)]


def expected() -> list[bytes]:
    return sorted(one.rstrip(b"\n") for one in MESSAGES)


@pytest.mark.parametrize("kind", [mailbox.mbox, mailbox.Maildir, mailbox.MH], ids=lambda kind: kind.__name__)
def test_the_standard_library_and_we_agree(kind: type[mailbox.Mailbox], tmp_path: Path) -> None:  # type: ignore[type-arg]
    box = kind(str(tmp_path / "box"))
    for one in MESSAGES:
        box.add(one)
    box.close()
    assert sorted(contents(tmp_path / "box")) == expected()


def test_a_compressed_mbox_is_read(tmp_path: Path) -> None:
    box = mailbox.mbox(str(tmp_path / "box"))
    for one in MESSAGES:
        box.add(one)
    box.close()
    packed = tmp_path / "old.mbox.gz"
    packed.write_bytes(gzip.compress((tmp_path / "box").read_bytes()))
    assert sorted(contents(packed)) == expected()
    assert [one.path for one in read_messages(packed)] == [f"{packed}:{k}" for k in range(1, 7)]
    packed.write_bytes(packed.read_bytes()[:-30])
    with pytest.raises(BadData, match="wanted a gzip file, got a damaged one"):
        list(read_messages(packed))


def test_a_folder_of_files_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for k, one in enumerate(MESSAGES):
        (tmp_path / f"{k % 2}").mkdir(exist_ok=True)
        (tmp_path / f"{k % 2}" / f"{k}.eml").write_bytes(one)
    (tmp_path / ".hidden").write_bytes(b"no")
    (tmp_path / ",7").write_bytes(b"deleted by MH")
    found = list(read_messages(tmp_path))
    assert [Path(one.path).name for one in found] == ["0.eml", "2.eml", "4.eml", "1.eml", "3.eml", "5.eml"]
    assert found[1].content == MESSAGES[2]


def test_one_file_is_one_message_and_keeps_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "one.eml"
    for content in (b"", b"\0\xff", b"From the start, no date\n\nx", MESSAGES[0].replace(b"\n", b"\r\n")):
        path.write_bytes(content)
        assert list(read_messages(path)) == [(str(path), content)]


def test_standard_input_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"To: x\n\n")))
    assert list(read_messages("-")) == [("-", b"To: x\n\n")]


def test_only_a_dated_line_after_an_empty_one_begins_a_message() -> None:
    box = (
        b"From a@b Thu Aug 22 12:36:23 2002\r\nTo: x\r\n\r\nhello\r\nFrom here 10:20 on\r\n"
        b"\r\nFrom now on, all is well\r\n"
        b">From quoted 10:20\r\n\r\nFrom c@d  Fri Aug 23 01:02 2002 +0100\r\n\r\n"
    )
    messages = list(split_mbox(io.BytesIO(box)))
    assert [one[:5] for one in messages] == [b"To: x", b"\r\n"]
    assert b"all is well" in messages[0]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=": no such file or folder"):
        list(read_messages(tmp_path / "none"))
    assert list(read_messages(tmp_path)) == []


def test_folders_name_classes(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="a folder for each class, such as spam and ham, got 0 folders"):
        class_folders(tmp_path)
    for name in ("spam", "ham", ".git"):
        (tmp_path / name).mkdir()
    assert class_folders(tmp_path) == [("ham", str(tmp_path / "ham")), ("spam", str(tmp_path / "spam"))]
    with pytest.raises(BadData, match="got no folder"):
        class_folders(tmp_path / "none")
