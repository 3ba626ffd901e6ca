"""Belief from evidence: the class prior, and each block's likelihood, by one of three rules.

"mle" takes the parameters under which the rows are most likely, "map" the most probable ones given a prior, "bayes"
averages over all of them. The evidence stays as it is, so another rule, smoothing or prior needs no second look at
the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tallybayes.categories import Categories
from tallybayes.errors import BadOption, did_you_mean, wanted
from tallybayes.events import EstimateOptions, Likelihood
from tallybayes.events.families.variance import trigamma
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.schema.schema import Block, Schema

__all__ = [
    "Alpha",
    "Belief",
    "Choices",
    "Chooser",
    "Prior",
    "Rule",
    "Unseen",
    "estimate",
    "log_prior",
    "options_for",
]

Rule: TypeAlias = Literal["mle", "map", "bayes"]
Unseen: TypeAlias = Literal["smooth", "skip", "error"]
Chooser: TypeAlias = Literal["loo", "evidence"]
Alpha: TypeAlias = float | Chooser | Literal["auto"] | Mapping[str, float | Chooser]
Prior: TypeAlias = Literal["learned", "uniform"] | Mapping[Any, float] | Sequence[float]
_PRIOR_SLACK = 1e-8


@dataclass(frozen=True)
class Choices:
    """How belief is made of evidence.

    Attributes
    ----------
    estimate : {"bayes", "map", "mle"}
        The rule.
    alpha : float, "loo", "evidence", "auto" or mapping
        The weight of the prior: pseudo-counts for each value, or pseudo-rows that look like the whole column. "loo"
        is the number under which rows left out are most probable, "evidence" that under which the counts themselves
        are (1 where a column has no counts), "auto" is "loo" for text and 1 for all else. A mapping gives columns, by
        name or glob, their own; the rest have 1.
    prior : {"learned", "uniform"}, mapping or sequence
        The class probabilities: the share of the rows, all the same, or given.
    variance : {"n", "n-1"}
        What the sum of squares is divided by under "mle" and "map".
    floor : float
        The least variance, as a share of the column's variance over all rows.
    unseen : {"smooth", "skip", "error"}
        What a value never seen in training is: one more value with a count of zero, nothing, or an error.
    calibrate : {"loo", None}
        Whether probabilities are tempered so as to be right of rows left out.
    """

    estimate: Rule = "bayes"
    alpha: Alpha = 1.0
    prior: Prior = "learned"
    variance: Literal["n", "n-1"] = "n"
    floor: float = 1e-9
    unseen: Unseen = "smooth"
    calibrate: Literal["loo"] | None = None

    def __post_init__(self) -> None:
        _one_of("estimate", self.estimate, get_args(Rule))
        _one_of("variance", self.variance, ("n", "n-1"))
        _one_of("unseen", self.unseen, get_args(Unseen))
        _one_of("calibrate", self.calibrate, ("loo", None))
        if not _is_number(self.floor) or not 0 < self.floor < 1:
            raise BadOption(wanted("floor", "a number above 0 and below 1", repr(self.floor)))
        alphas = self.alpha.values() if isinstance(self.alpha, Mapping) else (self.alpha,)
        for alpha in alphas:
            chosen = alpha in get_args(Chooser) or (alpha == "auto" and not isinstance(self.alpha, Mapping))
            if not chosen and not (_is_number(alpha) and 0 <= float(alpha) < np.inf):
                raise BadOption(wanted("alpha", "a number not below 0, 'loo' or 'evidence'", repr(alpha)))
        if isinstance(self.prior, str):
            _one_of("prior", self.prior, ("learned", "uniform"))

    def alphas(self, block: Block) -> Floats:  # (F,)
        """The weight of the prior for each column of a block."""
        if self.estimate == "mle":
            return np.zeros(len(block.columns))
        if not isinstance(self.alpha, Mapping):
            return np.full(len(block.columns), float(self.alpha))
        return np.array([float(self.alpha_of(name)) for name in block.columns], np.float64)

    def alpha_of(self, name: str) -> float | Chooser:
        """What a mapping says of a column."""
        assert isinstance(self.alpha, Mapping)
        if name in self.alpha:
            return self.alpha[name]
        return next((a for pattern, a in self.alpha.items() if fnmatchcase(name, pattern)), 1.0)

    def tuned(self, schema: Schema) -> tuple[str, ...]:
        """What of alpha is to be chosen by leaving rows out: keys of the mapping, or "*" for all in question."""
        if self.estimate == "mle":
            return ()
        if isinstance(self.alpha, Mapping):
            return tuple(key for key, value in self.alpha.items() if value == "loo")
        text = any(block.event.input == "text" for block in schema.blocks)
        return ("*",) if self.alpha == "loo" or (self.alpha == "auto" and text) else ()

    def open(self, schema: Schema) -> bool:
        """Whether anything is to be chosen by leaving rows out."""
        return self.calibrate is not None or bool(self.tuned(schema))

    def resolved(self, evidence: Evidence, tuned: Mapping[str, float]) -> Choices:
        """The same choices with numbers for alpha: those given, those tuned (else 1), those that the counts ask for."""
        if self.estimate == "mle" or _is_number(self.alpha):
            return self if _is_number(self.alpha) else replace(self, alpha=0.0)
        blocks = evidence.schema.blocks
        if self.alpha == "auto":
            texts = [name for block in blocks if block.event.input == "text" for name in block.columns]
            return replace(self, alpha=dict.fromkeys(texts, tuned.get("*", 1.0)) or 1.0)
        if self.alpha == "loo":
            return replace(self, alpha=tuned.get("*", 1.0))
        given = self.alpha if isinstance(self.alpha, Mapping) else {"*": self.alpha}
        numbers = {k: tuned.get(k, 1.0) if v == "loo" else v for k, v in given.items() if v != "evidence"}
        if len(numbers) == len(given):
            return replace(self, alpha=numbers)
        of_counts: dict[str, float] = {}
        for block, statistic in zip(blocks, evidence.statistics, strict=True):
            names = {name for name in block.columns if replace(self, alpha=given).alpha_of(name) == "evidence"}
            found = block.event.empirical_bayes_alpha(statistic) if names else None
            each = np.ones(len(block.columns)) if found is None else found
            of_counts |= {name: float(a) for name, a in zip(block.columns, each, strict=True) if name in names}
        return replace(self, alpha={**of_counts, **numbers})

    def check(self, schema: Schema) -> None:
        """Raise if a smoothing is given for a column that is not there."""
        if not isinstance(self.alpha, Mapping):
            return
        for pattern in self.alpha:
            if pattern != "*" and not any(pattern == name or fnmatchcase(name, pattern) for name in schema.columns):
                raise BadOption(
                    wanted("alpha", "names or globs of columns", repr(pattern), did_you_mean(pattern, schema.columns))
                )


@dataclass(frozen=True)
class Belief:
    """The log of the class prior, and the likelihood of each block.

    Attributes
    ----------
    log_prior : ndarray, shape (C,)
        The log of the class prior.
    likelihoods : tuple of Likelihood
        One for each block.
    counted : ndarray, shape (C,), or None
        The rows of each class that a learned prior rests on; None where the prior was given.
    """

    log_prior: Floats  # (C,)
    likelihoods: tuple[Likelihood, ...]
    counted: Floats | None = None  # (C,)

    @cached_property
    def log_prior_variance(self) -> Floats:  # (C,)
        """The variance of the log of the class prior.

        A learned prior is a share of rows, so ψ₁ of them; ψ₁ of all rows is the same for every class and left out. A
        prior that was given is not in doubt.
        """
        return np.zeros_like(self.log_prior) if self.counted is None else trigamma(self.counted)

    def contrasted(self) -> Belief:
        """Return the belief less the part that all classes share: other scores, the same probabilities."""
        return replace(self, likelihoods=tuple(likelihood.contrasted() for likelihood in self.likelihoods))


def options_for(block: Block, choices: Choices) -> EstimateOptions:
    """The choices as one block's event model takes them."""
    ddof = 1 if choices.variance == "n-1" else 0
    return EstimateOptions(choices.estimate, choices.alphas(block), ddof, choices.floor, choices.unseen)


