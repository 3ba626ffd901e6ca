"""Leave-one-out scores by the presence and absence of tokens (bernoulli).

Absent tokens are summed once for each class, and for each class without a row of a given weight; a row then adds the
change that its own tokens make. Notation as in `bag_rows`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import ClassCodes
from tallybayes.events.families.bag_rows import Alpha, BagRows, ChangedCells, LogCounts, all_of, alpha_of
from tallybayes.events.families.dirichlet import log_share
from tallybayes.events.inputs import Floats
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact

__all__ = ["Presence"]

Index = npt.NDArray[np.intp]


class Presence:
    """Scores by the presence and absence of tokens (bernoulli), without the row in its class.

    Parameters
    ----------
    rows : BagRows
        The rows, each token once.
    ones : SparseExact, shape (C, V)
        The weight of the rows that have each token.
    present : Exact, shape (C,) or (C, V)
        The weight of all rows, or of those in which each token is not missing; (C,) where the view changes.
    """

    def __init__(self, rows: BagRows, ones: SparseExact, present: Exact) -> None:
        self.rows, self.present, (self.C, self.V) = rows, present, ones.shape
        self.per_token = len(present.shape) > 1
        self.c, self.token = ones.places.rows, ones.places.columns()
        self.zeros = self._present_at(self.c, self.token) - ones.values  # where ones are; elsewhere `present`
        self.n = np.broadcast_to(present.to_float().reshape(self.C, -1), ones.shape)
        places, at = ones.places.of_columns(rows.used)
        columns = places.columns()
        self.at = columns.astype(np.intp) * self.C + places.rows
        n = self.n[places.rows, rows.used[columns]]
        self.change = _Change(ones.values.take(at).to_float(), self.zeros.take(at).to_float(), n, columns)
        e = rows.kept
        self.own = self._own_change(ones, rows.own[e.row], e.token, rows.weigh(e))
        self.cells = x = ChangedCells(rows, ones.places)
        taken = np.where(x.mine, x.weight, 0.0)
        self.cell_zeros = np.maximum(self.zeros.take(x.at).less(all_of(x.at), taken), 0.0)
        self.cell_n = np.maximum(present.less((x.c,), taken) if len(x.at) else taken, 0.0)
        order = np.argsort(self.c, kind="stable")
        order = order[rows.view[self.token[order]]]
        self.of_class = np.split(order, np.cumsum(np.bincount(self.c[order], minlength=self.C))[:-1])
        groups = np.unique(np.stack([rows.own, rows.weight], axis=1), axis=0, return_inverse=True)
        self.groups, self.group = groups[0], groups[1].reshape(-1)
        self.counted = lru_cache(4 * self.C)(self._count_absent)

    def _own_change(self, ones: SparseExact, own: ClassCodes, token: Index, weight: Floats) -> _Change:
        """Return the change that each entry makes to its own class without the row."""
        n = self.present.less((own, token) if self.per_token else (own,), weight)
        found = ones.places.find(own, token)
        cell = (np.maximum(found, 0),)  # a row of weight 0 may have a token that was never counted
        zeros = np.where(found >= 0, self.zeros.less(cell, weight), n)
        having = np.where(found >= 0, ones.values.less(cell, weight), 0.0)
        return _Change(np.maximum(having, 0.0), np.maximum(zeros, 0.0), np.maximum(n, 0.0), token)

    def scores(self, alpha: Alpha) -> Floats:  # (n, C)
        """Return the sum of all tokens' log-probabilities of presence or absence."""
        rows, mine = self.rows, (np.arange(self.rows.n), self.rows.own)
        few = alpha if isinstance(alpha, float) else alpha[rows.used]
        absent, never = self._absent([(c, 0.0) for c in range(self.C)], alpha)
        own_absent, own_never = (part[self.group] for part in self._absent(self.groups, alpha))
        scores = np.tile(absent, (rows.n, 1))
        rows.add_products(self._changes(few), scores)
        scores[mine] = own_absent + rows.total(rows.kept, self.own.logs(alpha))
        changed_absent, changed_never = self._changed(alpha)
        scores += changed_absent
        if np.all(np.asarray(alpha) > 0):
            return scores
        # Without smoothing, a row without a token that every row of a class has is impossible.
        impossible = np.tile(never, (rows.n, 1))
        table = np.zeros((len(rows.used), self.C))
        table.reshape(-1)[self.at] = -self.change.never(few)
        rows.add_products(table, impossible)
        impossible[mine] = own_never - rows.total(rows.kept, self.own.never(alpha))
        return np.where(impossible + changed_never > 0, -np.inf, scores)

    def _present_at(self, c: npt.NDArray[Any], token: npt.NDArray[Any]) -> Exact:
        """Return the weight of a class's rows in which a token is not missing."""
        if not self.per_token:
            return self.present.take(c)
        return self.present.reshape((self.C * self.V,)).take(c.astype(np.intp) * self.V + token)

    def _changes(self, alpha: Alpha) -> Floats:  # (used, C)
        """Return the amount that a token's presence adds, compared with its absence."""
        n = self.n[:, self.rows.used].T if self.per_token else self.n[:, :1].T
        each = alpha if isinstance(alpha, float) else alpha[:, None]
        table = np.empty((len(self.rows.used), self.C))
        with np.errstate(invalid="ignore"):  # all tokens that a class has never seen have the same
            table[:] = log_share(0.0, n, each, 2.0) - log_share(n, n, each, 2.0)
        table.reshape(-1)[self.at] = self.change.logs(alpha)
        return table

    def _absent(self, groups: Iterable[tuple[int, float]], alpha: Alpha) -> Floats:  # (2, groups)
        """Return each group's log-probability of having no token, and the number of tokens it must have."""
        return np.array([self._absent_of(int(c), weight, alpha) for c, weight in groups]).reshape(-1, 2).T

    def _absent_of(self, c: int, weight: float, alpha: Alpha) -> tuple[float, float]:
        if isinstance(alpha, float) and not self.per_token:
            left, zeros, times = self.counted(c, weight)
        else:
            left, zeros = self._absent_tokens(c, weight)
            times = self.rows.view.astype(np.float64)
        logs, never = _log_absent(zeros, left, alpha)
        return float((times * logs).sum()), float((times * never).sum())

    def _count_absent(self, c: int, weight: float) -> tuple[Floats, Floats, Floats]:
        """Return a class's weight without a row; the distinct weights without a token, and how often each occurs."""
        at, w = self.of_class[c], np.full(1, weight)
        left = np.maximum(self.present.less((np.array([c]),), w), 0.0)
        zeros = np.maximum(self.zeros.take(at).less(all_of(at), np.repeat(w, len(at))), 0.0)
        numbers, times = np.unique(zeros, return_counts=True)
        return left, np.append(numbers, left), np.append(times, self.rows.view.sum() - len(at)).astype(np.float64)

    def _absent_tokens(self, c: int, weight: float) -> tuple[Floats, Floats]:  # (V,)
        """Return a class's weight without a row, and the weight of its rows without each token."""
        every, at = np.arange(self.V), self.of_class[c]
        left = self._present_at(np.full(self.V, c), every).less(all_of(every), np.full(self.V, weight))
        zeros = left.copy()
        zeros[self.token[at]] = self.zeros.take(at).less(all_of(at), np.full(len(at), weight))
        return np.maximum(left, 0.0), np.maximum(zeros, 0.0)

    def _changed(self, alpha: Alpha) -> Floats:  # (2, n, C)
        """Return the corrections for tokens that leave the view or join it."""
        rows, cells = self.rows, self.cells
        if not len(cells.at):
            return np.zeros((2, rows.n, self.C))
        everywhere, _ = _log_absent(self.n[:, 0], self.n[:, 0], alpha)
        logs, never = _log_absent(self.cell_zeros, self.cell_n, alpha)
        change = rows.total(rows.changed, rows.sign)[:, None] * np.where(rows.others(self.C), everywhere, 0.0)
        change += cells.total(logs - np.where(cells.mine, 0.0, everywhere[cells.c]))
        return np.stack([change, cells.total(never)])


