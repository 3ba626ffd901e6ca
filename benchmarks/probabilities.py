"""The quality of probabilities: log-loss compared with scikit-learn's, and calibrated with uncalibrated."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import logsumexp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import tallybayes as tb
from benchmarks import workloads
from benchmarks.estimators import MISSED
from benchmarks.table import Growing
from tallybayes import sources

# The largest log-loss allowed for each set of texts: of the default; of single words, what 0.1 had and 0.006.
TARGETS = {
    "sms-spam": (0.048, 0.048),
    "onion-or-not": (0.342, 0.365),
    "movie-review-polarity": (0.31, 0.415),
    "reuters R52": (0.36, 0.4),
    "ag-news-test": (0.37, 0.372),
}
FEW_WORDS = 500  # documents of one word each, which are to be answered by its counts
# On sets with fewer rows, calibration may be worse than none by chance, by at most this log-loss.
FEW_ROWS, SLACK = 500, 0.01
MOST_ROWS = 50_000  # of a large set: enough to compare

Texts = tuple[list[str], list[Any]]


class Split(NamedTuple):
    """Texts to learn from and texts to test on."""

    train: Texts
    test: Texts


class Labelled(NamedTuple):
    """A data set: its rows, its classes (column or array), and its event models."""

    rows: Any
    label: Any = "label"
    events: Any = None


def run(repeat: int) -> str:
    """Return both tables; nothing is timed, so one run is enough."""
    folder = workloads.data_sets()
    if not folder.is_dir():
        return "Data sets not found: set TALLY_DATA to their folder."
    return f"{beside_theirs(folder)}\n\n{beside_uncalibrated(folder)}"


def beside_theirs(folder: Path) -> str:
    """Compare log-loss on a held-out third with scikit-learn's, with and without its calibration."""
    losses = "MultinomialNB", "sigmoid, 5 folds", "tallybayes", "single words", "at most"
    table = Growing("texts", *losses, "accuracy, theirs", "ours", "single words", "one word")
    for name, read in SPLITS.items():
        (texts, labels), (test_texts, truth) = read(folder)
        plain = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, labels)
        models = tb.fit(texts, labels), tb.fit(texts, labels, events="text")
        found = [_loss(truth, model.predict_proba(test_texts), list(model.classes)) for model in models]
        pairs = zip(found, TARGETS[name], strict=True)
        table.add(
            name,
            f"{_loss(truth, plain.predict_proba(test_texts), plain.classes_):.3f}",
            _sigmoid(texts, labels, test_texts, truth),
            *(f"{one:.3f}{'' if round(one, 3) <= most else f' {MISSED}'}" for one, most in pairs),
            " and ".join(f"{most:.3f}" for most in TARGETS[name]),
            f"{np.mean(plain.predict(test_texts) == np.array(truth)):.3f}",
            *(f"{np.mean(model.predict(test_texts) == np.array(truth)):.3f}" for model in models),
            _of_one_word(models[0], test_texts),
        )
    return table.markdown()