def estimate(evidence: Evidence, choices: Choices) -> Belief:
    """Return the belief that follows from the evidence."""
    pairs = zip(evidence.schema.blocks, evidence.statistics, strict=True)
    likelihoods = tuple(block.event.estimate(statistic, options_for(block, choices)) for block, statistic in pairs)
    rows = evidence.rows.to_float()
    learned = isinstance(choices.prior, str) and choices.prior == "learned"
    return Belief(log_prior(rows, evidence.classes, choices.prior), likelihoods, rows if learned else None)


def log_prior(rows: Floats, classes: Categories, prior: Prior) -> Floats:
    """The log of the class prior, (..., C); a class without rows has −∞ where the prior is learned.

    Examples
    --------
    >>> np.exp(log_prior(np.array([9.0, 5.0]), Categories.of(["no", "yes"]), "learned")).round(4)
    array([0.6429, 0.3571])
    """
    if not isinstance(prior, str):
        with np.errstate(divide="ignore"):
            given = np.log(_given(prior, classes))
            return np.where(rows > 0, given, -np.inf) if rows.ndim > 1 else given
    with np.errstate(divide="ignore", invalid="ignore"):
        if prior == "uniform":
            return np.asarray(np.log((rows > 0) / (rows > 0).sum(axis=-1, keepdims=True)))
        return np.asarray(np.log(rows) - np.log(rows.sum(axis=-1, keepdims=True)))


def _given(prior: Mapping[Any, float] | Sequence[float], classes: Categories) -> npt.NDArray[np.float64]:
    """A given prior in the order of the classes."""
    if isinstance(prior, Mapping):
        unknown = [c for c in prior if c not in classes.values]
        lacking = [c for c in classes.values if c not in prior]
        if unknown or lacking:
            got = f"{unknown[0]!r}" if unknown else f"none for {lacking[0]!r}"
            raise BadOption(wanted("prior", f"a number for each of {', '.join(map(repr, classes.values))}", got))
        prior = [prior[c] for c in classes.values]
    try:
        values = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        raise BadOption(wanted("prior", f"{len(classes)} numbers summing to 1", repr(prior))) from None
    total = float(values.sum())
    if values.shape != (len(classes),) or not (values >= 0).all() or abs(total - 1) > _PRIOR_SLACK:
        got = f"{values.tolist()} (sum {total:.6g})"
        raise BadOption(wanted("prior", f"{len(classes)} numbers summing to 1", got))
    return values


def _one_of(where: str, value: Any, allowed: Sequence[str | None]) -> None:
    if value not in allowed:
        raise BadOption(wanted(where, f"one of {', '.join(map(repr, allowed))}", repr(value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
