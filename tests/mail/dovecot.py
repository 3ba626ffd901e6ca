"""A Dovecot of our own: its own configuration, sockets and port, in a folder that goes away."""

from __future__ import annotations

import grp
import imaplib
import os
import pwd
import smtplib
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .recipes import install_client, need, recipe

# What a recipe adds to: the least that delivers to, and serves, mailboxes of anyone with one password.
CONFIGURATION = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap lmtp
ssl = no
listen = 127.0.0.1
default_internal_user = {internal}
default_internal_group = {internal_group}
default_login_user = {login}
first_valid_uid = 1
disable_plaintext_auth = no
postmaster_address = postmaster@mail.example
hostname = mail.example
mail_location = maildir:~/Maildir
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/home/%u
}}
namespace inbox {{
  inbox = yes
  mailbox Junk {{
    auto = create
  }}
  mailbox Trash {{
    auto = create
  }}
  mailbox Archive {{
    auto = create
  }}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service lmtp {{
  unix_listener lmtp {{
    mode = 0600
  }}
}}
service anvil {{
  chroot =
}}
!include {folder}/tally.conf
"""
FILES = ("deliver", "into-junk", "out-of-junk")


class Dovecot:
    """A running Dovecot: delivers over LMTP, and opens mailboxes over IMAP."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port

    def deliver(self, message: bytes, user: str = "ann") -> None:
        """Deliver a message as a mail server does."""
        with smtplib.LMTP(str(self.folder / "run" / "lmtp")) as lmtp:
            assert not lmtp.sendmail("sender@mail.example", [f"{user}@mail.example"], message)

    @contextmanager
    def opened(self, user: str = "ann@mail.example") -> Iterator[imaplib.IMAP4]:
        """Log in as a user."""
        with imaplib.IMAP4("127.0.0.1", self.port, timeout=60) as mailbox:
            mailbox.login(user, "secret")
            yield mailbox

    def log(self) -> str:
        """Return what Dovecot has written."""
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""


@contextmanager
def dovecot(folder: Path, address: Path) -> Iterator[Dovecot]:
    """Run Dovecot with the recipes of the page; the daemon's socket is given to the owner of the mail."""
    program = need("dovecot")
    need("imap")
    need("lmtp")
    if os.getuid() == 0:  # the parts of Dovecot run as Debian's users, and mail belongs to someone else
        owner, internal, login = pwd.getpwnam("nobody"), "dovecot", "dovenull"
        folder.chmod(0o755)
        address.parent.chmod(0o755)
        os.chown(address, owner.pw_uid, owner.pw_gid)
    else:
        owner = pwd.getpwuid(os.getuid())
        internal = login = owner.pw_name
    for name in ("run", "state", "home", "sieve"):
        (folder / name).mkdir()
    os.chown(folder / "home", owner.pw_uid, owner.pw_gid)
    install_client(folder / "programs")
    for name in FILES:
        script = recipe(f"/etc/dovecot/tally/{name}.sieve", address, folder / "programs")
        (folder / "sieve" / f"{name}.sieve").write_text(script)
    ours = recipe("/etc/dovecot/conf.d/95-tally.conf", address, folder / "programs", folder / "sieve")
    (folder / "tally.conf").write_text(ours)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    group = grp.getgrgid(pwd.getpwnam(internal).pw_gid).gr_name
    text = CONFIGURATION.format(
        folder=folder,
        port=port,
        uid=owner.pw_uid,
        gid=owner.pw_gid,
        internal=internal,
        internal_group=group,
        login=login,
    )
    (folder / "dovecot.conf").write_text(text)
    process = subprocess.Popen([program, "-F", "-c", str(folder / "dovecot.conf")])
    running = Dovecot(folder, port)
    try:
        _wait(running, process)
        yield running
    finally:
        process.terminate()
        process.wait(30)


def _wait(running: Dovecot, process: subprocess.Popen[bytes]) -> None:
    """Wait until Dovecot answers."""
    end = time.monotonic() + 60
    while True:
        assert process.poll() is None, running.log()
        try:
            imaplib.IMAP4("127.0.0.1", running.port, timeout=10).shutdown()
            return
        except OSError:
            assert time.monotonic() < end, running.log()
            time.sleep(0.05)
