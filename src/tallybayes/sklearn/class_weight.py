"""`class_weight` of the estimators: rows of rare classes may weigh more, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import compute_sample_weight

from tallybayes.errors import BadOption, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.options import is_finite
from tallybayes.sklearn.arrays import Array

ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None


def weigh_classes(class_weight: ClassWeight, y: Array) -> Floats:  # (n,)
    """Return the weight of each row, by its class.

    Parameters
    ----------
    class_weight : mapping or "balanced"
        A weight for each class, 1 if not named; or weights that give all classes the same sum.
    y : ndarray, shape (n,)
        The classes.

    Examples
    --------
    >>> weigh_classes("balanced", np.array(["no", "no", "no", "yes"])).round(4)
    array([0.6667, 0.6667, 0.6667, 2.    ])
    """
    absent = _absent(y)
    if absent.any():  # a row without a class is left out later
        weights = np.ones(len(y))
        weights[~absent] = weigh_classes(class_weight, y[~absent])
        return weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(compute_sample_weight("balanced", y))
    if not isinstance(class_weight, Mapping):
        raise BadOption(wanted("class_weight", "'balanced' or a weight for each class", repr(class_weight)))
    for name, weight in class_weight.items():
        if not is_finite(weight) or weight < 0:
            raise BadOption(wanted(f"class_weight of {name!r}", "a number not below 0", repr(weight)))
    names, codes = np.unique(y, return_inverse=True)
    return np.array([float(class_weight.get(name, 1.0)) for name in names.tolist()])[codes]


def check_class_names(class_weight: ClassWeight, y: Array) -> None:
    """Raise if a weight is that of a class which no row has.

    Examples
    --------
    >>> check_class_names({"no": 1, "yes": 5}, np.array(["no", "yes"]))
    >>> try:
    ...     check_class_names({"no": 1, "Yes": 5}, np.array(["no", "yes"]))
    ... except BadOption as error:
    ...     print(error)
    class_weight: wanted classes of the rows, got 'Yes'. Did you mean 'yes'?
    """
    if not isinstance(class_weight, Mapping):
        return
    known = set(y[~_absent(y)].tolist())
    for name in class_weight:
        if name not in known:
            do = did_you_mean(name, sorted(map(str, known)))
            raise BadOption(wanted("class_weight", "classes of the rows", repr(name), do))


def _absent(y: Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows without a class."""
    if y.dtype.kind != "O":
        return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), bool)
    return np.array([one is None or one != one for one in y.tolist()], bool)


def refuse_balanced(class_weight: ClassWeight) -> None:
    """Raise for "balanced" where rows come in parts: it depends on the shares of the classes in all of them."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        do = "Name the weight of each class, or choose prior='uniform'"
        raise BadOption(wanted("class_weight", "a mapping where rows come in parts", "'balanced'", do))
