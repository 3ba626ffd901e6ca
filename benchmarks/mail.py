"""The mail filter beside bogofilter, on the SpamAssassin corpus: the same split, the same files, the same run.

Paths under ham/ and spam/ are sorted, shuffled by `random.Random(7)`, and halved: the first half trains, the second
tests. Both sides read every message from its own file. bogofilter runs once for all messages of a half, in bulk mode,
with its defaults. In date order, each message is classified and then learned.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import best, cpu
from benchmarks.mail_delivery import deliver
from benchmarks.table import Growing
from tallybayes.mail import MailFilter
from tallybayes.mail.check import one_minus_auc, received

FALSE_POSITIVES = 0.001
WARM = 1000  # messages in date order before the second figure
TOKENS = 1_000_000
LEAST = 1e-12  # of a probability, in a log-loss

_RESIDENT = f"""
import sys
from tallybayes.cli.main import keep_pandas_out
keep_pandas_out()
from tallybayes.mail import MailFilter
mail = MailFilter.load(sys.argv[1])
assert mail.n_tokens >= {TOKENS}
print(int(open("/proc/self/statm").read().split()[1]) * 4096)
"""

Split = list[tuple[str, str]]  # class and path


def run(repeat: int) -> str:
    """Measure both filters, and return the table."""
    corpus = Path(os.environ.get("TALLY_DATA", "")) / "spamassassin" / "spamassassin_raw.tar.gz"
    if not corpus.is_file():
        return "Corpus not found: set TALLY_DATA to the folder of data sets."
    table = Growing("figure", "tallybayes", "bogofilter", "target")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(corpus) as archive:
            archive.extractall(folder, filter="data")
        found = sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())
        random.Random(7).shuffle(found)
        files = [(path.split("/")[0], str(Path(folder, path))) for path in found]
        half = len(files) // 2
        _split(table, files[:half], files[half:], Path(folder), repeat)
        _in_date_order(table, files)
        _resident(table, files, Path(folder))
    return table.markdown()


def _read(files: Split) -> list[tuple[str, bytes]]:
    return [(name, Path(path).read_bytes()) for name, path in files]


def _split(table: Growing, train: Split, test: Split, folder: Path, repeat: int) -> None:
    trained = best(lambda: MailFilter.train(_read(train)), repeat)
    mail: MailFilter = trained.result
    asked = best(lambda: list(mail.classify_all(content for _, content in _read(test))), repeat)
    spam = np.array([name == "spam" for name, _ in test])
    ours = _figures(
        np.array([one.margin for one in asked.result]),
        np.array([one.probabilities["spam"] for one in asked.result]),
        spam,
    )
    ours |= {"train": len(train) / trained.seconds, "classify": len(test) / asked.seconds}
    ours["train_core"] = len(train) / cpu(lambda: MailFilter.train(_read(train)), repeat)
    ours["classify_core"] = len(test) / cpu(lambda: list(mail.classify_all(one for _, one in _read(test))), repeat)
    theirs, words = _bogofilter(train, test, spam, folder, repeat)
    for key, name, shown, target in (
        ("auc", "1 − AUC", "{:.4f} %", "≤ .020 %"),
        ("recall", f"recall at ≤ {FALSE_POSITIVES:.1%} false positives", "{:.1f} %", "≥ 97.5 %"),
        ("positives", "ham with p(spam) > .5", "{:.0f}", "–"),
        ("negatives", "spam with p(spam) ≤ .5", "{:.0f}", "–"),
        ("loss", "log-loss", "{:.4f}", "–"),
        ("train", "training, messages/s", "{:,.0f}", "≥ 8,000"),
        ("train_core", "training, messages per second of one core", "{:,.0f}", "–"),
        ("classify", "classifying, messages/s", "{:,.0f}", "≥ 10,000"),
        ("classify_core", "classifying, messages per second of one core", "{:,.0f}", "–"),
    ):
        table.add(name, *("–" if side is None else shown.format(side[key]) for side in (ours, theirs)), target)
    mail.save(folder / "served.tally")
    found = deliver(folder / "served.tally", [path for _, path in test], words)
    table.add("one delivery, median", *("–" if one is None else f"{1e3 * one:.1f} ms" for one in found), "≤ 10 ms")


def _figures(scores: Any, probabilities: Any, spam: Any) -> dict[str, float]:
    others = np.sort(scores[~spam])[::-1]
    limit = others[int(len(others) * FALSE_POSITIVES)]
    lost = np.log(np.maximum(np.where(spam, probabilities, 1 - probabilities), LEAST))
    return {
        "auc": 100 * (one_minus_auc(scores.tolist(), spam.tolist()) or 0.0),
        "recall": 100 * float((scores[spam] > limit).mean()),
        "positives": float((probabilities[~spam] > 0.5).sum()),
        "negatives": float((probabilities[spam] <= 0.5).sum()),
        "loss": -float(lost.mean()),
    }


def _bogofilter(
    train: Split, test: Split, spam: Any, folder: Path, repeat: int
) -> tuple[dict[str, float] | None, str | None]:
    """Return bogofilter's figures and the folder of its words, if it is installed."""
    if shutil.which("bogofilter") is None:
        return None, None

    def call(*words: str, files: Sequence[str]) -> str:
        lines = "".join(f"{path}\n" for path in files)
        done = subprocess.run(["bogofilter", *words], input=lines, capture_output=True, text=True, check=False)
        assert done.returncode < 3, done.stderr
        return done.stdout

    def learn() -> str:
        words = tempfile.mkdtemp(dir=folder)
        for flag, kind in (("-s", "spam"), ("-n", "ham")):
            call("-d", words, flag, "-b", files=[path for name, path in train if name == kind])
        return words

    trained = best(learn, repeat)
    asked = best(lambda: call("-d", trained.result, "-TT", "-b", files=[path for _, path in test]), repeat)
    p = np.array([float(line.rsplit(" ", 1)[1]) for line in asked.result.splitlines()])
    assert len(p) == len(test)
    rates = {"train": len(train) / trained.seconds, "classify": len(test) / asked.seconds}
    rates["train_core"] = len(train) / _cpu_of_children(learn, repeat)
    bulk = [path for _, path in test]
    rates["classify_core"] = len(test) / _cpu_of_children(
        lambda: call("-d", trained.result, "-TT", "-b", files=bulk), repeat
    )
    return _figures(p, p, spam) | rates, trained.result


