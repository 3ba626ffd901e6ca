"""A tally of Gaussian columns: sums change in place, and every prediction follows from all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.errors import CannotMerge
from tallybayes.events.gaussian import Gaussian
from tallybayes.events.inputs import Floats
from tallybayes.events.statistic import NEVER_THERE, Statistic
from tallybayes.evidence.evidence import Evidence
from tallybayes.exact.array import Exact
from tallybayes.inference.estimate import options_for
from tallybayes.kernels import Limbs, NormalSums
from tallybayes.model import Model
from tallybayes.online.tally import Row, Tally, changed, is_plain_class, one_row

__all__ = ["NormalTally"]


class NormalTally(Tally):
    """Rows whose columns are all Gaussian, in a model that is not calibrated.

    A row that the sums cannot take as it is, such as one whose numbers are text, goes through the frozen model.
    """

    def __init__(self, model: Model) -> None:
        self._load(model)

    @staticmethod
    def serves(model: Model) -> bool:
        """Return whether a model can be continued in this way."""
        [block, *others] = model.schema.blocks
        plain = not others and type(block.event) is Gaussian and model.schema.missing == "skip"
        calibrated = model.calibration is not None and model.choices.calibrate is not None
        return plain and not calibrated and model.choices.prior in ("learned", "uniform")

    def _load(self, model: Model) -> None:
        """Start from a model's sums."""
        self._model: Model | None = model
        self._frame = replace(model, validation=None)
        [block], [statistic] = model.schema.blocks, model.evidence.statistics
        options = options_for(block, model._resolved_choices)
        self._options = (options.alpha, options.floor, options.ddof, options.rule == "bayes")
        self._learned = model.choices.prior == "learned"
        self._sums = NormalSums(tuple(block.columns))
        parts = (statistic.sums["missing"], statistic.present(), statistic.sums["first"], statistic.sums["second"])
        limbs = [(np.ascontiguousarray(part.limbs), part.base) for part in (*parts, model.evidence.rows)]
        self._sums.load(len(model.classes), *limbs)
        self._places = {name: place for place, name in enumerate(model.classes)}  # in order of arrival
        self._sort(model.evidence.classes)

    def _sort(self, classes: Categories) -> None:
        """Note the classes, and where each is among the sums."""
        self._classes = classes
        order = np.array([self._places[name] for name in classes.values], np.intp)
        self._order = order
        self._in_order = bool((order == np.arange(len(order))).all())

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that have rows, sorted."""
        return self._classes.values

    def change(self, row: Row, label: Any, weight: float, *, minus: bool) -> None:
        """Change the sums in place."""
        if not is_plain_class(label, self._classes) or not weight > 0:
            self._load(changed(self.model(), row, label, weight, minus=minus))
            return
        place = self._places.get(label)
        if place is None and minus:
            raise CannotMerge(NEVER_THERE)
        classes = self._classes if place is not None else self._classes | Categories(pa.array([label]))
        done = self._sums.change(row, len(self._places) if place is None else place, weight, minus)
        if done is None:
            raise CannotMerge(NEVER_THERE)
        if not done:
            self._load(changed(self.model(), row, label, weight, minus=minus))
            return
        self._model = None
        if place is None:
            self._places[label] = len(self._places)
            self._sort(classes)
        elif minus and self._sums.rows(place) == 0:
            self._load(self.model())

    def predict_proba(self, row: Row) -> Floats:  # (C,)
        """Return the probability of each class, given all rows."""
        scores = np.zeros((1, len(self._places)))
        alpha, floor, ddof, student = self._options
        if not self._sums.score(row, alpha, floor, ddof, student, self._learned, scores[0]):
            return one_row(self.model(), row)
        if not self._in_order:
            scores = scores[:, self._order]
        if not np.isfinite(kernels.softmax(scores, scores)[0]):
            return one_row(self.model(), row)
        return np.asarray(scores[0])

    def model(self) -> Model:
        """Return the model of all rows."""
        if self._model is None:
            self._model = replace(self._frame, evidence=self._evidence())
        return self._model

    def _evidence(self) -> Evidence:
        evidence = self._frame.evidence
        parts = (Exact.from_limbs(Limbs(*part)).take(self._order) for part in self._sums.limbs())
        missing, _, first, second, rows = parts
        weights = rows.reshape((len(self._order),))
        sums = {"missing": missing, "first": first, "second": second}
        statistic = Statistic(weights, sums, evidence.statistics[0].declared)
        return replace(evidence, classes=self._classes, rows=weights, statistics=(statistic,)).without_empty_classes()
