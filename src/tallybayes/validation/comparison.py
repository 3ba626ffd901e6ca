"""The result of `compare`: candidates judged on the same folds, and a recommendation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from tallybayes.cached_property import cached_property
from tallybayes.display.tables import Column, Grid, Result, number

# Standard errors; a smaller difference may be chance.
_SURE = 2.0
# Share of the log-loss; a significant difference that is smaller than this is not worth a change.
_WORTH = 0.005
# How far up the ladder of structures an option is; all others are on its lowest rung.
_RUNGS = {"--structure pairs": 1, "--structure tan": 2, "--structure aode": 3, "--structure auto": 4}


@dataclass(frozen=True)
class Candidate:
    """One way to model the rows, and its scores on held-out rows."""

    name: str  # a description in words
    # the default, as inferred; another event model for numbers or for texts; another estimate or smoothing; the best of
    # each of these together; columns counted together ("structure"); the class prior alone, which any model should
    # beat; or a partner, another kind of model
    kind: str
    options: dict[str, Any]  # the options of `fit` that select it
    # accuracy, log_loss, brier, auc: over all rows
    accuracy: float
    log_loss: float
    brier: float
    auc: float
    ahead: float  # by how much its log-loss is below the default's
    error: float  # the standard error of that difference, over the rows
    above_best: float = 0.0  # by how much its log-loss is above that of the best of ours
    above_best_error: float = 0.0  # the standard error of that difference
    seconds: float = 0.0  # the time of all folds

    @property
    def option(self) -> str:
        """The option of the command line that selects it, such as "--alpha loo"; empty for the default and partners."""
        words = []
        for name, value in self.options.items():
            if name == "events":
                for event in dict.fromkeys(value.values()):
                    columns = [column for column, other in value.items() if other == event]
                    shown = columns[0] if len(columns) == 1 else "NAME"  # the suggested command has them all
                    words += [] if event == "ignore" else [f"--event {shown}={event}"]
            elif value is None:
                words.append(f"--no-{name}")
            else:
                words.append(f"--{name} {value}")
        return " ".join(words)

    @property
    def surely_better(self) -> bool:
        """Whether it beats the default by more than chance, and by enough to matter."""
        return math.isfinite(self.log_loss) and self.ahead > max(_SURE * self.error, _WORTH * abs(self.log_loss))


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Ways to model the same rows, side by side.

    Attributes
    ----------
    label : str
        The column that holds the class.
    how : str
        How rows were held out; all candidates have the same folds.
    seed : int
        The seed of the folds.
    rows : int
        The number of rows.
    candidates : tuple of Candidate
        The candidates, lowest log-loss first.
    notes : tuple of str
        Remarks on the validation.
    events : dict of str to str
        The event model of each column, as declared or inferred: what every candidate starts from.

    Examples
    --------
    >>> import numpy as np, tallybayes as tb
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["low", "high"], 200)
    >>> pay = np.exp(rng.normal(np.where(y == "low", 0.0, 1.0), 1.0))
    >>> found = tb.compare({"pay": pay, "y": y}, "y", partners=())
    >>> found.recommended.name, found["gaussian numbers"].ahead < 0
    ('as inferred', True)
    """

    label: str
    how: str
    seed: int
    rows: int
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()
    events: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Candidate:
        return next(one for one in self.candidates if one.name == name)

    @cached_property
    def default(self) -> Candidate:
        """The inferred event models."""
        return next(one for one in self.candidates if one.kind == "default")

    @property
    def recommended(self) -> Candidate:
        """The simplest of our candidates that is about as good as the best.

        It is within one standard error of the best, and surely better than the default. Simple is the default, then
        another event model, estimate or smoothing, then pairs, a tree, pairs and triples. If none is surely better,
        it is the default. An infinite loss is never compared: if the default's is infinite, a candidate of finite
        loss is recommended.
        """
        others = [one for one in self.candidates if one.kind not in ("partner", "prior")]
        if math.isinf(self.default.log_loss):
            better = [one for one in others if math.isfinite(one.log_loss)]
        else:
            better = [one for one in others if one.surely_better]
        if not better:
            return self.default
        best = min(better, key=lambda one: one.log_loss)
        near = [one for one in better if one.above_best <= one.above_best_error]
        return min(near, key=lambda one: (_RUNGS.get(one.option, 0), one.log_loss), default=best)

    @property
    def recommendation(self) -> str:
        """The candidate to take and why, in one to three sentences."""
        best, default = self.recommended, self.default
        if best is default:
            first = f"Keep the inferred models (log-loss {number(best.log_loss)}): nothing else is surely better."
        else:
            by = f"log-loss {number(best.log_loss)}, against {number(default.log_loss)} for the inferred models"
            known = math.isfinite(best.ahead) and best.error > 0
            sure = f", {best.ahead / best.error:.1f} standard errors ahead" if known else ""
            first = f"Take '{best.name}' ({best.option}): {by}{sure}."
        sentences = [first]
        prior = next((one for one in self.candidates if one.kind == "prior"), None)
        if prior is not None and best.log_loss >= prior.log_loss:
            sentences.append("It is no better than the class prior alone: these columns do not predict the class.")
        partners = [one for one in self.candidates if one.kind == "partner"]
        if partners:
            sentences.append(self._beside(best, min(partners, key=lambda one: one.log_loss)))
        return " ".join(sentences)

    def _beside(self, best: Candidate, partner: Candidate) -> str:
        """Return a sentence that compares the best candidate with another kind of model."""
        difference, error = partner.ahead - best.ahead, math.hypot(partner.error, best.error)
        if not math.isfinite(difference):
            return f"{partner.name[0].upper()}{partner.name[1:]} cannot be compared: a log-loss is infinite."
        figures = f"{partner.name[0].upper()}{partner.name[1:]} has {number(partner.log_loss)}"
        if difference > max(_SURE * error, _WORTH * abs(best.log_loss)):
            return f"{figures}, which is better: columns depend on each other given the class."
        if difference < -_SURE * error:
            return f"{figures}, which is worse."
        return f"{figures}, which is not surely better."

    def _columns(self) -> dict[str, Any]:
        names = ("name", "kind", "option", "accuracy", "log_loss", "brier", "auc", "ahead", "error", "seconds")
        return {name: [getattr(one, name) for one in self.candidates] for name in names}

    def shown(self) -> Grid:
        """Return the candidates, best first, and the recommendation."""
        columns = (
            "",
            Column("option", right=False),
            "log-loss",
            "gain",
            "± error",
            "accuracy",
            "Brier score",
            "AUC",
            "all folds",
        )
        title = f"Comparison of {self.label!r} by {self.how}: {self.rows:,} rows, seed {self.seed}"
        units = f"Log-loss and gain are in nats per row; the gain is over {self.default.name!r}, the baseline."
        infinite = [one.name for one in self.candidates if math.isinf(one.log_loss)]
        told = [f"Infinite log-loss, not compared: {', '.join(map(repr, infinite))}."] if infinite else []
        rows = tuple(self._row(one) for one in self.candidates)
        return Grid(title, columns, rows, (*self.notes, units, *told, self.recommendation))

    def _row(self, one: Candidate) -> tuple[str, ...]:
        if one.kind == "default":
            gain = ("baseline", "")
        elif math.isinf(one.log_loss) or math.isinf(self.default.log_loss):
            gain = ("–", "–")
        else:
            gain = (number(one.ahead), number(one.error))
        figures = map(number, (one.accuracy, one.brier, one.auc))
        mark = "→ " if one is self.recommended else "  "
        return (f"{mark}{one.name}", one.option, number(one.log_loss), *gain, *figures, f"{one.seconds:.1f} s")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return super().to_dict() | {"recommended": self.recommended.name, "recommendation": self.recommendation}