def _cpu_of_children(work: Callable[[], object], repeat: int) -> float:
    """Return the fewest seconds of processor time that the processes of some work took."""
    fewest = float("inf")
    for _ in range(repeat):
        before = os.times()
        work()
        after = os.times()
        fewest = min(
            fewest, after.children_user + after.children_system - before.children_user - before.children_system
        )
    return fewest


def _in_date_order(table: Growing, files: Split) -> None:
    messages = sorted(((received(content), name, content) for name, content in _read(files)))
    mail, margins = MailFilter(), []
    for _, name, content in messages:
        margins.append(mail.classify(content).margin)
        mail.learn([(name, content)])
    spam = [name == "spam" for _, name, _ in messages]
    for first, target in ((0, "≤ .12 %"), (WARM, "≤ .035 %")):
        figure = 100 * (one_minus_auc(margins[first:], spam[first:]) or 0.0)
        what = f"after message {first:,}" if first else "all messages"
        table.add(f"classify, then learn, by date: 1 − AUC, {what}", f"{figure:.4f} %", "–", target)


def _resident(table: Growing, files: Split, folder: Path) -> None:
    """Measure a process that has loaded a filter of a million tokens."""
    mail, path, k = MailFilter.train(_read(files)), folder / "mail.tally", 0
    while mail.n_tokens < TOKENS:
        words = b" ".join(b"word%d" % one for one in range(k, k + 2000))
        mail.learn([("ham", b"\n" + words)])
        k += 2000
    mail.save(path)
    done = subprocess.run([sys.executable, "-c", _RESIDENT, str(path)], capture_output=True, text=True, check=True)
    table.add(f"memory of a process with {TOKENS:,} tokens", f"{int(done.stdout) / 1e6:.0f} MB", "–", "≤ 150 MB")
    table.add("file of these", f"{path.stat().st_size / 1e6:.1f} MB", "–", "–")
