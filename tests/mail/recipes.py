"""The recipes of docs/mail-server.md, with the places of a test in place of a server's."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from .served import ROOT, client

PAGE = ROOT / "docs" / "mail-server.md"
SOCKET, PROGRAMS, SCRIPTS = "/run/tally-mail/mail.sock", "/usr/local/lib/tally-mail", "/etc/dovecot/tally"


def recipes() -> dict[str, str]:
    """Return the files on the page, by name."""
    found = re.findall(r"^`([^`\n]+)`:\n\n```\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return dict(found)


def recipe(name: str, address: Path, programs: Path, scripts: Path | None = None) -> str:
    """Return a file of the page with other places."""
    content = recipes()[name].replace(SOCKET, str(address)).replace(PROGRAMS, str(programs))
    return content.replace(SCRIPTS, str(scripts))


def install_client(programs: Path) -> None:
    """Copy the client to where recipes find it."""
    programs.mkdir(parents=True, exist_ok=True)
    shutil.copy(client(), programs / "tally-mail")
    (programs / "tally-mail").chmod(0o755)


def need(program: str) -> str:
    """Return the path of a program; without it, fail where Debian's is installed, and skip elsewhere."""
    found = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/lib/dovecot")
    if found is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{program} is not installed")
    assert found is not None
    return found
