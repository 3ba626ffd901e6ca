"""A real PostgreSQL server, started in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

__all__ = ["database", "postgresql_server"]

_numbers = count(1)


def _programs() -> Path:
    """Return the folder of the newest server's programs, absent from Debian's path."""
    on_path = shutil.which("initdb")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not on_path and not found:
        missing = "no PostgreSQL server is here: install Debian's postgresql"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return found[-1].parent if found else Path(str(on_path)).resolve().parent


def _nobody() -> dict[str, Any]:
    """Return subprocess options for another user, since a server refuses to run as root."""
    if os.geteuid():
        return {}
    names = {one.pw_name: one for one in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def postgresql_server() -> Iterator[str]:
    """Start a server, and return the URL of its databases, without their name."""
    where, user = _programs(), _nobody()
    user["env"] = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # a sanitizer's
    with tempfile.TemporaryDirectory(prefix="tally-pg-", ignore_cleanup_errors=True) as folder:
        if "user" in user:
            os.chown(folder, user["user"], user["group"])

        def run(program: str, *words: str) -> None:
            done = subprocess.run(
                [where / program, "-D", f"{folder}/data", *words], cwd=folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False, **user,
            )  # fmt: skip
            assert done.returncode == 0, (program, words)

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        run("initdb", "--auth=trust", "--username=tally", "--encoding=UTF8", "--locale=C", "--no-sync")
        options = f"-k {folder} -p {port} -c listen_addresses=127.0.0.1 -c fsync=off"
        run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            yield f"postgresql://tally@127.0.0.1:{port}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


def database(server: str) -> str:
    """Make a new database in a server, and return its URL."""
    import psycopg

    name = f"tally{next(_numbers)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server}/{name}"
