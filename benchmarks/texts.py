"""From strings to a model and to probabilities, compared with CountVectorizer and MultinomialNB.

The comparison uses the same settings: a smoothing of 1 and no temperature, as in MultinomialNB. The cost of our
defaults, smoothing and temperature chosen by leave-one-out, is a separate row, compared with our plain fit. The other
kinds of bag are compared with our multinomial one, on texts of twenty topics.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

import tallybayes as tb
from benchmarks import workloads
from benchmarks.clock import best
from benchmarks.table import Growing, marked, seconds
from tallybayes import sources
from tallybayes.exact.sparse import SparseExact
from tallybayes.storage.model_file import dump

SETS = {
    "film reviews": ("movie-review-polarity/movie_review_polarity.csv.gz", "text"),
    "news (Reuters)": ("reuters-21578/reuters_r52_train.csv.gz", "body"),
    "headlines": ("onion-or-not/onion_or_not.csv.gz", "text"),
}
LEAST_BYTES = 50e6
TOPICS, TOPIC_TEXTS, TOPIC_WORDS = 20, 11_000, 60_000
WORDS, MOST_LOADING = 10_000_000, 1.5  # words of a large model, and seconds in which it is loaded
PLAIN: dict[str, Any] = {"alpha": 1.0, "calibrate": None}


def run(repeat: int) -> str:
    """Measure each set of texts, repeated to at least 50 MB, and return the table."""
    folder = workloads.data_sets()
    if not folder.is_dir():
        return "Texts not found: set TALLY_DATA to the folder of data sets."
    table = Growing("work", "tallybayes", "MB/s", "beside", "ratio", "target")
    for name, (file, column) in SETS.items():
        texts, labels = _read(folder / file, column)
        megabytes = _megabytes(texts)
        what = f"{name}, {megabytes:.0f} MB"
        _measure(table, what, texts, labels, repeat)
        _fit(table, f"{what}, word pairs", texts, labels, (1, 2), repeat)
    _bags(table, repeat)
    _many_words(table)
    return table.markdown()


def _many_words(table: Growing) -> None:
    """Measure loading a model of many words."""
    texts = [" ".join(f"w{k}" for k in range(at, at + 1000)) for at in range(0, WORDS, 1000)]
    model = tb.fit(texts, ["a", "b"] * (len(texts) // 2), events="text", calibrate=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.tally")
        model.save(path)
        took, megabytes = best(lambda: tb.load(path), 3).seconds, path.stat().st_size / 1e6
    cell = marked(seconds(took), took <= MOST_LOADING)
    table.add(f"load a model of {WORDS:,} words", cell, f"{megabytes / took:.0f}", "-", "-", f"≤ {MOST_LOADING:g} s")


def _bags(table: Growing, repeat: int) -> None:
    """Measure each kind of bag with default options, and the size of its file."""
    texts, labels = _topics()
    megabytes = _megabytes(texts)
    for ngrams in ((1, 1), (1, 2)):
        beside: dict[str, float] = {}
        for bag in ("multinomial", "bernoulli", "complement"):
            what = f"{TOPICS} topics, {bag}{', word pairs' if ngrams == (1, 2) else ''}"
            events = f"text(bag={bag!r}, ngrams={ngrams})"
            fitted = best(lambda events=events: tb.fit(texts, labels, events=events), repeat)
            scored = best(lambda model=fitted.result: model.predict_proba(texts), repeat)
            for name, took in (("by default", fitted.seconds), ("predict_proba", scored.seconds)):
                plain = beside.setdefault(name, took)
                cells = seconds(took), f"{megabytes / took:.0f}", seconds(plain)
                ratio = marked(f"{took / plain:.2f}× multinomial", took <= 3 * plain)
                table.add(f"{what}: {name}", *cells, ratio, "≤ 3×")
        each = _bytes_per_count(fitted.result)
        table.add(f"{what}: file", marked(f"{each:.1f} bytes a count", each <= 16), "-", "-", "-", "≤ 16")


def _topics() -> tuple[list[str], list[str]]:
    """Return texts of about 150 words; topics share the words but differ in their frequencies."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(TOPIC_WORDS)])
    usual = 1 / np.arange(1, TOPIC_WORDS + 1) ** 1.05
    shares = np.cumsum(usual * np.exp(rng.normal(0, 1.2, (TOPICS, TOPIC_WORDS))), axis=1)
    topics = np.arange(TOPIC_TEXTS) % TOPICS
    drawn = (np.searchsorted(shares[c], rng.random(rng.poisson(150)) * shares[c, -1]) for c in topics)
    return [" ".join(words[some]) for some in drawn], [f"topic {c}" for c in topics]


