"""The tables of an evaluation, and the remarks below them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tallybayes.display.tables import Grid, Sheet, number
from tallybayes.evaluation.confusion import Confusion
from tallybayes.evaluation.losses import LogLoss
from tallybayes.evaluation.roc import RocCurve

if TYPE_CHECKING:
    from tallybayes.evaluation.evaluate import Evaluation


def remarks(confusion: Confusion, loss: LogLoss, curves: Mapping[Any, RocCurve]) -> tuple[str, ...]:
    """Return a sentence for each figure that is undefined, infinite or below the diagonal."""
    notes = []
    if loss.impossible:
        rows = "1 row" if loss.impossible == 1 else f"{loss.impossible} rows"
        rest = f"over the others it is {loss.rest:.4f}" if loss.rest == loss.rest else "there are no others"
        notes.append(f"Log-loss is infinite: {rows} had probability 0 for the true class; {rest}.")
    absent = _named(confusion, confusion.support == 0)
    if absent:
        notes.append(f"No rows of {absent}: sensitivity and ROC curve are undefined there, and averages omit them.")
    never = _named(confusion, confusion.matrix.sum(axis=0) == 0)
    if never:
        notes.append(f"Never decided for {never}: precision is undefined there, and averages omit it.")
    if not curves:
        notes.append("All rows are of one class, so there is no ROC curve.")
    for curve in curves.values():
        notes.extend(curve.notes())
    return tuple(notes)


def sheet(seen: Evaluation) -> Sheet:
    """Return tables: figures overall and by class, confusion matrix, calibration."""
    grids = (_overall(seen), _by_class(seen), seen.confusion.shown(), seen.calibration.shown())
    title = f"Evaluation: {number(seen.rows)} rows, {len(seen.classes)} classes"
    return Sheet(title, grids, seen.notes)


def _overall(seen: Evaluation) -> Grid:
    low, high = seen.accuracy_interval()
    rows = [("accuracy", number(seen.accuracy), f"{low:.4f} to {high:.4f}")]
    for name, value in (("log-loss", seen.log_loss), ("Brier score", seen.brier), ("calibration error", seen.ece)):
        rows.append((name, number(value), ""))
    single = next(iter(seen.curves.values())) if len(seen.curves) == 1 else None
    area = "{:.4f} to {:.4f}".format(*single.interval()) if single else ""
    rows.append((f"AUC of {single.positive}" if single else "AUC (macro)", number(seen.auc), area))
    precision = f"average precision of {single.positive}" if single else "average precision (macro)"
    rows.append((precision, number(seen.average_precision), ""))
    rows += [("Matthews' correlation", number(seen.mcc), ""), ("Cohen's κ", number(seen.kappa), "")]
    if seen.cost is not None:
        rows.append(("cost per row", number(seen.cost), ""))
    return Grid("", ("", "value", "95 % interval"), tuple(rows))


def _by_class(seen: Evaluation) -> Grid:
    rows = []
    for name, support in zip(seen.classes, seen.confusion.support, strict=True):
        one, curve = seen[name], seen.curves.get(name)
        # With two classes only the positive one has a curve; the other's is the same curve, mirrored.
        area = number(curve.auc) if curve else "–" if len(seen.classes) > 2 or not seen.curves else ""
        figures = (one.sensitivity, one.specificity, one.precision, one.f1)
        rows.append((str(name), number(support), *map(number, figures), area))
    for title, mean in (("macro average", seen.macro), ("weighted average", seen.weighted)):
        rows.append((title, number(seen.rows), *map(number, mean), ""))
    columns = ("class", "rows", "sensitivity", "specificity", "precision", "F1", "AUC")
    return Grid("", columns, tuple(rows))


def _named(confusion: Confusion, mask: Any) -> str:
    listed = [repr(confusion.classes[c]) for c in np.flatnonzero(mask)]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")
