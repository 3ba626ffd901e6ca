"""Likelihoods: what `Event.estimate` returns, and the terms that add up to a score.

Terms are weighted sums over classes: weight 1 for a class and −1 for its rival give the log-odds of each column. A
class of weight 0 adds nothing, even where its term is −∞.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.categories import Categories
from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Data, Dense, Floats, Value, real_columns
from tallybayes.events.plain_terms import PlainTerm
from tallybayes.events.statistic import Statistic

if TYPE_CHECKING:
    from tallybayes.events.text.token_cells import TokenWeights

__all__ = [
    "Drawn",
    "EstimateOptions",
    "Likelihood",
    "Pixels",
    "Profile",
    "add_terms_of",
    "no_plain_form",
    "weigh",
    "weigh_table",
]

Drawn: TypeAlias = list[npt.NDArray[np.generic] | pa.Array]
Table: TypeAlias = tuple[tuple[Value, ...], Floats | None, Floats]  # row names (K,), counts and values (K, C)
# Numbers (rows × classes × columns) computed at a time: 2 MB of doubles.
_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class EstimateOptions:
    """The options of an estimate, for one block of columns.

    Attributes
    ----------
    rule : {"mle", "map", "bayes"}
        The most likely parameters, the most probable ones, or the average over all of them.
    alpha : ndarray, shape (F,)
        The weight of the prior: pseudo-counts per value, or pseudo-rows. All zero under "mle".
    averaged : ndarray of bool, shape (F,), optional
        Whether a column whose values are counted is averaged over α instead: see `families.tree`.
    ddof : {0, 1}
        Variances divide by n − ddof where the rule is "mle" or "map".
    floor : float
        The least variance, as a share of the column's variance over all rows.
    unseen : {"smooth", "skip", "error"}
        How a value never seen in training is scored: as one more value with a count of zero, as missing, or not at all.
    weights : TokenWeights, optional
        The weights of tokens, by which texts left out are scored.
    """

    rule: Literal["mle", "map", "bayes"]
    alpha: Floats
    ddof: int = 0
    floor: float = 1e-9
    unseen: Literal["smooth", "skip", "error"] = "smooth"
    weights: TokenWeights | None = None
    averaged: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Profile:
    """The log-probabilities of one column, value by value.

    Attributes
    ----------
    kind : {"values", "numbers", "counts", "words"}
        Whether `values` lists all values, or points on a scale, or counts from 0 on, or words that a text may have.
    values : sequence
        The values (K,).
    log : ndarray, shape (K, C)
        The logarithm of the probability (or density) of each under each class.
    base : ndarray, shape (C,), optional
        The log-probability of a text without words.
    """

    kind: Literal["values", "numbers", "counts", "words"]
    values: Sequence[Value]
    log: Floats
    base: Floats | None = None


@dataclass(frozen=True)
class Pixels:
    """Columns as pixels: the brightness of each in each class, and its log-probability of being dark or lit.

    Attributes
    ----------
    unit : str
        What `average` measures.
    average : ndarray, shape (C, F)
        The brightness; NaN where a column's values are not numbers.
    dark, lit : ndarray, shape (C, F)
        Log-probabilities or log-densities, up to a constant that all classes share.
    """

    unit: str
    average: Floats
    dark: Floats
    lit: Floats


@dataclass(frozen=True, eq=False)
class Likelihood(ABC, Generic[Data]):
    """The likelihood of a block of columns: log-probabilities of its values under each class.

    Attributes
    ----------
    statistic : Statistic
        The sums that it was estimated from.
    options : EstimateOptions
        How it was estimated.
    """

    statistic: Statistic
    options: EstimateOptions

    @abstractmethod
    def add_log_prob(self, data: Data, out: Floats) -> Floats | None:
        """Add to ``out[i, c]`` the log-probability of row i's values under class c.

        Returns each row's length (see `Event.length`) where that comes free, otherwise None.
        """

    @abstractmethod
    def add_variance(self, data: Data, out: Floats) -> None:
        """Add the variance of row i's log-probability under class c to ``out[i, c]``.

        The variance is taken over the posterior of the parameters; it is ∞ where nothing is known of them.
        """

    def add_terms(self, data: Data, weights: Floats, out: Floats) -> None:
        """Add column f's log-probabilities of row i, weighted by class, to ``out[i, f]``.

        By default the `profile` at each value; override it where there is a quicker way.
        """
        for f, x in enumerate(real_columns(data)):
            present = np.flatnonzero(~np.isnan(x))
            out[present, f] += weigh(self.profile(f, x[present].tolist()).log, weights[present])

    @abstractmethod
    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return column f's log-probabilities at the given values, or at those that show it best."""

    def of_cell(self, f: int, value: Value) -> tuple[Floats, float]:  # (C,)
        """Return the log-probability of a value of column f, and the value's length."""
        return self.profile(f, [value]).log[0], 1.0

    @abstractmethod
    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw n values of each column given class c, in the form that `Event.count` takes."""

    @abstractmethod
    def table(self, f: int) -> Table:
        """Return row names, counts (or None) and values of column f's table."""

    def contrasted(self) -> Likelihood[Data]:
        """Return the likelihood less the part that all classes share, if easily separated.

        The shared part cancels when scores are normalised, but costs digits before that: over a million columns it is
        in the millions, and the differences that decide are rounded to its last bit.
        """
        return self

    def scaled(self, weights: Floats, additions: Mapping[int, Floats]) -> Likelihood[Data]:
        """Return the likelihood with each column's log-probabilities times its weight.

        Parameters
        ----------
        weights : ndarray, shape (F,)
            The weight of each column.
        additions : mapping of int to ndarray, shape (V, C)
            What to add to each of a column's `cells`, where it has them.
        """
        from tallybayes.events.families.weighted_likelihood import ScaledLikelihood  # it is a likelihood itself

        return ScaledLikelihood(self.statistic, self.options, self, weights)

    def to_plain(self) -> tuple[PlainTerm, ...]:  # (F,)
        """Return what each column adds to each class's score, as plain data."""
        raise no_plain_form(self)

    def cells(self, f: int) -> Categories | Floats | None:
        """Return the values of column f that have rows of a table, or None."""
        return None

    def cell_weights(self, f: int) -> Floats:  # (V,)
        """Return the weight of all rows in each cell of column f's table."""
        return np.zeros(0)

    def find_cells(self, data: Data) -> Iterable[npt.NDArray[np.integer]]:  # (n,) for each column
        """Return the cell of each row's value, column by column; anything where it is missing."""
        raise NotImplementedError(f"{type(self).__name__} has no cells")

    def missing_term(self, f: int) -> Floats:  # (C,)
        """Return what a missing value of column f adds to each class's score."""
        return np.zeros(self.statistic.rows.shape[0])

    def support(self, data: Data) -> Floats:  # (F, C)
        """Return the weight of rows in each class behind the first row's terms."""
        return self.statistic.present().to_float().T

    def missing(self) -> Floats:  # (C, F)
        """Return the share of missing values by class and column; 0 if unknown."""
        sums = self.statistic.sums
        if "missing" not in sums:
            return np.zeros(next(one.shape for k, one in sums.items() if self.statistic.declared[k].axis == "column"))
        missing, rows = sums["missing"].to_float(), self.statistic.rows.to_float()[:, None]
        return np.divide(missing, rows, out=np.zeros_like(missing), where=rows > 0)

    def pixels(self) -> Pixels | None:
        """Return the columns as pixels; None where they are not a picture."""
        return None

    @property
    def n_values(self) -> tuple[int, ...] | None:
        """The number of values of each column; None where they cannot be listed."""
        return None

    def place(self, f: int, value: Value) -> int:
        """Return the position of a value among the listed values of column f."""
        return list(self.profile(f).values).index(value)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters of a class.

        By default one for each sum of each column except the count of missing values; where values are counted, one
        for each value but the last of its column.
        """
        sums, declared = self.statistic.sums, self.statistic.declared
        listed = sum(max(len(labels) - 1, 0) for labels in self.statistic.labels)
        sizes = {"value": listed, "column": sums["missing"].shape[1] if "missing" in sums else 0}
        return sum(sizes[sum_.axis] for name, sum_ in declared.items() if name != "missing")

    @property
    def categories(self) -> tuple[Categories, ...]:
        """The values of each column with a probability of their own; only of codes."""
        return ()

    def log_prob(self, data: Data) -> Floats:  # (n, C)
        """Return the log-probability of each row's values under each class."""
        out = np.zeros((len(data), self.statistic.rows.shape[0]))
        self.add_log_prob(data, out)
        return out


