"""Accuracy and log-loss on tables, rung by rung, beside logistic regression, a random forest and LightGBM."""

from __future__ import annotations

import importlib.util
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
from benchmarks import workloads
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
WORSE_THAN_NAIVE = 0.01  # log-loss that "auto" may lose on a table
# Draws of few rows, on which "pairs" may lose so much at most. All forty take twice as long.
DRAWS, DRAWN, WORSE_ON_DRAWS = int(os.environ.get("QUALITY_DRAWS", "16")), (150, 250, 400), 0.006
TESTED = 1000  # rows that a model of a draw predicts

Probabilities = npt.NDArray[np.float64]
Learner = Callable[[pd.DataFrame, npt.NDArray[Any], pd.DataFrame], tuple[Any, Probabilities]]


class Figures(NamedTuple):
    """Accuracy in percent, mean log-loss, expected calibration error, and the loss of each row."""

    accuracy: float
    log_loss: float
    ece: float
    losses: npt.NDArray[np.float64]


def run(repeat: int) -> str:
    """Return all tables; nothing is timed, so one run is enough."""
    folder = workloads.data_sets()
    if not folder.is_dir():
        return "Data sets not found: set TALLY_DATA to their folder."
    return f"{ladder(folder)}\n\n{small_draws(folder)}\n\n{partial_rows(folder)}"


def ladder(folder: Path) -> str:
    """Compare rungs of the ladder with two partners on every table.

    Crosses mark means beyond their bounds; "auto" that is worse than the default by more than it may be; a default that
    is worse than the class shares by more than its error, or "select" than the default on average; and probabilities of
    large tables that do not hold.
    """
    table = Growing("table", "rows", *LEARNERS, "calibration error", "the same, auto")
    found: dict[str, list[Figures]] = {name: [] for name in LEARNERS}
    for name in TABLES:
        rows, labels = read(folder, name)
        for learner, make in LEARNERS.items():
            found[learner].append(figures(make, rows, labels))
        here = {learner: of[-1] for learner, of in found.items()}
        cells = (f"{one.accuracy:.1f} / {one.log_loss:.3f}{_cross(learner, here)}" for learner, one in here.items())
        eces = (here[learner].ece for learner in ("tallybayes", "auto"))
        large = len(rows) >= LARGE
        table.add(name, f"{len(rows):,}", *cells, *(f"{e:.3f}{_mark(large and e > CALIBRATED)}" for e in eces))
    means = {learner: np.mean([one[:3] for one in of], axis=0) for learner, of in found.items()}
    lost = means["select"][1] > means["tallybayes"][1] + 5e-4
    cells = (f"{_mean(learner, *mean[:2])}{_mark(learner == 'select' and lost)}" for learner, mean in means.items())
    table.add("mean", "", *cells, "", "")
    return table.markdown()


def _cross(learner: str, here: dict[str, Figures]) -> str:
    """Return a mark where a learner loses on a table what it must not."""
    mine, naive = here[learner], here["tallybayes"]
    if learner == "auto":
        return _mark(mine.log_loss > naive.log_loss + WORSE_THAN_NAIVE)
    more = naive.losses - here["class shares"].losses
    return _mark(learner == "tallybayes" and more.mean() > more.std() / np.sqrt(len(more)))


def _mark(missed: bool) -> str:
    return f" {MISSED}" if missed else ""


def small_draws(folder: Path) -> str:
    """Compare pairs with the default on draws of a few hundred rows."""
    table = Growing("draws of few rows", "draws", "tallybayes", "pairs", "auto", "pairs, worst", "auto, worst")
    large = [name for name in TABLES if len(read(folder, name)[0]) > 2 * DRAWN[-1]]
    by_size: dict[int, list[list[float]]] = {size: [] for size in DRAWN}
    for k in range(DRAWS):
        rows, labels = read(folder, large[k % len(large)])
        size, order = DRAWN[k % len(DRAWN)], np.random.default_rng(k).permutation(len(rows))
        train, test = order[:size], order[size : size + TESTED]
        test = test[np.isin(labels[test], labels[train])]
        learn = (ours(), ours(structure="pairs"), ours(structure="auto"))
        given = rows.iloc[train].reset_index(drop=True), labels[train], rows.iloc[test].reset_index(drop=True)
        answers = (one(*given) for one in learn)
        by_size[size].append([loss(list(classes), p, labels[test]) for classes, p in answers])
    for size, found in by_size.items():
        each = np.array(found)
        worst = (each[:, 1:] - each[:, :1]).max(axis=0)
        cells = [f"{mean:.3f}" for mean in each.mean(axis=0)]
        cells += [f"{worst[0]:+.4f}{_mark(worst[0] > WORSE_ON_DRAWS)}", f"{worst[1]:+.4f}"]
        table.add(f"{size} rows", str(len(each)), *cells)
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


def _mean(learner: str, accuracy: float, log_loss: float) -> str:
    least, most = BOUNDS.get(learner, (0.0, np.inf))
    return f"{accuracy:.1f} / {log_loss:.3f}{_mark(accuracy < least or round(log_loss, 3) > most)}"


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
    each = losses(list(classes), p, classes[y])
    return Figures(100 * seen.accuracy, float(each.mean()), seen.ece, each)


def loss(classes: list[Any], p: Probabilities, labels: npt.NDArray[Any]) -> float:
    """Return the mean log-loss."""
    return float(losses(classes, p, labels).mean())


def losses(classes: list[Any], p: Probabilities, labels: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the log-loss of each row; a class that was not learned has the least probability."""
    place = {name: k for k, name in enumerate(map(str, classes))}
    own = np.array([p[i, place[one]] if one in place else 0.0 for i, one in enumerate(labels)])
    return np.asarray(-np.log(np.clip(own / p.sum(axis=1), LEAST, 1)))


def ours(**options: Any) -> Learner:
    """Return tallybayes with options of `fit`."""

    def learn(rows: pd.DataFrame, labels: npt.NDArray[Any], test: pd.DataFrame) -> tuple[Any, Probabilities]:
        model = tb.fit(rows.assign(label=labels), "label", **options)
        return model.classes, model.predict_proba(test)

    return learn


def selected(rows: pd.DataFrame, labels: npt.NDArray[Any], test: pd.DataFrame) -> tuple[Any, Probabilities]:
    """Return what `select` makes of the default model."""
    whole = rows.assign(label=labels)
    model = tb.fit(whole, "label").select(rows=whole).calibrate(whole)
    return model.classes, model.predict_proba(test)


def shares(rows: pd.DataFrame, labels: npt.NDArray[Any], test: pd.DataFrame) -> tuple[Any, Probabilities]:
    """Return the shares of the classes, whatever the row."""
    classes, counts = np.unique(labels, return_counts=True)
    return classes, np.tile(counts / counts.sum(), (len(test), 1))


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


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=0, n_jobs=2, verbose=-1)


LEARNERS: dict[str, Learner] = {
    "class shares": shares,
    "textbook": ours(calibrate=None, alpha=1, estimate="map"),
    "better columns": ours(calibrate=None),
    "tallybayes": ours(),
    "pairs": ours(structure="pairs"),
    "auto": ours(structure="auto"),
    "select": selected,
    "tan": ours(structure="tan"),
    "logistic regression": theirs(lambda: LogisticRegression(max_iter=2000), scaled=True),
    "random forest": theirs(lambda: RandomForestClassifier(500, random_state=0, n_jobs=2)),
    **({"LightGBM": theirs(lambda: _lightgbm())} if importlib.util.find_spec("lightgbm") else {}),
}
