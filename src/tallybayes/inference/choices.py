"""The choices that turn evidence into belief: rule, smoothing, class prior, calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tallybayes.errors import BadOption, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.options import is_finite, is_number, plain_option, shown
from tallybayes.evidence.evidence import Evidence
from tallybayes.schema.schema import Block, Schema

__all__ = ["Alpha", "Calibrate", "Choices", "Chooser", "Prior", "Rule", "Structure", "Unseen"]

Rule: TypeAlias = Literal["mle", "map", "bayes"]
Unseen: TypeAlias = Literal["smooth", "skip", "error"]
Calibrate: TypeAlias = Literal["auto", "loo", "one"] | None
Chooser: TypeAlias = Literal["loo", "evidence", "average"]
Alpha: TypeAlias = float | Chooser | Literal["auto"] | Mapping[str, float | Chooser]
Structure: TypeAlias = Literal["naive", "pairs", "tan", "aode", "joint", "auto"]
Prior: TypeAlias = Literal["learned", "uniform"] | Mapping[Any, float] | Sequence[float]

# As tuples: `get_args` takes as long as checking all choices.
_RULES, _UNSEEN, _STRUCTURES, _CHOOSERS = map(get_args, (Rule, Unseen, Structure, Chooser))


@dataclass(frozen=True)
class Choices:
    """The choices that turn evidence into belief.

    Attributes
    ----------
    estimate : {"bayes", "map", "mle"}
        The rule.
    alpha : float, "loo", "evidence", "average", "auto" or mapping
        The weight of the prior: pseudo-counts for each value, or pseudo-rows that look like the whole column. "loo"
        takes the number with the least leave-one-out loss, "evidence" the one under which the counts are most
        probable (1 where a column has no counts), "average" weighs all by how probable they make the counts (for
        categories under "bayes"; 1 otherwise), "auto" is "loo" for text, "average" for categories, and 1 otherwise. A
        mapping sets columns by name or glob; all others have 1.
    prior : {"learned", "uniform"}, mapping or sequence
        The class probabilities: the share of the rows, all equal, or given.
    variance : {"n", "n-1"}
        The divisor of the sum of squares under "mle" and "map".
    floor : float
        The least variance, as a share of the column's variance over all rows.
    unseen : {"smooth", "skip", "error"}
        How to treat a value never seen in training: as one more value with a count of zero, as missing, or as an error.
    calibrate : {"auto", "loo", "one", None}
        How probabilities are made to hold for rows left out: by a weight for each column ("auto", also called "loo"),
        by one weight for all ("one"), or not at all.
    structure : {"naive", "pairs", "tan", "aode", "joint", "auto"}
        Which columns are counted together: none; pairs that earn a weight when rows are left out ("pairs"); more of
        them where nested folds say so ("auto"); a tree of pairs ("tan"); all pairs, averaged over parents ("aode"); or
        all columns ("joint").
    """

    estimate: Rule = "bayes"
    alpha: Alpha = "auto"
    prior: Prior = "learned"
    variance: Literal["n", "n-1"] = "n"
    floor: float = 1e-9
    unseen: Unseen = "smooth"
    calibrate: Calibrate = "auto"
    structure: Structure = "naive"

    def __post_init__(self) -> None:
        _one_of("estimate", self.estimate, _RULES)
        _one_of("variance", self.variance, ("n", "n-1"))
        _one_of("unseen", self.unseen, _UNSEEN)
        _one_of("calibrate", self.calibrate, ("auto", "loo", "one", None))
        _one_of("structure", self.structure, _STRUCTURES)
        if self.structure in ("pairs", "auto") and self.calibrate not in ("auto", "loo"):
            want = "'auto' with pairs, whose weights are what calibration fits"
            raise BadOption(wanted("calibrate", want, repr(self.calibrate), "Choose structure 'tan' or 'naive'"))
        if self.calibrate == "loo":  # what 0.1 called it
            object.__setattr__(self, "calibrate", "auto")
        object.__setattr__(self, "floor", plain_option(self.floor))
        if not is_finite(self.floor) or not 0 < self.floor < 1:
            raise BadOption(wanted("floor", "a number above 0 and below 1", shown(self.floor)))
        if isinstance(self.alpha, Mapping):
            object.__setattr__(self, "alpha", {name: _plain_alpha(alpha) for name, alpha in self.alpha.items()})
        else:
            auto = isinstance(self.alpha, str) and self.alpha == "auto"
            object.__setattr__(self, "alpha", "auto" if auto else _plain_alpha(self.alpha))
        if isinstance(self.prior, str):
            _one_of("prior", self.prior, ("learned", "uniform"))
        else:
            object.__setattr__(self, "prior", _plain_prior(self.prior))

    @property
    def numbers(self) -> Literal["histogram", "gaussian"]:
        """The event model inferred for numbers: a histogram needs no rule; the textbook's rules need a density."""
        return "histogram" if self.estimate == "bayes" else "gaussian"

    @property
    def text(self) -> str:
        """The event model inferred for prose alone: calibration chooses its bag and its n-grams."""
        return "text" if self.calibrate is None or self.estimate == "mle" else "text(bag='auto')"

    def alphas(self, block: Block) -> Floats:  # (F,)
        """Return the weight of the prior for each column of a block."""
        if self.estimate == "mle":
            return np.zeros(len(block.columns))
        if not isinstance(self.alpha, Mapping):
            return np.full(len(block.columns), _number(self.alpha))
        return np.array([_number(self.alpha_of(name)) for name in block.columns], np.float64)

    def averaged(self, block: Block) -> npt.NDArray[np.bool_] | None:  # (F,)
        """Return which columns of a block are averaged over α; None if none is."""
        if self.estimate != "bayes":
            return None
        if not isinstance(self.alpha, Mapping):
            return np.ones(len(block.columns), bool) if self.alpha == "average" else None
        if "average" not in self.alpha.values():
            return None
        return np.array([self.alpha_of(name) == "average" for name in block.columns])

    def alpha_of(self, name: str) -> float | Chooser:
        """Return the smoothing of a column from a mapping."""
        assert isinstance(self.alpha, Mapping)
        if name in self.alpha:
            return self.alpha[name]
        return next((a for pattern, a in self.alpha.items() if fnmatchcase(name, pattern)), 1.0)

    def tuned(self, schema: Schema) -> tuple[str, ...]:
        """Return the smoothings to choose by leave-one-out: keys of the mapping, or "*" for all to tune."""
        if self.estimate == "mle":
            return ()
        if isinstance(self.alpha, Mapping):
            return tuple(key for key, value in self.alpha.items() if value == "loo")
        text = any(block.event.input == "text" for block in schema.blocks)
        return ("*",) if self.alpha == "loo" or (self.alpha == "auto" and text) else ()

    def open(self, schema: Schema) -> bool:
        """Return whether anything is to be chosen by a sample of rows."""
        return self.calibrate is not None or self.structure != "naive" or bool(self.tuned(schema))

    def resolved(self, evidence: Evidence, tuned: Mapping[str, float]) -> Choices:
        """Return the choices with a number (or "average") for each alpha: given, tuned (else 1), or from counts."""
        if self.alpha == "average" and self.estimate != "mle":
            return self
        if self.estimate == "mle" or is_number(self.alpha):
            return self if is_number(self.alpha) else self._smoothed_by(0.0)
        blocks = evidence.schema.blocks
        if self.alpha == "auto":
            return self._smoothed_by(self._automatic(blocks, tuned.get("*", 1.0)))
        if self.alpha == "loo":
            return self._smoothed_by(tuned.get("*", 1.0))
        given = self.alpha if isinstance(self.alpha, Mapping) else {"*": self.alpha}
        numbers = {k: tuned.get(k, 1.0) if v == "loo" else v for k, v in given.items() if v != "evidence"}
        if len(numbers) == len(given):
            return self._smoothed_by(numbers)
        of_counts: dict[str, float] = {}
        for block, statistic in zip(blocks, evidence.statistics, strict=True):
            names = {name for name in block.columns if replace(self, alpha=given).alpha_of(name) == "evidence"}
            found = block.event.empirical_bayes_alpha(statistic) if names else None
            each = np.ones(len(block.columns)) if found is None else found
            of_counts |= {name: float(a) for name, a in zip(block.columns, each, strict=True) if name in names}
        return self._smoothed_by({**of_counts, **numbers})

    def _smoothed_by(self, alpha: Alpha) -> Choices:
        """Return the choices with another α, a plain value; the others were checked when these were made."""
        other = copy(self)
        object.__setattr__(other, "alpha", alpha)
        return other

    def _automatic(self, blocks: Sequence[Block], of_text: float) -> Alpha:
        """Return the smoothing of "auto": tuned for text, averaged for categories, 1 for all others."""
        kinds: dict[str, float | Chooser] = {"text": of_text}
        if self.estimate == "bayes":
            kinds["codes"] = "average"
        if all(block.event.input == "codes" for block in blocks):
            return kinds.get("codes", 1.0)
        named = [(block.columns, kinds[block.event.input]) for block in blocks if block.event.input in kinds]
        return {name: alpha for columns, alpha in named for name in columns} or 1.0

    def check(self, schema: Schema) -> None:
        """Raise if a smoothing is given for a column that does not exist, or pairs for columns without weights."""
        if self.structure in ("pairs", "auto"):
            for block in schema.blocks:
                if block.event.input in ("bag", "text"):
                    want, got = f"columns of values or numbers for {self.structure!r}", f"{block.event.name}"
                    got = f"{block.columns[0]!r}, which is {got}"
                    raise BadOption(wanted("structure", want, got, "Choose 'naive', or declare it categorical"))
        if not isinstance(self.alpha, Mapping):
            return
        for pattern in self.alpha:
            if not isinstance(pattern, str):
                raise BadOption(wanted("alpha", "names or globs of columns", shown(pattern)))
            if pattern != "*" and not any(pattern == name or fnmatchcase(name, pattern) for name in schema.columns):
                raise BadOption(
                    wanted("alpha", "names or globs of columns", repr(pattern), did_you_mean(pattern, schema.columns))
                )


