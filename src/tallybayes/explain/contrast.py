"""The contrast that an explanation is about: one class against another, or against all others.

The log-odds of a class against all others are exactly a sum over columns. With s the scores and w the probabilities of
the others among themselves,

    s_of − log Σ_r exp(s_r) = s_of − Σ_r w_r s_r − H(w),      H(w) = −Σ_r w_r log w_r.

So the contribution of a column is its term for the class minus the average of its terms for the others, weighted by w.
The rest, −H(w), is what the class loses because it has several rivals.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from tallybayes import kernels
from tallybayes.arguments import index_of
from tallybayes.errors import BadOption, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import weigh
from tallybayes.inference.calibrated_belief import Mixture


@dataclass(frozen=True)
class ContrastWeights:
    """The weights of classes in the contrast of each row."""

    of: npt.NDArray[np.intp]  # (n,): the class that is explained
    factors: Floats  # (n, C): the factor of each class's terms
    plain: Floats  # (n,): the factor of plain terms in calibrated ones
    weighted: Floats  # (n,): the factor of weighted terms in calibrated ones
    prior: Floats  # (n,): the contribution of the class prior
    split: Floats  # (n,): what the class loses because it has several rivals: minus the entropy of their shares

    @classmethod
    def joined(cls, parts: list[ContrastWeights], n_classes: int) -> ContrastWeights:
        """Concatenate parts; no parts give the weights of no rows."""
        nothing = cls(np.zeros(0, np.intp), np.zeros((0, n_classes)), *np.zeros((4, 0)))
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in (nothing, *parts)]) for name in names))


@dataclass(frozen=True)
class ClassContrast:
    """Positions of the two classes; `of` None is the most probable, `against` None all others."""

    of: int | None
    against: int | None

    @classmethod
    def about(cls, of: Any, against: Any, classes: tuple[Any, ...]) -> ClassContrast:
        """Return the contrast of classes given by name.

        Examples
        --------
        >>> ClassContrast.about("spam", None, ("ham", "spam"))
        ClassContrast(of=1, against=None)
        """
        if len(classes) < 2:
            raise BadOption(wanted("explain", "a model of two classes or more", f"one of {len(classes)}"))
        one, other = (
            None if name is None else _place(where, name, classes) for where, name in (("of", of), ("against", against))
        )
        if one is not None and one == other:
            raise BadOption(wanted("against", f"a class other than {of!r}", repr(against)))
        return cls(one, other)

    def ask(self, scores: Floats, mixture: Mixture, prior: Floats, log_prior: Floats) -> ContrastWeights:
        """Return the weights for rows with these calibrated scores.

        Parameters
        ----------
        scores : ndarray, shape (n, C)
            The calibrated scores.
        mixture : Mixture
            The factors of plain and of weighted terms in them.
        prior : ndarray, shape (n, C)
            The part of the class prior in them.
        log_prior : ndarray, shape (C,)
            The log of the class prior: the answer for a row that is impossible under every class.
        """
        rows, (plain, weighted) = np.arange(len(scores)), mixture
        if np.isneginf(scores).any():
            impossible = np.asarray(np.isneginf(scores).all(axis=1))[:, None]
            scores = np.where(
                impossible, log_prior, scores
            )  # as predict_proba answers: their values contribute nothing
            prior = np.where(impossible, log_prior, prior)
            plain, weighted = (np.where(impossible[:, 0], 0.0, part) for part in (plain, weighted))
        of = self._of(scores)
        weights = self._shares(scores, of, log_prior)
        alone = self.against is not None or len(log_prior) == 2
        split = np.zeros(len(scores)) if alone else -entr(weights).sum(axis=1)
        np.negative(weights, out=weights)
        weights[rows, of] = 1.0
        return ContrastWeights(of, weights, plain, weighted, weigh(prior, weights), split)

    def _of(self, scores: Floats) -> npt.NDArray[np.intp]:
        if self.of is not None:
            return np.full(len(scores), self.of, np.intp)
        if self.against is None and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] > scores[:, 0], np.intp)
        if self.against is None:
            return np.asarray(scores.argmax(axis=1))
        others = scores.copy()
        others[:, self.against] = -np.inf  # the most probable class except `against`
        first = others.argmax(axis=1)
        return np.where(first == self.against, 1 if self.against == 0 else 0, first)

    def _shares(self, scores: Floats, of: npt.NDArray[np.intp], log_prior: Floats) -> Floats:  # (n, C)
        """Return the probabilities of the other classes among themselves."""
        if self.against is not None:
            shares = np.zeros_like(scores)
            shares[:, self.against] = 1.0
            return shares
        if len(log_prior) == 2:
            return np.stack([of == 1, of == 0], axis=1).astype(np.float64)
        rows, shares = np.arange(len(scores)), scores.copy()
        shares[rows, of] = -np.inf
        lost = np.isneginf(kernels.softmax(shares))
        if lost.any():  # no other class is possible: use the prior, or equal shares
            prior = np.tile(np.where(np.isneginf(log_prior).any(), 0.0, log_prior), (len(rows), 1))
            prior[rows, of] = -np.inf
            kernels.softmax(prior)
            shares[lost] = prior[lost]
        return shares


def _place(where: str, name: Any, classes: tuple[Any, ...]) -> int:
    found = index_of(name, classes)
    if found is not None:
        return found
    known = [str(one) for one in classes]
    shown = ", ".join(map(repr, classes[:10])) + (", ..." if len(classes) > 10 else "")
    raise BadOption(wanted(where, f"a class of the model ({shown})", repr(name), did_you_mean(str(name), known)))
