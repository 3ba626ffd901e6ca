"""Mutual information of pairs of columns, given the class and overall, in bits.

Notation: a and b are columns, c the class, n a count, N its total. I(a; b) is mutual information,
I(a; b | c) conditional mutual information given the class.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats
from tallybayes.structure.dependence_test import chi_squared
from tallybayes.structure.pairs import PairCounts

Bits = Floats
# Counts processed together: each temporary array takes 32 MB.
_CELLS = 1 << 22


@dataclass(frozen=True)
class Pair:
    """How far two columns depend on each other."""

    columns: tuple[str, str]  # the names of the two columns
    n: float  # the weight of rows in which neither is missing. All other figures are of these rows.
    given: float  # conditional mutual information given the class, in bits. Naive Bayes assumes that it is 0.
    # df, p, holm: degrees of freedom, the p-value of independence (a permutation test of Pearson's χ² within each
    # class), and the p-value corrected for the number of pairs (Holm)
    df: int
    p: float
    holm: float
    # the part of `given` that is due to chance: independent columns have this much on average, because rows are few.
    # Pairs are sorted by `given` minus `chance`.
    chance: float
    # overall, overall_df, overall_p, overall_holm: the same regardless of the class: mutual information
    overall: float
    overall_df: int
    overall_p: float
    overall_holm: float
    alone: tuple[float, float]  # mutual information of each column with the class, in bits
    together: float  # mutual information of both columns together with the class, in bits
    # `together` minus the sum of `alone`, which equals `given` minus `overall`. Above 0, the pair tells what neither
    # column tells alone; below 0, the columns are redundant.
    interaction: float


@dataclass(frozen=True, eq=False)
class Figures:
    """The figures of all pairs; every array has one entry per pair."""

    n: Floats  # the weight of rows in which neither column is missing
    # given, given_df, given_p, given_holm: I(a; b | c) in bits, degrees of freedom, and the p-value of independence,
    # alone and corrected for the number of pairs
    given: Bits
    given_df: Floats
    given_p: Floats
    given_holm: Floats
    # overall, overall_df, overall_p, overall_holm: the same regardless of the class: I(a; b)
    overall: Bits
    overall_df: Floats
    overall_p: Floats
    overall_holm: Floats
    chance: Bits  # the part of I(a; b | c) that is due to chance: its share of χ² under independence
    # first, second, both: mutual information with the class, in bits: of each column, and of both together
    first: Bits
    second: Bits
    both: Bits

    def take(self, order: npt.NDArray[np.intp]) -> Figures:
        """Return the figures in another order."""
        return Figures(*(getattr(self, field.name)[order] for field in fields(self)))

    def pair(self, k: int, columns: tuple[str, str]) -> Pair:
        """Return the figures of the k-th pair, which has these columns."""
        return Pair(
            columns=columns,
            n=float(self.n[k]),
            given=float(self.given[k]),
            df=int(self.given_df[k]),
            p=float(self.given_p[k]),
            holm=float(self.given_holm[k]),
            chance=float(self.chance[k]),
            overall=float(self.overall[k]),
            overall_df=int(self.overall_df[k]),
            overall_p=float(self.overall_p[k]),
            overall_holm=float(self.overall_holm[k]),
            alone=(float(self.first[k]), float(self.second[k])),
            together=float(self.both[k]),
            interaction=float(self.both[k] - self.first[k] - self.second[k]),
        )


def figures(counts: PairCounts) -> Figures:
    """Return the figures of every pair.

    Notes
    -----
    N·I(a; b | c) = Σ n(abc) log n(abc) n(c) / n(ac) n(bc), and likewise for the others. Degrees of freedom are
    Σ_c (A_c − 1)(B_c − 1), A_c and B_c being the numbers of values of the columns in class c.
    """
    pairs, cells = counts.pairs, counts.counts.to_float()
    shapes, starts = counts.sizes[pairs], counts.starts()  # (P, 2), (P,)
    found = {name: np.zeros(len(pairs)) for name in _MEASURED}
    for shape in np.unique(shapes, axis=0):  # there are far fewer shapes than pairs
        area = int(shape.prod())
        alike = np.flatnonzero((shapes == shape).all(axis=1))
        few = max(1, _CELLS // (len(cells) * area))
        for k in range(0, len(alike), few):
            at = alike[k : k + few]
            index = starts[at, None] + np.arange(area)
            tables = cells[:, index].reshape(len(cells), len(at), *shape).swapaxes(0, 1)
            for name, values in zip(_MEASURED, _of_tables(tables), strict=True):
                found[name][at] = values
    return Figures(**found, given_holm=holm(found["given_p"]), overall_holm=holm(found["overall_p"]))


_MEASURED = (
    *("n", "given", "given_df", "given_p", "chance"),
    *("overall", "overall_df", "overall_p", "first", "second", "both"),
)


def _of_tables(tables: Floats) -> tuple[Floats, ...]:
    """Measure pairs whose tables (pairs, C, A, B) have one shape."""
    n = tables.sum(axis=(1, 2, 3))
    ac, bc, ab = tables.sum(axis=3), tables.sum(axis=2), tables.sum(axis=1)
    c, a, b = ac.sum(axis=2), ac.sum(axis=1), bc.sum(axis=1)
    df = np.where(_used(ac) > 0, (_used(ac) - 1) * (_used(bc) - 1), 0).sum(axis=1)
    within, overall = chi_squared(tables), chi_squared(ab[:, None])
    given = _bits(tables, ac[..., None], bc[:, :, None], c[..., None, None])
    return (
        n,
        given,
        df,
        within.p,
        given * within.chance,
        _bits(ab, a[..., None], b[:, None], n[:, None, None]),
        np.where(n > 0, (_used(a) - 1) * (_used(b) - 1), 0),
        overall.p,
        _bits(ac, c[..., None], a[:, None], n[:, None, None]),
        _bits(bc, c[..., None], b[:, None], n[:, None, None]),
        _bits(tables, c[..., None, None], ab[:, None], n[:, None, None, None]),
    )


def _bits(joint: Floats, left: Floats, right: Floats, whole: Floats) -> Bits:  # (pairs,)
    """Return the mutual information of two margins within each whole, in bits.

    It is Σ n log₂(n · whole / (left · right)) / N.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # Ratio by ratio, since products of counts may overflow; cells without rows add nothing.
        terms = np.where(joint > 0, joint * np.log2((joint / left) * (whole / right)), 0.0)
    axes = tuple(range(1, joint.ndim))
    total = np.maximum(joint.sum(axis=axes), np.finfo(float).tiny)
    return np.asarray(np.maximum(terms.sum(axis=axes), 0.0) / total)


def _used(part: Floats) -> npt.NDArray[np.int64]:
    """Return how many entries of the last axis are not zero."""
    return np.asarray(np.count_nonzero(part, axis=-1))


def holm(p: npt.ArrayLike) -> Floats:
    """Correct p-values for their number, so that the chance of any false alarm is bounded.

    Notes
    -----
    Holm 1979: the k-th smallest of m times (m − k + 1), made non-decreasing. It holds however the tests depend on
    each other, and pairs that share a column do. Benjamini and Hochberg's would need them nearly independent.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()      # 3 · 0.01; 2 · 0.03; at least that
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    steps = np.arange(len(values), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * steps), 1.0) if len(values) else values
    return corrected
