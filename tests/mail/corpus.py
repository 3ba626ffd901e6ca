"""The SpamAssassin corpus, where the environment variable TALLY_DATA names the folder of data sets."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest


def read_corpus() -> dict[str, bytes]:
    """Return the messages by path, sorted; skip the test where they are not."""
    path = Path(os.environ.get("TALLY_DATA", "/nowhere")) / "spamassassin" / "spamassassin_raw.tar.gz"
    if not path.exists():
        pytest.skip("the environment variable TALLY_DATA names no folder with the corpus")
    found = {}
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                found[member.name] = file.read()
    return dict(sorted(found.items()))
