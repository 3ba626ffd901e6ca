"""Methods of `Model` that measure it on rows: error, dependence between columns, drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallybayes.arguments import check_keywords

if TYPE_CHECKING:
    from tallybayes.drift.result import Drift
    from tallybayes.model import Model
    from tallybayes.structure.dependence import Dependence
    from tallybayes.validation import Validation

__all__ = ["dependence", "drift", "validate"]


def validate(self: Model, source: Any, label: Any = None, how: str = "10-fold", **options: Any) -> Validation:
    """Cross-validate this schema and these choices on rows.

    The evidence of this model is ignored: the given rows are counted, and held out in turn.

    Parameters
    ----------
    how : str
        As in `tallybayes.validate`.
    **options
        weights, seed, groups, folds, order and threads, as in `tallybayes.validate`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": ["p", "p", "q", "q"], "y": ["no", "no", "yes", "yes"]}
    >>> tb.fit(rows, "y").validate(rows, how="2-fold").evaluation.accuracy
    1.0
    """
    from tallybayes.validation import validate_model

    check_keywords("validate", validate_model, options)
    return validate_model(self, source, label, how, **options)


def dependence(self: Model, rows: Any, label: Any = None, **options: Any) -> Dependence:
    """Measure which pairs of this model's columns break conditional independence in rows.

    Parameters
    ----------
    **options
        weights, columns, bins, values and threads, as in `tallybayes.dependence`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> xor = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": [0, 1, 1, 0] * 5}
    >>> tb.fit(xor, "y").dependence(xor).worst(1)[0].columns
    ('a', 'b')
    """
    from tallybayes.structure.dependence import of_schema

    check_keywords("dependence", of_schema, options)
    return of_schema(self.schema, rows, label, **options)


def drift(self: Model, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Drift:
    """Measure what has changed between the rows learned and new rows, labelled or not.

    Parameters
    ----------
    label : str or array_like, optional
        The classes of the new rows; by default the label column, if they have it.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"] * 50, "y": ["no", "yes"] * 50}, "y")
    >>> found = model.drift({"x": ["p"] * 40 + ["q"] * 20})
    >>> [(one.column, round(one.distance, 4), round(one.p, 4)) for one in found.drifted()]
    [('x', 0.1667, 0.0399)]
    """
    from tallybayes.drift.drift import drift

    return drift(self, rows, label, weights=weights, threads=threads)