def _bytes_per_count(model: tb.Model) -> float:
    """Return the bytes of a model's file, without its words, per non-zero count."""
    statistic = model.evidence.statistics[0]
    counts = [value for value in statistic.sums.values() if isinstance(value, SparseExact)]
    words = sum(len(word.encode()) + 8 for word in statistic.labels[0].values)
    return (len(dump(model)) - words) / sum(len(value.places.rows) for value in counts)


def _measure(table: Growing, what: str, texts: list[str], labels: list[Any], repeat: int) -> None:
    """Measure everything for one-word tokens."""
    megabytes = _megabytes(texts)
    model, (vectorizer, fitted) = _fit(table, what, texts, labels, (1, 1), repeat)
    ours = best(lambda: model.predict_proba(texts), repeat)
    theirs = best(lambda: fitted.predict_proba(vectorizer.transform(texts)), 1)
    _row(table, f"{what}: predict_proba", ours.seconds, theirs.seconds, megabytes, 20)
    ours = best(lambda: tb.CountVectorizer().fit_transform(texts), repeat)
    theirs = best(lambda: CountVectorizer().fit_transform(texts), 1)
    _row(table, f"{what}: CountVectorizer", ours.seconds, theirs.seconds, megabytes, 10)


def _fit(
    table: Growing, what: str, texts: list[str], labels: list[Any], ngrams: tuple[int, int], repeat: int
) -> tuple[Any, tuple[Any, Any]]:
    """Measure strings to a fitted model on both sides; return both models."""
    events = f"text(ngrams={ngrams})"
    ours = best(lambda: tb.fit(texts, labels, events=events, **PLAIN), repeat)

    def peer() -> tuple[Any, Any]:
        vectorizer = CountVectorizer(ngram_range=ngrams)
        return vectorizer, MultinomialNB().fit(vectorizer.fit_transform(texts), labels)

    theirs = best(peer, 1)
    megabytes = _megabytes(texts)
    _row(table, f"{what}: strings → model", ours.seconds, theirs.seconds, megabytes, 25)
    if ngrams == (1, 1):
        tuned = best(lambda: tb.fit(texts, labels, events=events), repeat).seconds
        more = marked(f"{tuned / ours.seconds:.2f}× plain", tuned <= 3 * ours.seconds)
        rate = f"{megabytes / tuned:.0f}"
        table.add(f"{what}: calibrated", seconds(tuned), rate, seconds(ours.seconds), more, "≤ 3×")
        default = best(lambda: tb.fit(texts, labels), repeat).seconds
        _row(table, f"{what}: by default, words and pairs", default, theirs.seconds, megabytes, 1)
    return ours.result, theirs.result


def _megabytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def _row(table: Growing, what: str, ours: float, theirs: float, megabytes: float, target: float) -> None:
    ratio = marked(f"{theirs / ours:.1f}×", theirs >= target * ours)
    table.add(what, seconds(ours), f"{megabytes / ours:.0f}", seconds(theirs), ratio, f"{target:g}×")


def _read(path: Path, column: str) -> tuple[list[str], list[Any]]:
    rows = pa.Table.from_batches(list(sources.read(path)))
    texts = [text or "" for text in rows.column(column).to_pylist()]
    times = int(-(-LEAST_BYTES // sum(len(text.encode()) for text in texts)))
    return texts * times, rows.column("label").to_pylist() * times
