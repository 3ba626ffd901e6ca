"""TextNB: the estimator for documents, from strings to classes without a matrix in between."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from tallybayes.arguments import listed
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.text.text import Text
from tallybayes.inference.choices import Alpha, Prior
from tallybayes.kernels.text import Tokenizer
from tallybayes.sklearn.arrays import Array
from tallybayes.sklearn.class_weight import ClassWeight, refuse_balanced
from tallybayes.sklearn.naive_bayes import NaiveBayes

_COLUMN = "text"


class TextNB(NaiveBayes):
    """Naive Bayes for documents: strings in, classes out.

    Parameters
    ----------
    event : {"auto", "multinomial", "bernoulli", "complement", "binary"}
        Whether a word counts as often as it occurs, by presence or absence, by how the other classes use it, or once
        per document. "auto" counts words and pairs, and calibration chooses between "multinomial" and "binary", with
        and without the pairs; without calibration it is "multinomial".
    ngram_range : tuple of int
        The smallest and largest number of words (or characters) in a token.
    lowercase : bool
        Whether "The" is "the".
    strip_accents : {None, "unicode", "ascii"}
        Whether "é" is "e".
    stop_words : {None, "english"} or list of str
        Words to leave out.
    analyzer : {"word", "char", "char_wb"}
        Tokens are words, runs of characters, or runs of characters within words.
    tokenizer : callable, optional
        Splits a text into a list of words, instead of scikit-learn's pattern.
    min_df, max_df : int or float
        Ignore tokens in fewer or more documents than this (a number, or a share of all).
    max_features : int, optional
        Use at most this many tokens, the most frequent.
    alpha : float, "loo", "evidence" or "auto"
        The pseudo-count of each token: a number, or chosen by leave-one-out ("loo", also "auto") or by marginal
        likelihood ("evidence").
    prior : {"learned", "uniform"}, mapping or sequence
        The class probabilities.
    estimate : {"bayes", "map", "mle"}
        Average over the posterior of the parameters, take its mode, or maximise the likelihood.
    calibrate : {"auto", "loo", "one", None}
        Whether probabilities are calibrated by weights of words and a temperature, fitted on documents left out.
    class_weight : mapping or "balanced", optional
        A weight for the documents of each class (1 if not named), or weights that give all classes the same sum.
    unknown : {"skip", "smooth"}
        Whether an unknown or pruned token is skipped, or counts as one more token with a count of zero.
    threads : int, optional
        The number of threads; one per core by default. The result does not depend on it.

    Attributes
    ----------
    model_ : Model
        The underlying model: tables, leave-one-out, saving. Its one column is "text".
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.

    Notes
    -----
    A null document (None, NaN) is missing; an empty one, or one of unknown words, gets the prior. The counts are exact,
    so `partial_fit` equals `fit` on all documents, to the bit, and `forget` equals never having seen them. Pruning
    (`min_df`, `max_df`, `max_features`) uses all documents learned so far.

    Examples
    --------
    >>> from tallybayes import TextNB
    >>> model = TextNB().fit(["cheap pills", "cheap cheap watches", "lunch today"], ["spam", "spam", "ham"])
    >>> model.predict(["cheap lunch, cheap watches"]).tolist()
    ['spam']
    >>> model.partial_fit(["minutes of the meeting"], ["work"]).classes_.tolist()
    ['ham', 'spam', 'work']
    """

    missing = "skip"
    keep = ()
    label_as_is = True

    def __init__(
        self,
        event: str = "auto",
        *,
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: Literal["unicode", "ascii"] | None = None,
        stop_words: Any = None,
        analyzer: Literal["word", "char", "char_wb"] = "word",
        tokenizer: Tokenizer | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        alpha: Alpha = "auto",
        prior: Prior = "learned",
        estimate: str = "bayes",
        calibrate: str | None = "auto",
        class_weight: ClassWeight = None,
        unknown: Literal["skip", "smooth"] = "skip",
        threads: int | None = None,
    ) -> None:
        self.event = event
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.analyzer = analyzer
        self.tokenizer = tokenizer
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.alpha = alpha
        self.prior = prior
        self.estimate = estimate
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.unknown = unknown
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = False
        tags.input_tags.sparse = False
        return tags

    @property
    def events(self) -> Text:  # type: ignore[override]
        """The parameters as an event model; the tokenizer is added later, as for any other."""
        if not isinstance(self.ngram_range, tuple | list):
            raise BadOption(wanted("ngram_range", "two whole numbers", repr(self.ngram_range)))
        plain = self.calibrate is None or self.estimate == "mle"  # nothing is fitted that could choose
        return Text(
            bag="multinomial" if plain and self.event == "auto" else self.event,  # type: ignore[arg-type]
            ngrams=self.ngram_range,
            analyzer=self.analyzer,
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            stop_words=_stop_words(self.stop_words),
            min_df=self.min_df,
            max_df=self.max_df,
            max_features=self.max_features,
            unknown=self.unknown,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TextNB:
        """Learn from these documents only.

        Parameters
        ----------
        X : iterable of str
            The documents: a list, a Series, an array of objects, an Arrow array.
        y : array-like of shape (n_samples,)
            The classes, two at least: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the documents.
        """
        found = [] if y is None else np.asarray(y).ravel().tolist()
        if len(set(found)) == 1:
            do = "To learn one class at a time, use partial_fit"
            raise BadData(wanted("y", "at least two classes", f"only {found[0]!r}", do))
        super().fit(X, y, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> TextNB:
        """Learn from further documents.

        The result is the same, to the bit, as that of `fit` on all of them; `classes` is ignored.
        """
        refuse_balanced(self.class_weight)
        if "_learned" not in vars(self):
            super().fit(X, y, sample_weight)
        else:
            super().partial_fit(X, y, classes, sample_weight)
        return self

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Array, Array | None]:
        return super()._labelled(as_texts(X), y, sample_weight, reset=reset)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return {_COLUMN: as_texts(X)}


def as_texts(given: Any) -> pa.Array:
    """Return documents as an Arrow array of strings; None and NaN are null.

    Examples
    --------
    >>> as_texts(["to be", None]).null_count
    1
    >>> as_texts(["to be", 2])
    Traceback (most recent call last):
    ...
    tallybayes.errors.BadData: documents: wanted text, got 2 (row 1).
    """
    if isinstance(given, str | bytes):
        raise BadData(wanted("documents", "a list of texts", f"one text, {given[:20]!r}", "Put it in a list"))
    if len(shape := getattr(given, "shape", (0,))) != 1 or isinstance(given, dict):
        got = "a dict" if isinstance(given, dict) else f"{type(given).__name__} of shape {tuple(shape)}"
        raise BadData(wanted("documents", "one column of texts", got, "Choose the column"))
    if not hasattr(given, "__iter__") or isinstance(given, BaseEstimator):
        raise BadData(wanted("documents", "a list of texts", repr(given)))
    arrow = as_arrow(given)
    if arrow is not None:
        return arrow
    documents = given if isinstance(given, list) else list(given)
    try:
        return pa.array(documents, pa.large_string(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
        row, value = next((i, d) for i, d in enumerate(documents) if not _is_text(d))
        raise BadData(wanted("documents", "text", f"{value!r} (row {row})")) from None


def as_arrow(given: Any) -> pa.Array | None:
    """Return an Arrow-compatible column of strings as one array; None for anything else."""
    if not isinstance(given, pa.Array | pa.ChunkedArray):
        if not hasattr(given, "__arrow_c_stream__") or len(getattr(given, "shape", ())) != 1:
            return None
        try:
            given = pa.chunked_array(given)
        except (pa.ArrowException, TypeError, UnicodeError):  # a Series of mixed objects
            return None
    kind = given.type.value_type if pa.types.is_dictionary(given.type) else given.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return None
    if isinstance(given, pa.ChunkedArray):
        given = given.chunk(0) if given.num_chunks == 1 else given.cast(pa.large_string()).combine_chunks()
    return given if given.type in (pa.string(), pa.large_string()) else given.cast(pa.large_string())


def _is_text(document: Any) -> bool:
    try:
        pa.array([document], pa.large_string(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
        return False
    return True


def _stop_words(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if given == "english":
        return tuple(ENGLISH_STOP_WORDS)
    return tuple(listed("stop_words", given, "None, 'english' or a list of words"))