class _Change:
    """The amounts that tokens' presence adds, given the weight of rows with and without each."""

    def __init__(self, ones: Floats, zeros: Floats, n: Floats, token: npt.NDArray[Any]) -> None:
        self.ones, self.zeros, self.n = LogCounts(ones, token), LogCounts(zeros, token), n

    def logs(self, alpha: Alpha) -> Floats:
        """Return the difference of the log-probabilities; a token that cannot be absent has log 1 for absence."""
        present, absent = self.ones.logs(alpha), self.zeros.logs(alpha)
        if np.all(np.asarray(alpha) > 0):
            return np.asarray(present - absent)
        whole = self.n + 2 * alpha_of(alpha, self.ones.token)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(whole > 0, present - np.where(np.isneginf(absent), kernels.log(whole), absent), 0.0)

    def never(self, alpha: Alpha) -> Floats:
        """Return 1 where a token cannot be absent, otherwise 0."""
        return np.asarray((self.zeros.values + alpha_of(alpha, self.zeros.token) == 0) & (self.n > 0), np.float64)


def _log_absent(zeros: Floats, n: Floats, alpha: Alpha) -> tuple[Floats, Floats]:
    """Return the log-probability of absence, 0 where tokens cannot be absent; and 1 where that is so."""
    logs = log_share(zeros, n, alpha, 2.0)
    never = np.isneginf(logs)
    return np.where(never, 0.0, logs), never.astype(np.float64)
