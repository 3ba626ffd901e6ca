"""Writing files: complete or not at all, and nothing but the file itself changes."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

import tallybayes as tb
from tallybayes.errors import BadModelFile, BadOption
from tallybayes.storage.atomic_write import local_path, replacing, write


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("exists", [True, False], ids=["to a file", "to nothing"])
def test_a_link_stays_a_link(tmp_path: Path, exists: bool) -> None:
    real, link = tmp_path / "there" / "m", tmp_path / "m"
    real.parent.mkdir()
    if exists:
        real.write_bytes(b"old")
    link.symlink_to(real)
    write(b"new", link, "model file")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert names(real.parent) == ["m"]


def test_what_is_no_regular_file_is_refused_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    through = tmp_path / "link"
    through.symlink_to(pipe)
    for path in (pipe, through, Path("/dev/null")):
        with pytest.raises(BadOption, match=r"wanted a file to write, got a device, a pipe or a socket\.$"):
            write(b"new", path, "model file")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert names(tmp_path) == ["link", "pipe"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_an_earlier_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(b"new", path, "model file")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["m" * 240, "m" * 255, "ü" * 127, "." + "m" * 254])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path, name: str) -> None:
    for content in (b"one", b"two"):
        write(content, tmp_path / name, "model file")
        assert (tmp_path / name).read_bytes() == content
    assert names(tmp_path) == [name]


def killed_while_writing(path: Path) -> None:
    """Leave a temporary file behind, as a killed process does."""
    child = os.fork()
    if child == 0:
        with replacing(path, "model file") as file:
            file.write(b"half")
            file.flush()
            os._exit(9)
    os.waitpid(child, 0)


@pytest.mark.parametrize("name", ["m.tally", "m" * 255])
def test_what_a_killed_process_left_is_removed_once_it_is_old(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write(b"old", path, "model file")
    killed_while_writing(path)
    (tmp_path / ".other.abcdefgh").write_bytes(b"another's")
    assert path.read_bytes() == b"old"
    write(b"new", path, "model file")
    assert len(names(tmp_path)) == 3  # it may still be writing
    long_ago = time.time() - 100_000
    for entry in tmp_path.iterdir():
        os.utime(entry, (long_ago, long_ago))
    write(b"newer", path, "model file")
    assert names(tmp_path) == sorted([".other.abcdefgh", name])
    assert path.read_bytes() == b"newer"


def test_an_error_leaves_the_earlier_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "m"
    write(b"old", path, "model file")
    with pytest.raises(TypeError), replacing(path, "model file") as file:
        file.write("text, not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["m"]


def test_the_folder_is_synced_after_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    real = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda handle: (synced.append(stat.S_ISDIR(os.fstat(handle).st_mode)), real(handle))
    )
    write(b"new", tmp_path / "m", "model file")
    assert synced == [False, True]


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "~nobody-of-this-name/m"])
def test_a_name_that_no_file_can_have_is_refused_with_a_sentence(path: str) -> None:
    with pytest.raises(BadOption, match=r"^model file '.*': wanted the name of a file, got .*\.$"):
        local_path(path, "model file")
    model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    with pytest.raises(BadOption):
        model.save(path)
    with pytest.raises(BadModelFile):
        tb.load(path)
    with pytest.raises(BadOption):
        tb.fit("rows.csv", "y", checkpoint=path)


def test_a_model_that_could_not_be_read_back_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    model.save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    monkeypatch.setattr(type(model.schema.blocks[0].event), "spec", "categorical(evil=1)")
    with pytest.raises(BadModelFile, match=r"^model file '.*': wanted a model that can be read back, got another \("):
        model.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before


def test_a_link_that_leads_to_itself_is_refused_and_stays(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(BadOption, match="a link that leads to itself"):
        write(b"new", one, "model file")
    assert names(tmp_path) == ["one", "other"]
    assert one.is_symlink()
