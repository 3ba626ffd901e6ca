"""A folder for each class, with a text in each file, as texts for a classifier are often kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.array_columns import prose_field
from tallybayes.sources.source import Source

_ENDINGS = ("", ".txt", ".text", ".md", ".eml", ".html", ".htm")
_BATCH_ROWS = 1000


def class_folders(path: str) -> dict[str, list[Path]] | None:
    """Return the text files of each class; None unless there are two folders or more, with nothing but texts.

    The files of a folder may lie in folders of their own.
    """
    full = Path(path).expanduser()
    if not os.path.isdir(full):  # False for a name that no file can have, where Path.is_dir raises
        return None
    try:
        folders = sorted(one for one in full.iterdir() if os.path.isdir(one) and not one.name.startswith((".", "_")))
    except OSError:  # not ours to read
        return None
    if len(folders) < 2 or any("=" in folder.name for folder in folders):
        return None
    found: dict[str, list[Path]] = {}
    for folder in folders:
        files = found[folder.name] = []
        for file in folder.rglob("*"):
            if file.name.startswith(".") or not os.path.isfile(file):
                continue
            if not _is_text(file):  # a folder of something else, perhaps a whole disk, is not read to its end
                return None
            files.append(file)
        if not files:
            return None
    return {name: sorted(files) for name, files in found.items()}


def _is_text(file: Path) -> bool:
    ending = file.suffix.lower()
    return ending in _ENDINGS or ending[1:].isdigit()  # mails are often numbered


def of_class_folders(path: str, folders: Mapping[str, Sequence[Path]], errors: str) -> Source:
    """Return a source of the texts of all folders: columns "text" and "label"."""
    schema = pa.schema([prose_field("text", pa.large_string()), pa.field("label", pa.string())])
    files = [(name, file) for name, each in folders.items() for file in each]

    def start() -> Iterator[pa.RecordBatch]:
        for at in range(0, len(files), _BATCH_ROWS):
            some = files[at : at + _BATCH_ROWS]
            texts = pa.array([_text_of(file, errors) for _, file in some], pa.large_string())
            yield pa.RecordBatch.from_arrays([texts, pa.array([name for name, _ in some])], schema=schema)

    return Source(schema, len(files), True, path, start)


def _text_of(file: Path, errors: str) -> str:
    content = file.read_bytes()
    try:
        return content.decode("utf-8-sig", "replace" if errors == "replace" else "strict")
    except UnicodeDecodeError:
        if b"\0" in content:
            raise BadData(wanted(os.fspath(file), "text", "binary data", "Leave it out of the folder")) from None
        return content.decode("latin-1")