def _of_one_word(model: tb.Model, texts: list[str]) -> str:
    """Return how far documents of one word are from what its counts say; a cross if they are not the same."""
    words = sorted({word for text in texts for word in text.split() if word.isalpha() and word.isascii()})
    words = words[:: max(1, len(words) // FEW_WORDS)]
    counted = model.with_(calibrate=None)
    off = float(np.abs(model.predict_proba(words) - counted.predict_proba(words)).max())
    return f"{off:.0e}{'' if off <= 1e-9 else f' {MISSED}'}"


def _loss(truth: list[Any], probabilities: Any, classes: Any) -> float:
    return float(log_loss(truth, probabilities, labels=classes))


def _sigmoid(texts: list[str], labels: list[Any], test_texts: list[str], truth: list[Any]) -> str:
    if min(np.unique(labels, return_counts=True)[1]) < 5:
        return "not possible"
    calibrated = CalibratedClassifierCV(make_pipeline(CountVectorizer(), MultinomialNB()), method="sigmoid", cv=5)
    calibrated.fit(texts, labels)
    return f"{_loss(truth, calibrated.predict_proba(test_texts), calibrated.classes_):.3f}"


def beside_uncalibrated(folder: Path) -> str:
    """Compare ten-fold log-loss with and without calibration, on every labelled set."""
    heads = "rows", "classes", "class shares", "uncalibrated", "calibrated", "less by", "accuracy"
    table = Growing("data set", *heads)
    for name, read in SETS.items():
        rows, label, events = read(folder)
        before, after = (
            tb.validate(rows, label, "10-fold", events=events, missing_values=["?"], calibrate=how)
            for how in (None, "loo")
        )
        n = len(after.class_codes)
        less = _ten_fold_loss(before) - _ten_fold_loss(after)
        cross = "" if less > (0 if n >= FEW_ROWS else -SLACK) else f" {MISSED}"
        above = _row_losses(after) - _prior_losses(after)
        worse = above.mean() > above.std() / np.sqrt(len(above))
        table.add(
            name,
            f"{n:,}",
            str(len(after.classes)),
            f"{_prior_losses(after).mean():.4f}",
            f"{_ten_fold_loss(before):.4f}",
            f"{_ten_fold_loss(after):.4f}{f' {MISSED}' if worse else ''}",
            f"{less:.4f}{cross}",
            f"{after.evaluation.accuracy:.3f}",
        )
    return table.markdown()


def _ten_fold_loss(seen: tb.validation.Validation) -> float:
    return float(np.mean(_row_losses(seen)))


def _row_losses(seen: tb.validation.Validation) -> npt.NDArray[np.float64]:
    """Return losses from scores, which do not underflow; rows of classes unknown to their fold are left out."""
    scores = seen.scores if seen.calibrated is None else seen.calibrated
    own = scores[np.arange(len(scores)), seen.class_codes]
    known = ~seen.unknown
    return np.asarray(logsumexp(scores[known], axis=1) - own[known])


def _prior_losses(seen: tb.validation.Validation) -> npt.NDArray[np.float64]:
    """Return the losses of the same rows by the shares of the classes, each without the row itself."""
    codes, counts = seen.class_codes[~seen.unknown], np.bincount(seen.class_codes)
    return np.asarray(-np.log(np.maximum(counts[codes] - 1.0, 0.5) / (len(seen.class_codes) - 1.0)))


def _table(path: Path) -> pa.Table:
    return pa.Table.from_batches(list(sources.read(path, missing=["?"])))


def _texts(folder: Path, file: str, *columns: str) -> Texts:
    table = _table(folder / file)
    cells = [table.column(name).to_pylist() for name in columns]
    return [" ".join(cell or "" for cell in row) for row in zip(*cells, strict=True)], table.column("label").to_pylist()


def _third_held_out(folder: Path, file: str, *columns: str) -> Split:
    texts, labels = _texts(folder, file, *columns)
    a, b, c, d = train_test_split(texts, labels, test_size=1 / 3, random_state=0, stratify=labels)
    return Split((a, c), (b, d))


def _r52(folder: Path) -> Split:
    train, test = (_texts(folder, f"reuters-21578/reuters_r52_{part}.csv.gz", "title", "body") for part in PARTS)
    return Split(train, test)


def _file(folder: Path, file: str, leave_out: list[str]) -> Labelled:
    return Labelled(folder / file, events=dict.fromkeys(leave_out, "ignore") or None)


def _some(folder: Path, file: str) -> Labelled:
    """Return at most `MOST_ROWS` rows, at random."""
    table = _table(folder / file)
    some = np.sort(np.random.default_rng(0).permutation(len(table))[:MOST_ROWS])
    return Labelled(table.take(pa.array(some)))


def _digits(folder: Path, events: str | None) -> Labelled:
    images = gzip.decompress((folder / "mnist/t10k-images-idx3-ubyte.gz").read_bytes())
    digits = gzip.decompress((folder / "mnist/t10k-labels-idx1-ubyte.gz").read_bytes())
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)
    return Labelled(pixels.astype(float), np.frombuffer(digits, np.uint8, offset=8).astype(int), events)


PARTS = ("train", "test")
SPLITS: dict[str, Callable[[Path], Split]] = {
    "sms-spam": lambda folder: _third_held_out(folder, "sms-spam/sms_spam.csv.gz", "text"),
    "onion-or-not": lambda folder: _third_held_out(folder, "onion-or-not/onion_or_not.csv.gz", "text"),
    "movie-review-polarity": lambda folder: _third_held_out(
        folder, "movie-review-polarity/movie_review_polarity.csv.gz", "text"
    ),
    "reuters R52": _r52,
    "ag-news-test": lambda folder: _third_held_out(folder, "ag-news-test/ag_news_test.csv.gz", "title", "description"),
}
FILES: dict[str, tuple[str, ...]] = {  # and the columns that are no features
    "adult, train": ("adult/adult_train.csv.gz",),
    "adult, test": ("adult/adult_test.csv.gz",),
    "ag-news-test": ("ag-news-test/ag_news_test.csv.gz",),
    "audiology": ("audiology/audiology.csv.gz",),
    "breast-cancer": ("breast-cancer/breast_cancer.csv.gz",),
    "car": ("car/car.csv.gz",),
    "contact-lenses": ("contact-lenses/contact_lenses.csv.gz",),
    "credit-g": ("credit-g/credit_g.csv.gz",),
    "elec2": ("elec2/elec2.csv.gz",),
    "glass": ("glass/glass.csv.gz",),
    "heart-cleveland": ("heart-cleveland/heart_cleveland.csv.gz",),
    "house-votes-84": ("house-votes-84/house_votes_84.csv.gz",),
    "iris": ("iris/iris.csv.gz",),
    "kr-vs-kp": ("kr-vs-kp/kr_vs_kp.csv.gz",),
    "labor": ("labor/labor.csv.gz",),
    "movie-review-polarity": ("movie-review-polarity/movie_review_polarity.csv.gz", "fold", "file"),
    "mushroom": ("mushroom/mushroom.csv.gz",),
    "onion-or-not": ("onion-or-not/onion_or_not.csv.gz",),
    "pima-diabetes": ("pima-diabetes/pima_diabetes.csv.gz",),
    "reuters R52, train": ("reuters-21578/reuters_r52_train.csv.gz", "newid"),
    "reuters R52, test": ("reuters-21578/reuters_r52_test.csv.gz", "newid"),
    "sms-spam": ("sms-spam/sms_spam.csv.gz",),
    "supermarket": ("supermarket/supermarket.csv.gz",),
    "tic-tac-toe": ("tic-tac-toe/tic_tac_toe.csv.gz",),
    "titanic, 2,201": ("titanic/titanic_2201.csv.gz",),
    "titanic, passengers": ("titanic/titanic_passengers.csv.gz",),
    "weather, nominal": ("weather/weather_nominal.csv.gz",),
    "weather, numeric": ("weather/weather_numeric.csv.gz",),
    "wine": ("wine/wine.csv.gz",),
}
SETS: dict[str, Callable[[Path], Labelled]] = {
    **{name: partial(_file, file=file, leave_out=rest) for name, (file, *rest) in FILES.items()},
    "kddcup99-10pct, 50,000 rows": partial(_some, file="kddcup99-10pct/kddcup99_10pct.csv.gz"),
    "mnist, 10,000 digits, gaussian": partial(_digits, events="gaussian"),
    "mnist, 10,000 digits, bernoulli": partial(_digits, events="bernoulli(threshold=127)"),
}
