"""`tally mail`: from mailboxes to a filter that learns, forgets, explains and never loses a message."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tallybayes.cli.mail.command import COMMANDS
from tests.mail.messages import SHAPES, message
from tests.mail.served import launch

from .shell import Shell, write_mailboxes


@pytest.fixture
def mail(tally: Shell) -> Shell:
    """A shell in a folder with mailboxes and a filter."""
    write_mailboxes()
    for kind in ("spam", "ham"):
        Path("sorted", kind).mkdir(parents=True)
        for seed in range(30):
            Path("sorted", kind, f"{seed}.eml").write_bytes(message(kind, seed))
    tally.done("mail train --spam spam.mbox --ham ham.mbox -o mail.tally")
    tally.done("mail train --spam sorted/spam --ham sorted/ham -o other.tally")
    return tally


def digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


EXAMPLES = [
    (name, line)
    for name, (module, _) in COMMANDS.items()
    for line in getattr(import_module(f"tallybayes.cli.{module}"), name).examples
]


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line[:60] for _, line in EXAMPLES])
def test_every_example_runs_and_is_in_the_help(mail: Shell, name: str, line: str) -> None:
    assert f"\n    {line}\n" in mail.done(f"mail {name} --help")
    command, _, stdin = line.partition(" < ")
    if name == "train":
        Path("mail.tally").unlink()
    if name == "forget":
        mail.done("mail learn mail.tally --spam message.eml")
    if name == "serve":  # until it is terminated
        daemon = launch(*command.removeprefix("tally ").split())
        daemon.terminate()
        daemon.communicate(timeout=60)
        assert daemon.returncode == 0
        return
    mail.done(command.removeprefix("tally "), stdin=Path(stdin).read_bytes() if stdin else None)


def test_the_group_lists_its_commands_and_suggests_them(mail: Shell) -> None:
    shown = mail.done("mail --help")
    for name in COMMANDS:
        assert f"\n  {name} " in shown
    assert mail.refused("mail clasify mail.tally") == "No such command 'clasify'. Did you mean 'classify'?"


def test_training_says_what_was_learned(mail: Shell) -> None:
    ran = mail("mail train --spam spam.mbox sorted/spam --ham ham.mbox --class news=news.mbox -o three.tally")
    assert ran.out.startswith("MailFilter: 40 ham, 40 news, 70 spam, ")
    assert ran.out.endswith("Saved to three.tally.\n")
    assert mail.refused("mail train --spam spam.mbox --ham ham.mbox -o three.tally").startswith("three.tally:")
    few = mail("mail train --spam message.eml --ham ham.mbox -o few.tally --false-positives 0.001")
    assert "tally: 40 messages are too few for a share of 0.001" in few.err
    assert "tally: the filter is unsure of everything until it has two classes with 5 messages each." in few.err
    bounded = mail("mail train --spam spam.mbox --ham ham.mbox -o small.tally --max-tokens 100")
    assert "tokens were dropped so far, the rarest first, to keep 100." in bounded.err


def test_bad_options_are_one_sentence(mail: Shell) -> None:
    assert "wanted mailboxes of two classes or more, got only 'spam'" in mail.refused(
        "mail train --spam spam.mbox -o x"
    )
    assert "wanted mailboxes, got none" in mail.refused("mail learn mail.tally")
    assert "--class: wanted NAME=PATH, got 'x'" in mail.refused("mail learn mail.tally --class x")
    assert "none.mbox: no such file or folder." in mail.refused("mail learn mail.tally --spam none.mbox")
    Path("empty").mkdir()
    assert "empty: wanted messages, got none" in mail.refused("mail learn mail.tally --spam empty")
    assert "wanted up to 40 letters" in mail.refused("mail learn mail.tally --class 'a b=message.eml'")
    assert "wanted a mail filter, got a model of rows" in (
        mail.done("fit weather.csv --label play") and mail.refused("mail learn weather.tally --spam message.eml")
    )
    assert "Use it with 'tally mail'" in mail.refused("predict mail.tally weather.csv")


def test_classifying_prints_a_table_or_json(mail: Shell) -> None:
    table = mail.done("mail classify mail.tally spam.mbox sorted/ham").splitlines()
    assert len(table) == 70
    assert table[0].startswith("spam     spam 0.9")
    assert table[0].endswith("  spam.mbox:1")
    rows = [json.loads(line) for line in mail.done("mail classify mail.tally sorted/ham --json").splitlines()]
    assert rows[0]["path"] == "sorted/ham/0.eml"
    assert {row["class"] for row in rows} <= {"ham", "unsure"}
    assert list(rows[0]) == ["path", "class", "probabilities"]
    assert abs(sum(rows[0]["probabilities"].values()) - 1) < 1e-9


def test_exit_codes_are_those_of_bogofilter(mail: Shell) -> None:
    assert mail("mail classify mail.tally message.eml").code == 0
    assert mail("mail classify mail.tally", stdin=message("ham", 901)).code == 1
    assert mail("mail classify mail.tally -", stdin=b"").code == 2
    for line in ("mail classify none.tally message.eml", "mail classify mail.tally none.eml"):
        ran = mail(line)
        assert ran.code == 3
        assert ran.err.count("\n") == 1


def test_learning_and_forgetting_gives_back_the_file(mail: Shell) -> None:
    before = digest("mail.tally")
    mail.done("mail learn mail.tally --spam message.eml --ham sorted/ham --class news=news.mbox")
    assert digest("mail.tally") != before
    mail.done("mail forget mail.tally --spam message.eml --ham sorted/ham --class news=news.mbox")
    assert digest("mail.tally") == before
    assert "cannot forget: wanted a message that was learned" in mail.refused(
        "mail forget mail.tally --ham message.eml"
    )
    assert digest("mail.tally") == before
    mail.done("mail learn mail.tally --spam - -o new.tally", stdin=b"Subject: x\n\n")
    assert digest("mail.tally") == before


def test_merging_is_learning_all(mail: Shell) -> None:
    mail.done("mail merge mail.tally other.tally -o a.tally")
    mail.done("mail merge other.tally mail.tally -o b.tally")
    assert digest("a.tally") == digest("b.tally")
    assert "wanted two filters or more" in mail.refused("mail merge mail.tally -o c.tally")


def test_explaining_shows_tokens_and_counts(mail: Shell) -> None:
    shown = mail.done("mail explain mail.tally message.eml --top 3")
    assert "towards spam" in shown
    assert "Counts are messages with the token, among 40 ham, 40 spam." in shown
    found = json.loads(mail.done("mail explain mail.tally message.eml --json --top 3"))
    assert len(found["tokens"]) == 3
    assert set(found["tokens"][0]["counts"]) == {"ham", "spam"}


def test_checking_says_what_to_expect(mail: Shell) -> None:
    shown = mail.done("mail check sorted")
    assert "called unsure" in shown
    assert "1 − AUC" in shown
    found = json.loads(mail.done("mail check --spam spam.mbox --ham ham.mbox --newest 0.5 --json"))
    assert sum(found["tested"].values()) == 40
    assert "a folder for each class" in mail.refused("mail check empty")


def filtered(words: list[str], content: bytes) -> tuple[int, bytes, str]:
    code = "from tallybayes.cli.main import script; script()"
    done = subprocess.run([sys.executable, "-c", code, *words], input=content, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def test_filtering_adds_one_field(mail: Shell) -> None:
    content = message("spam", 77).replace(b"\n", b"\r\n") + b"\0\xff\r"
    code, out, err = filtered(["mail", "filter", "mail.tally"], content)
    field, _, rest = out.partition(b"\r\n")
    assert (code, rest, err) == (0, content, "")
    assert field.startswith(b"X-Tally: spam 0.9")


def test_whatever_fails_a_message_passes_unchanged(mail: Shell) -> None:
    content = b"To: x\n\n\xff\0"
    Path("broken.tally").write_bytes(Path("mail.tally").read_bytes()[:-5])
    for path in ("none.tally", "broken.tally", ".", "message.eml"):
        code, out, err = filtered(["mail", "filter", path], content)
        assert (code, out) == (3, content)
        assert err.startswith("tally: ")
        assert err.count("\n") == 1


def test_any_bytes_are_classified_learned_and_forgotten(mail: Shell) -> None:
    before = digest("mail.tally")
    Path("shapes").mkdir()
    for k, content in enumerate(SHAPES):
        Path("shapes", f"{k:02}").write_bytes(content)
    assert len(mail.done("mail classify mail.tally shapes").splitlines()) == len(SHAPES)
    mail.done("mail learn mail.tally --ham shapes")
    mail.done("mail forget mail.tally --ham shapes")
    assert digest("mail.tally") == before
