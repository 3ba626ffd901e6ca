"""Belief from evidence: the class prior, and each block's likelihood, by one of three rules.

"mle" takes the parameters under which the rows are most likely, "map" the most probable ones given a prior, "bayes"
averages over all of them. The evidence does not change, so another rule, smoothing or prior needs no second pass over
the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events import EstimateOptions, Event, Likelihood
from tallybayes.events.families.variance import trigamma
from tallybayes.events.inputs import Floats
from tallybayes.events.product_codes import JoinedTables
from tallybayes.events.statistic import Statistic
from tallybayes.events.text.likelihood import TextLikelihood
from tallybayes.events.text.token_cells import TokenWeights
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.choices import Choices, Prior
from tallybayes.schema.schema import Block

__all__ = ["Belief", "estimate", "log_prior", "options_for"]

_PRIOR_SLACK = 1e-8


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
        The rows of each class behind a learned prior; None where the prior was given.
    """

    log_prior: Floats  # (C,)
    likelihoods: tuple[Likelihood, ...]
    counted: Floats | None = None  # (C,)

    @cached_property
    def log_prior_variance(self) -> Floats:  # (C,)
        """The variance of the log of the class prior.

        A learned prior is a share of rows, so its variance is ψ₁ of them; ψ₁ of all rows is the same for every class
        and left out. A given prior has no variance.
        """
        return np.zeros_like(self.log_prior) if self.counted is None else trigamma(self.counted)

    @cached_property
    def interactions(self) -> JoinedTables:
        """The tables of all interactions that have a weight, to be looked up together."""
        return JoinedTables.of(self.likelihoods)

    def weighted(self, weights: TokenWeights) -> Belief:
        """Return the belief with weights for tokens: scores to be tempered by them (see `events.text.token_cells`)."""
        [likelihood] = self.likelihoods
        assert isinstance(likelihood, TextLikelihood)
        return replace(self, likelihoods=(cast("Likelihood", likelihood.weighted(weights)),))

    def contrasted(self) -> Belief:
        """Return the belief less the part that all classes share: other scores, the same probabilities."""
        return replace(self, likelihoods=tuple(likelihood.contrasted() for likelihood in self.likelihoods))


def options_for(block: Block, choices: Choices, weights: TokenWeights | None = None) -> EstimateOptions:
    """Return the choices, and the weights of tokens, as one block's event model takes them."""
    ddof = 1 if choices.variance == "n-1" else 0
    alpha, averaged = choices.alphas(block), choices.averaged(block)
    return EstimateOptions(choices.estimate, alpha, ddof, choices.floor, choices.unseen, weights, averaged)


def estimate(evidence: Evidence, choices: Choices) -> Belief:
    """Return the belief that follows from the evidence."""
    rows = evidence.rows.to_float()
    learned = isinstance(choices.prior, str) and choices.prior == "learned"
    prior = log_prior(rows, evidence.classes, choices.prior)
    pairs = zip(evidence.schema.blocks, evidence.statistics, strict=True)
    likelihoods = tuple(_of_block(block, statistic, choices) for block, statistic in pairs)
    return Belief(prior, likelihoods, rows if learned else None)


def _of_block(block: Block, statistic: Statistic, choices: Choices) -> Likelihood:
    with np.errstate(all="ignore"):
        likelihood = block.event.estimate(statistic, options_for(block, choices))
        if not _is_defined(likelihood):
            want = f"weights, values and alpha that give a finite estimate for {block.event.name}"
            name = f"column {block.columns[0]!r}" + (f" to {block.columns[-1]!r}" if len(block.columns) > 1 else "")
            raise BadData(wanted(name, want, "an overflow", "Scale them"))
    return likelihood


def _is_defined(part: object) -> bool:
    """Return whether no parameter is NaN or ∞; a logarithm may be −∞."""
    if isinstance(part, np.ndarray):
        return part.dtype.kind != "f" or bool(part.max(initial=-np.inf) < np.inf)
    if isinstance(part, tuple):
        return all(map(_is_defined, part))
    if is_dataclass(part) and not isinstance(part, Statistic | EstimateOptions | Event):
        return all(_is_defined(getattr(part, field.name)) for field in fields(part))
    return True


def log_prior(rows: Floats, classes: Categories, prior: Prior) -> Floats:
    """Return the log of the class prior, (..., C); −∞ for a class without rows if the prior is learned.

    Examples
    --------
    >>> np.exp(log_prior(np.array([9.0, 5.0]), Categories.of(["no", "yes"]), "learned")).round(4)
    array([0.6429, 0.3571])
    """
    with np.errstate(over="ignore"):
        total = rows.sum(axis=-1, keepdims=True)
    if not np.isfinite(total).all():
        raise BadData(wanted("weights", "a finite sum", "inf", "Divide them all by one number"))
    if not isinstance(prior, str):
        with np.errstate(divide="ignore"):
            given = kernels.log(_given(prior, classes))
            return np.where(rows > 0, given, -np.inf) if rows.ndim > 1 else given
    with np.errstate(divide="ignore", invalid="ignore"):
        if prior == "uniform":
            return np.asarray(kernels.log((rows > 0) / (rows > 0).sum(axis=-1, keepdims=True)))
        return np.asarray(kernels.log(rows) - kernels.log(total))


def _given(prior: Mapping[Any, float] | Sequence[float], classes: Categories) -> npt.NDArray[np.float64]:
    """Return a given prior in the order of the classes."""
    if isinstance(prior, Mapping):
        unknown = [c for c in prior if c not in classes.values]
        lacking = [c for c in classes.values if c not in prior]
        if unknown or lacking:
            got = f"{unknown[0]!r}" if unknown else f"none for {lacking[0]!r}"
            raise BadOption(wanted("prior", f"a number for each of {', '.join(map(repr, classes.values))}", got))
        prior = [prior[c] for c in classes.values]
    try:
        values = np.asarray(prior, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadOption(wanted("prior", f"{len(classes)} numbers summing to 1", repr(prior))) from None
    total = float(values.sum())
    if values.shape != (len(classes),) or not (values >= 0).all() or abs(total - 1) > _PRIOR_SLACK:
        got = f"{values.tolist()} (sum {total:.6g})"
        raise BadOption(wanted("prior", f"{len(classes)} numbers summing to 1", got))
    return values
