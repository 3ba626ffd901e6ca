"""Accuracy and log-loss on tables, rung by rung, beside logistic regression and a random forest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import tallybayes as tb
from benchmarks.estimators import MISSED
from benchmarks.table import Growing

TABLES = [
    "labor",
    "iris",
    "wine",
    "glass",
    "audiology",
    "breast-cancer",
    "heart-cleveland",
    "house-votes-84",
    "pima-diabetes",
    "titanic",
    "tic-tac-toe",
    "credit-g",
    "car",
    "kr-vs-kp",
    "mushroom",
    "adult",
]
FILES = {"titanic": "titanic_passengers.csv.gz", "adult": "adult_train.csv.gz"}
IDENTIFIERS = {"titanic": ["name", "ticket", "cabin"]}
FOLDS = int(os.environ.get("QUALITY_FOLDS", "10"))  # fewer for a quick look
MOST_ROWS = 5000  # of a large table: enough to compare, and the forest ends the same day
LEAST = 1e-15  # a probability of 0 would make the mean infinite
# The bounds that the means have to keep: accuracy at least, log-loss at most; and the calibration error of large sets.
BOUNDS = {"tallybayes": (86.0, 0.325), "auto": (87.8, 0.28)}
LARGE, CALIBRATED = 1000, 0.02

Probabilities = npt.NDArray[np.float64]
Learner = Callable[[pd.DataFrame, npt.NDArray[Any], pd.DataFrame], tuple[Any, Probabilities]]


class Figures(NamedTuple):
    """Accuracy in percent, mean log-loss, and expected calibration error."""

    accuracy: float
    log_loss: float
    ece: float


def run(repeat: int) -> str:
    """Return both tables; nothing is timed, so one run is enough."""
    folder = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
    if not folder.is_dir():
        return "Data sets not found: set TALLY_DATA to their folder."
    return f"{ladder(folder)}\n\n{partial_rows(folder)}"


def ladder(folder: Path) -> str:
    """Compare rungs of the ladder with two partners on every table."""
    table = Growing("table", "rows", *(f"{name}" for name in LEARNERS), "calibration error")
    found: dict[str, list[Figures]] = {name: [] for name in LEARNERS}
    for name in TABLES:
        rows, labels = read(folder, name)
        for learner, make in LEARNERS.items():
            found[learner].append(figures(make, rows, labels))
        ece = found["tallybayes"][-1].ece
        cross = f" {MISSED}" if len(rows) >= LARGE and ece > CALIBRATED else ""
        cells = (f"{one[-1].accuracy:.1f} / {one[-1].log_loss:.3f}" for one in found.values())
        table.add(name, f"{len(rows):,}", *cells, f"{ece:.3f}{cross}")
    table.add("mean", "", *(_mean(learner, of) for learner, of in found.items()), "")
    return table.markdown()


def partial_rows(folder: Path) -> str:
    """Compare log-loss of rows that have lost columns at random with that of no calibration."""
    table = Growing("columns known", "uncalibrated", "calibrated", "tables")
    losses: dict[str, list[tuple[float, float]]] = {}
    for name in TABLES:
        rows, labels = read(folder, name, most=1500)
        rng = np.random.default_rng(0)
        train, test = train_test_split(np.arange(len(rows)), test_size=0.3, random_state=0, stratify=merged(labels))
        model = tb.fit(rows.iloc[train].assign(label=labels[train]), "label")
        width = rows.shape[1]
        for known in (1, 2, 4, 8, width):
            if known > width or (known == width and width in (1, 2, 4, 8)):
                continue
            some = rows.iloc[test].astype(object).copy()
            gone = np.argsort(rng.random(some.shape), axis=1) >= known
            some = some.mask(gone)
            for column in rows:
                some[column] = some[column].astype(rows[column].dtype if rows[column].dtype.kind == "f" else object)
            pair = tuple(
                loss(list(of.classes), of.predict_proba(some), labels[test])
                for of in (model.with_(calibrate=None), model)
            )
            losses.setdefault("all" if known == width else str(known), []).append(pair)
    for known, pairs in losses.items():
        before, after = np.mean(pairs, axis=0)
        cross = f" {MISSED}" if after > before + 1e-3 else ""
        table.add(known, f"{before:.3f}", f"{after:.3f}{cross}", str(len(pairs)))
    return table.markdown()


def _mean(learner: str, found: list[Figures]) -> str:
    accuracy, log_loss, _ = np.mean(found, axis=0)
    least, most = BOUNDS.get(learner, (0.0, np.inf))
    cross = f" {MISSED}" if accuracy < least or log_loss > most else ""
    return f"{accuracy:.1f} / {log_loss:.3f}{cross}"


def read(folder: Path, name: str, most: int = MOST_ROWS) -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Return a table and its labels; a stratified sample if it is large."""
    path = folder / name / FILES[name] if name in FILES else next((folder / name).glob("*.csv.gz"))
    rows = pd.read_csv(path, na_values="?").drop(columns=IDENTIFIERS.get(name, []))
    labels = rows.pop("label").astype(str).to_numpy()
    if len(rows) > most:
        kept, _ = train_test_split(np.arange(len(rows)), train_size=most, random_state=0, stratify=merged(labels))
        kept.sort()
        rows, labels = rows.iloc[kept].reset_index(drop=True), labels[kept]
    return rows, labels


