"""What a learning curve gives: figures by size, model and shuffle, as numbers, as a table and as a chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tallybayes.display.tables import Grid, Result, number, plain
from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Floats

__all__ = ["Figure", "LearningCurve"]

Figure = Literal["accuracy", "log_loss"]
_FIGURES: tuple[Figure, ...] = ("accuracy", "log_loss")
_TITLES = {"accuracy": "accuracy", "log_loss": "log-loss"}


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """How good models are after so many rows.

    Attributes
    ----------
    sizes : ndarray of int, shape (S,)
        How many rows were learned.
    models : tuple of str
        "naive Bayes", and what it is compared with.
    accuracy, log_loss : ndarray, shape (M, S, shuffles)
        Of the rows held out, for each model, size and shuffle.
    held : int
        How many rows were held out.
    seed : int
        What they were drawn with.
    """

    sizes: npt.NDArray[np.int64]
    models: tuple[str, ...]
    accuracy: Floats
    log_loss: Floats
    held: int
    seed: int

    def mean(self, figure: Figure = "accuracy") -> Floats:  # (M, S)
        """The mean over the shuffles."""
        return np.asarray(self._of(figure).mean(axis=2))

    def band(self, figure: Figure = "accuracy") -> tuple[Floats, Floats]:  # (M, S) each
        """The mean less and plus a standard deviation over the shuffles."""
        values = self._of(figure)
        with np.errstate(invalid="ignore"):
            middle = values.mean(axis=2)
            spread = values.std(axis=2, ddof=1) if values.shape[2] > 1 else np.zeros_like(middle)
        return middle - spread, middle + spread

    def _of(self, figure: str) -> Floats:
        if figure not in _TITLES:
            raise BadOption(wanted("figure", f"one of {', '.join(map(repr, _TITLES))}", repr(figure)))
        return self.accuracy if figure == "accuracy" else self.log_loss

    def ahead(self, figure: Figure = "log_loss") -> dict[str, int | None]:
        """For each model compared with, the largest size up to which naive Bayes is not behind it; None: never."""
        means = self.mean(figure)
        out: dict[str, int | None] = {}
        for name, other in zip(self.models[1:], means[1:], strict=True):
            good = means[0] >= other if figure == "accuracy" else means[0] <= other
            until = len(good) if good.all() else int(np.argmin(good))
            out[name] = int(self.sizes[until - 1]) if until else None
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        """Until when naive Bayes is ahead, and what is infinite."""
        notes = []
        by_accuracy, by_loss = self.ahead("accuracy"), self.ahead("log_loss")
        for name in self.models[1:]:
            until = f"{self._until(by_accuracy[name])} by accuracy, {self._until(by_loss[name])} by log-loss"
            notes.append(f"Naive Bayes is level with {name}, or ahead, {until}.")
        if np.isinf(self.log_loss).any():
            notes.append("Log-loss is infinite where a true class was given probability 0, being in no row learned.")
        return tuple(notes)

    def _until(self, size: int | None) -> str:
        if size is None:
            return "at no size"
        return "at every size" if size == self.sizes[-1] else f"up to {size} rows"

    def shown(self) -> Grid:
        """A row per size: accuracy and log-loss of each model, with their deviation over the shuffles."""
        columns = ["rows"] + [f"{title}, {name}" for title in _TITLES.values() for name in self.models]
        rows = []
        for s, size in enumerate(self.sizes):
            cells = [str(size)]
            for figure in _FIGURES:
                middle, (low, high) = self.mean(figure)[:, s], self.band(figure)
                spread = (high[:, s] - low[:, s]) / 2
                cells += [f"{number(m, 3)} ± {number(d, 3)}" for m, d in zip(middle, spread, strict=True)]
            rows.append(tuple(cells))
        shuffles = self.accuracy.shape[2]
        title = f"Learning curve: {self.held} rows held out, mean of {shuffles} shuffles, seed {self.seed}"
        return Grid(title, tuple(columns), tuple(rows), self.notes)

    def points(self) -> list[dict[str, Any]]:
        """One plain record for each model, figure and size: what a chart draws."""
        out = []
        for figure in _FIGURES:
            title, middle, (low, high) = _TITLES[figure], self.mean(figure), self.band(figure)
            for m, name in enumerate(self.models):
                for s, size in enumerate(self.sizes):
                    ends = {"mean": middle[m, s], "low": low[m, s], "high": high[m, s]}
                    out.append(plain({"model": name, "figure": title, "rows": size} | ends))
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for what is infinite."""
        out = {
            "sizes": self.sizes,
            "models": self.models,
            "accuracy": self.accuracy,
            "log_loss": self.log_loss,
            "held": self.held,
            "seed": self.seed,
            "points": self.points(),
            "notes": self.notes,
        }
        return dict(plain(out))

    def chart(self) -> Any:
        """An Altair chart of the means and their bands; ``chart().save("curve.png")`` writes it."""
        from tallybayes.display.charts.learning import learning_chart

        return learning_chart(self.points(), self.models)

    def __repr__(self) -> str:
        last = number(self.mean("accuracy")[0, -1])
        return f"<LearningCurve of {', '.join(self.models)}: {self.sizes[0]} to {self.sizes[-1]} rows, accuracy {last}>"