def _plain_alpha(alpha: Any) -> float | Chooser:
    """Return a smoothing as a plain value; raise if it is none."""
    plain = plain_option(alpha)
    if is_finite(plain) and plain >= 0:
        return float(plain)
    if not isinstance(plain, str) or plain not in _CHOOSERS:
        raise BadOption(wanted("alpha", "a number not below 0, 'average', 'loo' or 'evidence'", shown(plain)))
    return plain  # type: ignore[return-value]


def _plain_prior(prior: Mapping[Any, float] | Sequence[float]) -> Mapping[Any, float] | Sequence[float]:
    """Return a given prior as plain values, so that equal priors compare equal; unchanged if not numbers."""
    if isinstance(prior, Mapping):
        each = {c.item() if isinstance(c, np.generic) else c: p for c, p in prior.items()}
        return {c: float(p) if is_finite(p) else p for c, p in each.items()}
    if hasattr(prior, "columns"):  # a frame: polars may fail to compare it, or to make an array of it
        raise BadOption(wanted("prior", "a number for each class", f"a {type(prior).__name__}"))
    listed = np.asarray(prior, object).tolist()
    return tuple(map(float, listed)) if isinstance(listed, list) and all(map(is_finite, listed)) else prior


def _one_of(where: str, value: Any, allowed: Sequence[str | None]) -> None:
    if not isinstance(value, str | None) or value not in allowed:
        raise BadOption(wanted(where, f"one of {', '.join(map(repr, allowed))}", repr(value)))


def _number(alpha: float | str) -> float:
    """Return a smoothing as a number: 1 where the event model averages, for those who show or ignore it."""
    return 1.0 if alpha == "average" else float(alpha)