def merged(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels with classes of one row put into the most frequent class, to draw by."""
    values, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return np.where(counts[codes] < 2, values[counts.argmax()], labels)


def figures(learner: Learner, rows: pd.DataFrame, labels: npt.NDArray[Any]) -> Figures:
    """Return the figures over all folds together."""
    classes, codes = np.unique(labels, return_inverse=True)
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(rows, labels)
    answers, truth = [], []
    for train, test in list(folds)[:FOLDS]:
        found, p = learner(
            rows.iloc[train].reset_index(drop=True), labels[train], rows.iloc[test].reset_index(drop=True)
        )
        whole = np.zeros((len(test), len(classes)))
        whole[:, np.searchsorted(classes, np.asarray(found, str))] = p
        answers.append(whole)
        truth.append(codes[test])
    p, y = np.concatenate(answers), np.concatenate(truth)
    seen = tb.evaluate(classes[y], p, tuple(classes))
    return Figures(100 * seen.accuracy, loss(list(classes), p, classes[y]), seen.ece)


def loss(classes: list[Any], p: Probabilities, labels: npt.NDArray[Any]) -> float:
    """Return the mean log-loss; a class that was not learned has the least probability."""
    place = {name: k for k, name in enumerate(map(str, classes))}
    own = np.array([p[i, place[one]] if one in place else 0.0 for i, one in enumerate(labels)])
    return float(-np.log(np.clip(own / p.sum(axis=1), LEAST, 1)).mean())


def ours(**options: Any) -> Learner:
    """Return tallybayes with options of `fit`."""

    def learn(rows: pd.DataFrame, labels: npt.NDArray[Any], test: pd.DataFrame) -> tuple[Any, Probabilities]:
        model = tb.fit(rows.assign(label=labels), "label", **options)
        return model.classes, model.predict_proba(test)

    return learn


def theirs(make: Callable[[], Any], *, scaled: bool = False) -> Learner:
    """Return an estimator of scikit-learn behind the usual preparation of mixed columns."""

    def learn(rows: pd.DataFrame, labels: npt.NDArray[Any], test: pd.DataFrame) -> tuple[Any, Probabilities]:
        numbers = [name for name in rows if rows[name].dtype.kind in "if"]
        values = [name for name in rows if name not in numbers]
        rows, test = rows.copy(), test.copy()
        for name in values:
            for frame in (rows, test):
                frame[name] = frame[name].map(lambda v: np.nan if pd.isna(v) else str(v)).astype(object)
        steps = [SimpleImputer(strategy="median", keep_empty_features=True)] + [StandardScaler()] * scaled
        prepare = make_column_transformer(
            (make_pipeline(*steps), numbers), (OneHotEncoder(handle_unknown="ignore", sparse_output=False), values)
        )
        model = make_pipeline(prepare, make()).fit(rows, labels)
        return model.classes_, model.predict_proba(test)

    return learn


LEARNERS: dict[str, Learner] = {
    "textbook": ours(calibrate=None, alpha=1, estimate="map"),
    "better columns": ours(calibrate=None),
    "tallybayes": ours(),
    "pairs": ours(structure="pairs"),
    "auto": ours(structure="auto"),
    "tan": ours(structure="tan"),
    "logistic regression": theirs(lambda: LogisticRegression(max_iter=2000), scaled=True),
    "random forest": theirs(lambda: RandomForestClassifier(500, random_state=0, n_jobs=2)),
}
