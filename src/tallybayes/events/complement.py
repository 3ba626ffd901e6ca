"""Complement: like multinomial, but each class is judged by how badly all *other* classes explain the row.

Remembered: the same counts as multinomial. Believed: θ_k = (count of k outside the class + α) / (total outside + αV);
a face says −log θ_k for the class (Rennie et al., 2003). It is steadier where some classes have few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallybayes.encoded import Dense, Floats, Sparse
from tallybayes.events.base import ClassCodes, Counted, Event, How, Weights, negative_or_infinite
from tallybayes.events.dirichlet import contrast, log_share
from tallybayes.events.evident import evident_alpha
from tallybayes.events.multinomial import DieDoubt, add_products, count_bag, own_entries
from tallybayes.statistic import Axis, Statistic

__all__ = ["Complement"]

_LEAST_ALPHA = 1e-10


@dataclass(frozen=True)
class Complement(Event):
    """Counts of the faces of one die, judged by the rolls of all other classes.

    Parameters
    ----------
    group : str
        Columns declared with different groups belong to different dice.

    Examples
    --------
    >>> import tallybayes as tb
    >>> words = {"cheap": [2, 0], "hello": [1, 3], "kind": ["spam", "ham"]}
    >>> model = tb.fit(words, "kind", events="complement")
    >>> model.table("cheap").values      # outside ham: (2+1)/(3+2), outside spam: (0+1)/(3+2)
    array([[0.6, 0.2]])
    """

    group: str = ""

    name: ClassVar[str] = "complement"
    takes: ClassVar[Any] = "bag"
    wants: ClassVar[str] = "finite numbers not below 0"
    axes: ClassVar[dict[str, Axis]] = {"counts": "column"}

    def unfit(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
        """Negative or infinite values."""
        return negative_or_infinite(values)

    def count(self, data: Dense | Sparse, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """How often each face came up in each class."""
        return {"counts": count_bag(data, classes, n_classes, weights)}, ()

    def estimate(self, statistic: Statistic, how: How) -> Floats:  # (F, C)
        """Minus the log-share of each face among all other classes."""
        (counts, totals), alpha = _outside(statistic), _alpha(how)
        return np.ascontiguousarray(-log_share(counts, totals, alpha[:, None], len(counts), alpha.sum()))

    def evident_alpha(self, statistic: Statistic) -> Floats:
        """The one smoothing under which the counts of all faces are most probable."""
        counts = statistic.sums["counts"].to_float()
        return np.full(counts.shape[1], evident_alpha(counts))

    def freedom(self, statistic: Statistic, parameters: Any) -> int:
        """The faces of a die, but for the last."""
        return max(int(statistic.sums["counts"].shape[1]) - 1, 0)

    def contrast(self, parameters: Floats) -> Floats:
        """Each face's log-shares less the largest."""
        return contrast(parameters)

    def score(self, parameters: Floats, data: Dense | Sparse, out: Floats) -> None:
        """Σ count · −log θ."""
        add_products(data, parameters, out)

    def leave_one_out(
        self,
        statistic: Statistic,
        how: How,
        data: Dense | Sparse,
        classes: ClassCodes,
        weights: Weights,
        out: Floats,
    ) -> None:
        """As `score`, with the row's own counts taken from the outside of every class but its own."""
        outside = statistic.sums["counts"].others()
        totals = outside.sum(axis=1)
        row, column, value, w, size = own_entries(data, weights)
        alpha = _alpha(how)
        for c in range(outside.shape[0]):
            taken = np.where(classes == c, 0.0, w)[row]
            at = np.full(len(row), c)
            count, total = outside.less((at, column), taken, value), totals.less((at,), taken, size[row])
            left = log_share(count, total, alpha[column], data.width, alpha.sum())
            out[:, c] -= np.bincount(row, value * left, minlength=len(data))

    def doubt(self, statistic: Statistic, how: How) -> DieDoubt:
        """What is not known of the shares outside each class.

        What is outside of two classes is in part the same, which is not made use of: with three classes or more the
        doubts are on the large side.
        """
        return DieDoubt.of(*_outside(statistic), _alpha(how))

    def add_doubt(self, doubts: DieDoubt, data: Dense | Sparse, out: Floats) -> None:
        """Add the variance of Σ count · −log θ."""
        doubts.add(data, out)

    def sample(self, parameters: Floats, c: int, size: int, rng: np.random.Generator) -> list[npt.NDArray[Any]]:
        """Each row one roll of the die whose faces are the rarer the more often the other classes show them."""
        p = np.exp(parameters[:, c])
        return list(rng.multinomial(1, p / p.sum(), size=size).T)

    def table(self, statistic: Statistic, parameters: Floats, f: int) -> tuple[tuple[Any, ...], Floats | None, Floats]:
        """One row: the count in the class, and the share among all other classes."""
        counts = statistic.sums["counts"].take(np.array([f]), axis=1).to_float().T
        return ("share outside",), counts, np.exp(-parameters[f : f + 1])


def _outside(statistic: Statistic) -> tuple[Floats, Floats]:
    """The counts outside each class (F, C), and their totals (C,)."""
    outside = statistic.sums["counts"].others()
    return outside.to_float().T, outside.sum(axis=1).to_float()


def _alpha(how: How) -> Floats:
    # Without smoothing a face that no other class has shown would speak for its class without measure, and two such
    # faces of different classes would contradict each other without measure.
    return np.maximum(how.alpha, _LEAST_ALPHA)