def no_plain_form(part: object) -> BadOption:
    """Return the error of a likelihood that has no form that can be exported."""
    want, do = "likelihoods that are one of the forms in events.plain_terms", "Give it a method to_plain"
    return BadOption(wanted("export", want, type(part).__name__, do))


def weigh(terms: Floats, weights: Floats) -> Floats:
    """Sum terms (n, C) or (n, C, F) over classes, each times the weight of its class (n, C).

    Examples
    --------
    >>> weigh(np.array([[-1.0, -3.0, -np.inf]]), np.array([[2.0, -1.0, 0.0]]))
    array([1.])
    """
    factors = weights if terms.ndim == 2 else weights[:, :, None]
    with np.errstate(invalid="ignore"):  # 0 · −∞ is computed, and not used
        each = np.where(factors == 0, 0.0, factors * terms)
        # NumPy adds up such short rows one by one.
        return each[:, 0] + each[:, 1] if each.shape[1:] == (2,) else np.asarray(each.sum(axis=1))


def weigh_table(table: Floats, weights: Floats) -> Floats:
    """Sum a table (F, C) over classes for each row of weights (n, C): (n, F).

    Examples
    --------
    >>> weigh_table(np.array([[-1.0, -3.0], [-np.inf, -1.0]]), np.array([[1.0, -1.0], [0.0, 2.0]]))
    array([[  2., -inf],
           [ -6.,  -2.]])
    """
    impossible = np.isneginf(table)
    if not impossible.any():
        return np.asarray(weights @ table.T)
    out = weights @ np.where(impossible, 0.0, table).T
    out[(weights < 0) @ impossible.T] = np.inf
    out[(weights > 0) @ impossible.T] = -np.inf
    return np.asarray(out)


def add_terms_of(log_density: Callable[[Floats], Floats], data: Dense, weights: Floats, out: Floats) -> None:
    """Add to `out` (n, F) the terms of densities that map all columns (n, 1, F) to (n, C, F)."""
    n, C = weights.shape
    step = max(1, _AT_ONCE // max(1, C * data.width))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        part = data.map(lambda values, rows=rows: values[rows])  # type: ignore[misc]
        x = part.matrix()
        missing = np.isnan(x)
        terms = weigh(log_density(np.where(missing, 1.0, x)[:, None, :]), weights[rows])
        out[rows] += np.where(missing, 0.0, terms)
