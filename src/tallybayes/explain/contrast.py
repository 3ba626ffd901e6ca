"""What is asked of a model when it is to say why: for which class, against which.

The log-odds of a class against all others are a sum over columns, exactly, whatever their number: with s the scores and
w the probabilities of the others among themselves,

    s_of − log Σ_r exp(s_r) = s_of − Σ_r w_r s_r − H(w),      H(w) = −Σ_r w_r log w_r.

So each column's term is what it says for the class less the average, by w, of what it says for the others, and what is
left (the entropy of the others) is what the class loses by their being several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from tallybayes import kernels
from tallybayes.errors import BadOption, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import weigh_table

__all__ = ["ClassContrast", "ContrastWeights"]


@dataclass(frozen=True)
class ContrastWeights:
    """What is asked in each row.

    Attributes
    ----------
    of : ndarray of int, shape (n,)
        The class that is spoken for.
    factors : ndarray, shape (n, C)
        By what each class's terms are multiplied.
    prior : ndarray, shape (n,)
        What the class prior says.
    split : ndarray, shape (n,)
        What the class loses by the others' being several: minus the entropy of their shares.
    """

    of: npt.NDArray[np.intp]
    factors: Floats
    prior: Floats
    split: Floats

    @classmethod
    def joined(cls, parts: list[ContrastWeights], n_classes: int) -> ContrastWeights:
        """Parts one after the other; none: of no rows."""
        nothing = cls(np.zeros(0, np.intp), np.zeros((0, n_classes)), np.zeros(0), np.zeros(0))
        parts = [nothing, *parts]
        return cls(
            np.concatenate([part.of for part in parts]),
            np.concatenate([part.factors for part in parts]),
            np.concatenate([part.prior for part in parts]),
            np.concatenate([part.split for part in parts]),
        )


@dataclass(frozen=True)
class ClassContrast:
    """For which class, against which: places among the classes, None for the most probable, and for all others."""

    of: int | None
    against: int | None

    @classmethod
    def about(cls, of: Any, against: Any, classes: tuple[Any, ...]) -> ClassContrast:
        """The question that class names ask.

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

    def ask(self, scores: Floats, temperature: Floats, log_prior: Floats) -> ContrastWeights:
        """What is asked of rows with these scores (n, C), which are multiplied by `temperature` (n,) to be believed."""
        believed, rows = scores * temperature[:, None], np.arange(len(scores))
        factor = speaks = temperature
        if np.isneginf(believed).any():
            impossible = np.isneginf(believed).all(axis=1)
            believed[impossible] = log_prior  # as predict_proba answers: of their values nothing can be said
            factor, speaks = np.where(impossible, 1.0, temperature), np.where(impossible, 0.0, temperature)
        of = self._of(believed)
        weights = self._shares(believed, of, log_prior)
        alone = self.against is not None or len(log_prior) == 2
        split = np.zeros(len(scores)) if alone else -entr(weights).sum(axis=1)
        np.negative(weights, out=weights)
        weights[rows, of] = 1.0
        prior = weigh_table(log_prior[None, :], weights)[:, 0] * factor
        return ContrastWeights(of, weights * speaks[:, None], prior, split)

    def _of(self, believed: Floats) -> npt.NDArray[np.intp]:
        if self.of is not None:
            return np.full(len(believed), self.of, np.intp)
        if self.against is None and believed.shape[1] == 2:
            return np.asarray(believed[:, 1] > believed[:, 0], np.intp)
        if self.against is None:
            return np.asarray(believed.argmax(axis=1))
        others = believed.copy()
        others[:, self.against] = -np.inf  # the most probable besides the one that was named
        first = others.argmax(axis=1)
        return np.where(first == self.against, 1 if self.against == 0 else 0, first)

    def _shares(self, believed: Floats, of: npt.NDArray[np.intp], log_prior: Floats) -> Floats:  # (n, C)
        """The probabilities of the others among themselves."""
        if self.against is not None:
            shares = np.zeros_like(believed)
            shares[:, self.against] = 1.0
            return shares
        if len(log_prior) == 2:
            return np.stack([of == 1, of == 0], axis=1).astype(np.float64)
        rows, shares = np.arange(len(believed)), believed.copy()
        shares[rows, of] = -np.inf
        lost = np.isneginf(kernels.softmax(shares))
        if lost.any():  # none of the others is possible: they share as they did before the row, or evenly
            prior = np.tile(np.where(np.isneginf(log_prior).any(), 0.0, log_prior), (len(rows), 1))
            prior[rows, of] = -np.inf
            kernels.softmax(prior)
            shares[lost] = prior[lost]
        return shares


def _place(where: str, name: Any, classes: tuple[Any, ...]) -> int:
    if name in classes:
        return classes.index(name)
    known = [str(one) for one in classes]
    shown = ", ".join(map(repr, classes[:10])) + (", ..." if len(classes) > 10 else "")
    raise BadOption(wanted(where, f"a class of the model ({shown})", repr(name), did_you_mean(str(name), known)))
