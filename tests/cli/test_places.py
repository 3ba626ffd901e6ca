"""Commands on remote files, whose names are shown without the secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.objects import KEY, SECRET, Store, serving

from .shell import WEATHER, Shell


@pytest.fixture
def store(tally: Shell) -> Iterator[Store]:
    Path("store/bucket").mkdir(parents=True)
    Path("store/bucket/weather.csv").write_text(WEATHER)
    with serving(Path("store")) as made:
        yield made


def test_commands_take_uris_and_never_say_the_secret(tally: Shell, store: Store, model: str) -> None:
    uri = store.uri("bucket/weather.csv")
    for line in (
        "look '{}'",
        "fit '{}' -l play -o new.tally",
        "validate '{}' -l play",
        "predict weather.tally '{}'",
        "report '{}' -l play -o r.html",
        "explain weather.tally '{}:3'",
        "query '{}' play=yes",
        "fit '{}' -l nothing",
        "fit '{}' -l play --bad-lines skip -f",
    ):
        ran = tally(line.format(uri))
        assert ran.code == (2 if "nothing" in line else 0), ran.err
        for secret in (SECRET, "qzhushed", KEY, "127.0.0.1"):
            assert secret not in ran.out + ran.err, line
    assert Path("new.tally").read_bytes() == Path("weather.tally").read_bytes()
    assert SECRET not in Path("r.html").read_text()
    assert "qzhushed" not in Path("r.html").read_text()
    assert "s3://bucket/weather.csv" in tally.done(f"look '{uri}'")


def test_file_uris_are_paths(tally: Shell, model: str) -> None:
    tally.done(f"fit {Path('weather.csv').absolute().as_uri()} -l play -o new.tally")
    assert Path("new.tally").read_bytes() == Path("weather.tally").read_bytes()
    assert tally.refused("fit s3:///weather.csv -l play -f") == (
        "s3:///weather.csv: wanted a bucket, as in s3://bucket/file.csv, got none."
    )
