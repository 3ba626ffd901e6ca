"""Pages for newcomers: printed output and figures of real data are true."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb

from .pages import ROOT, python_blocks, text_of

TOPICS = ROOT / "docs" / "topics"
PRINTING = [page for page in [ROOT / "docs" / "index.md", *sorted(TOPICS.glob("*.md"))] if "print(" in text_of(page)]


@pytest.mark.parametrize("page", PRINTING, ids=lambda page: page.name)
def test_what_a_page_shows_printed_is_what_is_printed(
    page: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    shown = 0
    for _, block in python_blocks(page):
        exec(block, names)
        printed = capsys.readouterr().out
        if printed:
            assert f"```\n{printed}```" in text_of(page), printed
            shown += 1
    assert shown


def test_every_topic_is_in_the_list_and_leads_on() -> None:
    listed = re.findall(r"\]\(([a-z-]+\.md)\)", text_of(TOPICS / "index.md"))
    assert sorted(listed) == sorted(page.name for page in TOPICS.glob("*.md") if page.name != "index.md")
    for here, following in pairwise(listed):
        assert re.search(rf"Next: \[[^]]+\]\({following}\)", text_of(TOPICS / here)), f"{here}: where is {following}?"


def test_the_list_of_topics_is_in_the_order_of_the_navigation() -> None:
    listed = re.findall(r"\]\(([a-z-]+\.md)\)", text_of(TOPICS / "index.md"))
    assert re.findall(r"topics/([a-z-]+\.md)", text_of(ROOT / "mkdocs.yml"))[1:] == listed


def per_cent(share: float) -> str:
    return f"{100 * share:.1f} %"


@pytest.mark.parametrize("name", ["sms-spam/sms_spam", "onion-or-not/onion_or_not"])
def test_the_figures_of_real_texts(name: str, data: Path) -> None:
    rows = pa.Table.from_batches(list(tb.read(data / f"{name}.csv.gz")))
    labels = np.array(rows.column("label").to_pylist())
    learned = np.arange(len(rows)) % 3 != 0
    model = tb.fit(rows.filter(pa.array(learned)), "label")
    said = model.predict(rows.filter(pa.array(~learned)))
    most = max((labels[~learned] == c).mean() for c in model.classes)
    page = text_of(TOPICS / "spam.md")
    assert f"On {len(rows):,} " in page
    assert f"gets {per_cent((said == labels[~learned]).mean())} right" in page
    assert per_cent(most) in page
    if "onion" in name:
        telling = {c: [f"*{one.word}*" for one in words] for c, words in model.table("text").top_words(3).items()}
        assert "for The Onion are {}, {} and {};".format(*telling["onion"]) in page
        assert "those against it {}, {} and {}.".format(*telling["not_onion"]) in page


def test_the_figures_of_a_word_in_real_messages(data: Path) -> None:
    asked = tb.probability(data / "sms-spam" / "sms_spam.csv.gz", "label=spam | text~free")
    page = text_of(TOPICS / "spam.md")
    assert f"*Free* is in {asked.total} of the messages, and {asked.hits} of these are spam" in page


def test_the_figures_of_real_patients(data: Path) -> None:
    rows = data / "heart-cleveland" / "heart_cleveland.csv.gz"
    page = text_of(TOPICS / "diagnosis.md")
    seen = tb.validate(rows, "label", "10-fold", missing_values=["?"]).evaluation
    assert f"right about {100 * seen.accuracy:.0f} % of patients" in page
    assert f"off by {100 * seen.calibration.ece:.0f} points" in page
    pain = tb.fit(rows, "label", missing_values=["?"], estimate="mle").table("cp")
    place = pain.rows.index("asympt")
    well, sick = pain.counts[place]
    assert f"{sick:.0f} are sick and {well:.0f} are not" in page
    well, sick = 100 * pain.values[place]
    assert f"{sick:.0f} % of all the sick, {well:.0f} % of all the others" in page
