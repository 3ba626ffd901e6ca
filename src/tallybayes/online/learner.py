"""`Learner`: a model that changes in place, one row at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallybayes.arguments import instance
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.options import is_finite
from tallybayes.evidence.evidence import Evidence
from tallybayes.fitting import FitOptions, begin
from tallybayes.model import Model
from tallybayes.online.batch_tally import BatchTally
from tallybayes.online.normal_tally import NormalTally
from tallybayes.online.tally import Row, Tally

__all__ = ["Learner"]


class Learner:
    """A naive Bayes model that learns and forgets one row at a time, in place.

    After any sequence of `learn` and `forget`, `model` returns the model of the rows that remain, with the same
    evidence, to the bit, as a fit on them.

    Parameters
    ----------
    label : str
        The column that holds the class.
    refresh : float
        Where the belief is costly to estimate, it is estimated again once the rows that changed since are more than
        this share of all rows, and whenever a class is new; 0 does it before every prediction. Gaussian columns
        without calibration need no such rule: every prediction follows from all rows.
    **options
        events, estimate, alpha, prior and others, as in `fit`. The first row decides what each column is; declare
        `events` where one row does not show it. The new model is not calibrated: see `of`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> learner = tb.Learner("play", estimate="mle")
    >>> for temperature, play in [(20.0, "yes"), (22.0, "yes"), (8.0, "no"), (10.0, "no")]:
    ...     learner.learn({"temperature": temperature, "play": play})
    >>> learner.predict({"temperature": 19.0})
    'yes'
    >>> learner.forget({"temperature": 22.0, "play": "yes"})
    >>> learner.model().table("temperature").values[[0, 2]]      # mean and n of no and yes
    array([[ 9., 20.],
           [ 2.,  1.]])
    """

    def __init__(self, label: str = "label", *, refresh: float = 0.05, **options: Any) -> None:
        if not is_finite(refresh) or refresh < 0:
            raise BadOption(wanted("refresh", "a number not below 0", repr(refresh)))
        self._label, self._refresh = label, refresh
        self._weight: str | None = None
        self._options = FitOptions.of({"calibrate": None, **options})
        choices = self._options.choices
        if choices.calibrate is not None or choices.structure != "naive":
            name = "calibrate" if choices.calibrate is not None else "structure"
            do = "Fit a model and continue it with Learner.of"
            raise BadOption(
                wanted(name, "None" if name == "calibrate" else "'naive'", repr(getattr(choices, name)), do)
            )
        self._tally: Tally | None = None

    @classmethod
    def of(cls, model: Model, *, refresh: float = 0.05) -> Learner:
        """Return a learner that continues a model, with its choices.

        The calibration is kept, and marked as stale.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
        >>> learner = tb.Learner.of(model)
        >>> learner.learn({"x": "r", "y": "maybe"})
        >>> learner.classes, model.classes
        (('maybe', 'no', 'yes'), ('no', 'yes'))
        """
        learner = cls(instance("model", model, Model, "a Model").schema.label, refresh=refresh)
        learner._begin(model)
        return learner

    def _begin(self, model: Model) -> Tally:
        self._weight = model.schema.weight
        self._tally = NormalTally(model) if NormalTally.serves(model) else BatchTally(model, self._refresh)
        return self._tally

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that have rows, sorted; the order of `predict_proba`."""
        return () if self._tally is None else self._tally.classes

    def __repr__(self) -> str:
        if self._tally is None:
            return f"<tallybayes.Learner of {self._label!r}: no rows>"
        return f"<tallybayes.Learner: {repr(self._tally.model())[12:-1]}>"

    def learn(self, row: Mapping[str, Any], label: Any = None, *, weight: float | None = None) -> None:
        """Learn one row.

        Parameters
        ----------
        row : mapping of str to value
            The values by column; a column left out is missing.
        label : optional
            The class; by default the row has it.
        weight : float, optional
            The weight; by default 1, or what the row has in the model's column of weights.
        """
        self._change(row, label, weight, minus=False)

    def forget(self, row: Mapping[str, Any], label: Any = None, *, weight: float | None = None) -> None:
        """Forget one row that was learned, with the same weight."""
        self._change(row, label, weight, minus=True)

    def _change(self, row: Mapping[str, Any], label: Any, weight: float | None, *, minus: bool) -> None:
        row = _dict_of(row)
        label = row.get(self._label) if label is None else label
        if label is None:
            raise BadData(wanted(f"label {self._label!r}", "a class", "none", "Name it in the row, or beside it"))
        if weight is None:
            weight = 1.0 if self._weight is None else row.get(self._weight)
        if not is_finite(weight) or weight < 0:
            raise BadData(wanted("weight", "a finite number not below 0", repr(weight)))
        tally = self._tally
        if tally is None:
            begun, _ = begin([{**row, self._label: label}], self._label, self._options, threads=1)
            tally = self._begin(Model(Evidence.empty(begun.schema), begun.choices))
        tally.change(row, label, float(weight), minus=minus)

    def predict_proba(self, row: Mapping[str, Any]) -> Floats:  # (C,)
        """Return the probability of each class for one row, in the order of `classes`."""
        if self._tally is None or not self._tally.classes:
            return np.zeros(0)
        return self._tally.predict_proba(_dict_of(row))

    def predict(self, row: Mapping[str, Any]) -> Any:
        """Return the most probable class of one row; None before any row was learned."""
        probabilities = self.predict_proba(row)
        return self.classes[int(probabilities.argmax())] if len(probabilities) else None

    def model(self) -> Model:
        """Return the frozen model of the rows that were learned and not forgotten."""
        if self._tally is None:
            raise BadData(wanted("learner", "at least one row", "none"))
        return self._tally.model()

    def learn_one(self, x: Mapping[str, Any], y: Any, w: float = 1.0) -> None:
        """Learn one row, as River calls it."""
        self._change(x, y, w, minus=False)

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class by name, as River calls it."""
        return dict(zip(self.classes, self.predict_proba(x).tolist(), strict=True))

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """Return the most probable class, as River calls it."""
        return self.predict(x)


def _dict_of(row: Mapping[str, Any]) -> Row:
    if type(row) is dict:
        return row
    if not isinstance(row, Mapping):
        raise BadData(wanted("row", "values by column, as in a dict", type(row).__name__))
    return dict(row)
