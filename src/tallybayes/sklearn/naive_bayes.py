"""NaiveBayes: the estimator for tables with columns of any kind, missing values and new categories."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from tallybayes import sources
from tallybayes.errors import BadData, wanted
from tallybayes.events.inputs import Floats
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.fitting import FitOptions, begin
from tallybayes.inference.choices import Alpha, Choices, Prior
from tallybayes.kernels.text import Tokenizer
from tallybayes.methods.rows import sample_rows
from tallybayes.model import Model
from tallybayes.schema.infer import Events, SchemaOptions, infer
from tallybayes.schema.schema import Schema
from tallybayes.sklearn.arrays import Array, as_numpy, class_codes
from tallybayes.sklearn.class_weight import ClassWeight, check_class_names, refuse_balanced, weigh_classes


class _Learned:
    """A model and the sampled rows that calibrate it, which happens when the model is first used.

    A pickle contains no rows: after unpickling, learning more leaves the calibration stale.
    """

    def __init__(self, model: Model, sample: BottomKSample | None, fresh: bool) -> None:
        self.model, self.sample, self.fresh = model, sample, fresh

    def calibrated(self) -> Model:
        if not self.fresh and self.sample is not None:
            self.model = self.model._calibrated(self.sample)
        self.fresh = True
        return self.model

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.calibrated(), "sample": None, "fresh": True}


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes for mixed columns and missing values.

    New categories and new classes may come at any time.

    Parameters
    ----------
    events : str, Event or mapping, optional
        One event model for all columns, or a mapping from names or globs to event models. Other columns are inferred
        (text, booleans, dates: categorical; numbers: histogram; sparse rows: multinomial).
    estimate : {"bayes", "map", "mle"}
        Average over the posterior of the parameters, take its mode, or maximise the likelihood.
    alpha : float, "loo", "evidence", "average", "auto" or mapping
        The weight of the prior, for all columns or by name or glob. "loo" chooses it by leave-one-out, "evidence" by
        marginal likelihood, "average" averages over it; "auto" is "loo" for text, "average" for categories, else 1.
    prior : {"learned", "uniform"}, mapping or sequence
        The class probabilities.
    variance : {"n", "n-1"}
        The divisor of Gaussian sums of squares for "mle" and "map".
    floor : float
        The smallest variance of a Gaussian column, as a share of its variance over all rows.
    calibrate : {"auto", "loo", "one", None}
        How probabilities are calibrated by rows left out: by a weight for each column ("auto", also called "loo"), by
        one weight for all ("one"), or not at all.
    structure : {"naive", "pairs", "tan", "aode", "joint", "auto"}
        Which columns are counted together: none, pairs that earn a weight, a tree of pairs, all pairs on average, all.
    missing : {"skip", "category", "error"}
        Skip a null or NaN, count it as a value of its own (categorical columns), or raise.
    unseen : {"smooth", "skip", "error"}
        When scoring a value never seen in training: smooth, skip or raise.
    missing_values : sequence of str, or "auto"
        Texts that mean a missing value, such as "?"; by default the usual ones, as in `fit`, which "auto" in a list
        keeps.
    keep : sequence of str
        Names or globs of columns to use although they look like ids.
    label_as_is : bool
        Whether to take the classes as they are, even if they look like measurements.
    class_weight : mapping or "balanced", optional
        A weight for the rows of each class (1 if not named), or weights that give all classes the same sum. Other
        decisions at unchanged probabilities are what ``model_.predict(costs=)`` is for.
    tokenizer : callable, optional
        Splits a text of a text column into a list of words.
    threads : int, optional
        The number of threads; one per core by default. The result does not depend on it.

    Attributes
    ----------
    model_ : Model
        The underlying model: tables, leave-one-out, saving.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    Notes
    -----
    The sums are exact, so `partial_fit` equals `fit` on all rows, to the bit, and `forget` equals never having seen the
    rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallybayes import NaiveBayes
    >>> days = pa.table({"outlook": ["sunny", "rainy", None, "rainy"], "humidity": [85.0, 80.0, 78.0, None]})
    >>> model = NaiveBayes().fit(days, ["no", "yes", "yes", "yes"])
    >>> model.predict(pa.table({"outlook": ["hail"], "humidity": [79.0]}))
    array(['yes'], dtype='<U3')
    """

    def __init__(
        self,
        events: Events = None,
        *,
        estimate: str = "bayes",
        alpha: Alpha = "auto",
        prior: Prior = "learned",
        variance: str = "n",
        floor: float = 1e-9,
        calibrate: str | None = "auto",
        structure: str = "naive",
        missing: str = "skip",
        unseen: str = "smooth",
        missing_values: Any = "auto",
        keep: Any = (),
        label_as_is: bool = False,
        class_weight: ClassWeight = None,
        tokenizer: Tokenizer | None = None,
        threads: int | None = None,
    ) -> None:
        self.events = events
        self.estimate = estimate
        self.alpha = alpha
        self.prior = prior
        self.variance = variance
        self.floor = floor
        self.calibrate = calibrate
        self.structure = structure
        self.missing = missing
        self.unseen = unseen
        self.missing_values = missing_values
        self.keep = keep
        self.label_as_is = label_as_is
        self.class_weight = class_weight
        self.tokenizer = tokenizer
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveBayes:
        """Learn from these rows only.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            A DataFrame of any Arrow-compatible library (pandas, polars, pyarrow, ...) may have columns of all kinds.
        y : array-like of shape (n_samples,)
            The classes: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the rows.
        """
        return self._begin(X, y, sample_weight, complete=True)

    def _begin(self, X: Any, y: Any, sample_weight: Any, *, complete: bool) -> NaiveBayes:
        """Learn from the first rows; if they are all, their classes are all that there are."""
        choices = self._choices()
        rows, y, weights = self._labelled(X, y, sample_weight, reset=True)
        if complete:
            check_class_names(self.class_weight, y)
        missing: Any = self.missing
        columns = SchemaOptions(self.events, missing, self.tokenizer, self.keep, self.label_as_is)
        options = FitOptions(columns=columns, choices=choices)
        model, sample = begin(rows, y, options, weights=weights, threads=self.threads)
        self._open = self._still_open(rows, model.schema) if isinstance(rows, sources.Source) else frozenset()
        return self._now(model, None if sample is None else sample.resolved(), fresh=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> NaiveBayes:
        """Learn from further rows: the same, to the bit, as `fit` on all of them.

        New classes are allowed at any time; `classes` is ignored, and accepted so that code for other estimators runs.
        """
        refuse_balanced(self.class_weight)
        if "_learned" not in vars(self):  # reading model_ would calibrate it
            return self._begin(X, y, sample_weight, complete=False)
        rows, y, weights = self._labelled(X, y, sample_weight, reset=False)
        self._decide(rows)
        model, sample = self._learned.model, self._learned.sample
        if sample is not None:
            sample = (sample + sample_rows(model, rows, y, weights=weights, threads=self.threads)).resolved()
        return self._now(model.learn(rows, y, weights=weights, threads=self.threads), sample)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveBayes:
        """Forget learned rows: the same, to the bit, as if they had never been seen."""
        check_is_fitted(self)
        refuse_balanced(self.class_weight)
        rows, y, weights = self._labelled(X, y, sample_weight, reset=False)
        model, sample = self._learned.model, self._learned.sample
        if sample is not None:
            sample = sample - sample_rows(model, rows, y, weights=weights, threads=self.threads)
        return self._now(model.forget(rows, y, weights=weights, threads=self.threads), sample)

    def __add__(self, other: NaiveBayes) -> NaiveBayes:
        """Return a new estimator that has learned the rows of both."""
        if not isinstance(other, NaiveBayes):
            return NotImplemented
        check_is_fitted(self)
        check_is_fitted(other)
        both: NaiveBayes = clone(self)
        both.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
        both._open = self._open & other._open
        model = self.model_ + other.model_  # refused, if their columns are not alike
        mine, theirs = self._learned.sample, other._learned.sample
        sample = None if mine is None or theirs is None else (mine + theirs).resolved()
        return both._now(model, sample)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row."""
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class (n_samples, n_classes), in the order of `classes_`."""
        rows = self._to_score(X)
        return self.model_.predict_proba(rows, threads=self.threads)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`, which does not underflow."""
        rows = self._to_score(X)
        return self.model_.predict_log_proba(rows, threads=self.threads)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the log of prior times likelihood of each row with each class."""
        rows = self._to_score(X)
        return self.model_.log_joint(rows, threads=self.threads)

    def _choices(self) -> Choices:
        names = [field.name for field in fields(Choices) if hasattr(self, field.name)]
        return Choices(**{name: getattr(self, name) for name in names})

    @property
    def model_(self) -> Model:
        """The underlying model."""
        if "_learned" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no model_ before it is fitted.")
        return self._learned.calibrated()

    def _now(self, model: Model, sample: BottomKSample | None = None, *, fresh: bool = False) -> NaiveBayes:
        choices = self._choices()
        choices.check(model.schema)
        self._learned = _Learned(replace(model, choices=choices), sample, fresh)
        self.classes_ = model.evidence.classes.to_numpy()
        return self

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Array, Array | None]:
        """Return rows, classes and weights as the model takes them."""
        if y is None:
            # scikit-learn's checks look for these words
            raise BadData(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        shape: tuple[int, ...] = getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            do = "Pass the rows first, then the classes"
            raise BadData(wanted("y", "one class for each row", f"a table of {shape[1]} columns", do))
        rows = self._rows(X, reset=reset)
        y = column_or_1d(as_numpy(y), warn=True)
        # Rows without a class are left out, as by `tallybayes.fit`.
        assert_all_finite(y, input_name="y", estimator_name=type(self).__name__, allow_nan=True)
        if y.dtype.kind == "f":
            class_codes(y[~np.isnan(y)])  # raises for continuous values
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        if self.class_weight is not None:
            more = weigh_classes(self.class_weight, y)
            weights = more if weights is None else weights * more
        return rows, y, weights

    def _to_score(self, X: Any) -> Any:
        check_is_fitted(self)
        if not len(self.classes_):
            raise BadData(wanted("the model", "at least one class", "none: all rows forgotten", "Learn some first"))
        return self._rows(X, reset=False)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Return rows as the model takes them: a table unchanged, anything else as an array or CSR matrix."""
        if isinstance(X, pa.RecordBatch):
            X = pa.Table.from_batches([X])  # scikit-learn reads column names from tables only
        if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return self._open_table(X)
        X = validate_data(self, X, reset=reset, dtype=None, accept_sparse="csr", ensure_all_finite=False)
        names = None if reset or issparse(X) else getattr(self, "feature_names_in_", None)
        if names is None and (not self.missing_values or X.dtype.kind in "biuf"):
            return X
        return self._open_table(X, names)

    def _open_table(self, X: Any, names: Any = None) -> sources.Source:
        """Return a table as a source that knows what stands for a missing value."""
        options = sources.ReadOptions(missing_values=self.missing_values)
        return sources.open_source(X, options, names=names, documents=SchemaOptions(self.events).texts)

    def _still_open(self, rows: sources.Source, schema: Schema) -> frozenset[str]:
        """Return undeclared columns that were entirely null so far, so their type is still unknown."""
        empty = {field.name for field in rows.schema if pa.types.is_null(field.type)}
        numbers = pa.schema([field.with_type(pa.float64()) if field.name in empty else field for field in rows.schema])
        return frozenset(name for name in empty if self._event(numbers, name) != schema.events().get(name))

    def _decide(self, rows: Any) -> None:
        """Raise if a column that was all null has values now that need another event model than inferred."""
        if not self._open or not isinstance(rows, sources.Source):
            return
        for field in rows.schema:
            if field.name not in self._open or pa.types.is_null(field.type):
                continue
            event, inferred = self._event(rows.schema, field.name), self._learned.model.schema.events()[field.name]
            if event != inferred:
                got = "only missing values in earlier batches, and numbers or prose now"
                do = f"Start again with events={{{field.name!r}: {event!r}}}"
                raise BadData(wanted(f"column {field.name!r}", f"values for {inferred}", got, do))
            self._open -= {field.name}

    def _event(self, fields: pa.Schema, name: str) -> str | None:
        label = "label"
        while label in fields.names:
            label += "_"
        numbers = Choices(self.estimate).numbers  # type: ignore[arg-type]
        schema = infer(fields.append(pa.field(label, pa.string())), label, events=self.events, numbers=numbers)
        if self.tokenizer is not None and schema.texts:
            schema = schema.with_tokenizer(self.tokenizer)
        return schema.events().get(name)
