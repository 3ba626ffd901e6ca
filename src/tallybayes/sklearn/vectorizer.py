"""CountVectorizer: a drop-in for scikit-learn's that uses the compiled kernels where they support the options."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer as _Theirs

from tallybayes import engines
from tallybayes.arguments import listed
from tallybayes.errors import BadData, wanted
from tallybayes.kernels.text import Lookup, TextOptions, Vectors, merge_vocabularies, vectorise
from tallybayes.sklearn.arrays import Array
from tallybayes.sklearn.text import as_arrow

_PATTERN = r"(?u)\b\w\w+\b"
# Methods that a subclass may override: then the kernels do not know what a token is.
_STEPS = ("build_analyzer", "build_preprocessor", "build_tokenizer", "decode", "_word_ngrams", "_char_ngrams")
_FEW = 1 << 18  # characters (bytes for Arrow); below, a second thread costs more than it saves
_MOST_NARROW = np.iinfo(np.int32).max


class CountVectorizer(_Theirs):
    """Token counts from strings: the same matrix and vocabulary as scikit-learn's, in less time.

    All parameters, attributes and methods are those of :class:`sklearn.feature_extraction.text.CountVectorizer`. A
    custom tokenizer, preprocessor, pattern or analyzer, files, and documents of bytes are handled by scikit-learn's own
    code. Documents may also be an Arrow array of strings.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, token_pattern, \
ngram_range, analyzer, max_df, min_df, max_features, vocabulary, binary, dtype
        As scikit-learn describes them.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each token.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.

    Examples
    --------
    >>> from tallybayes import CountVectorizer
    >>> vectorizer = CountVectorizer()
    >>> vectorizer.fit_transform(["To be, or not to be", "Be!"]).toarray()
    array([[2, 1, 1, 2],
           [1, 0, 0, 0]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['be', 'not', 'or', 'to']
    """

    # No `__init__` here: scikit-learn reads the names of the parameters from the inherited one.

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_lookup"}

    def _count_vocab(self, raw_documents: Any, fixed_vocab: bool) -> tuple[dict[str, int], Any]:
        """Return the vocabulary, sorted unless it was given, and the matrix."""
        documents = _documents(raw_documents)
        options = self._options() if _are_text(documents) else None
        lookup = self._ready(options) if options is not None and fixed_vocab else None
        if options is None or (fixed_vocab and lookup is None):
            plain = documents.to_pylist() if isinstance(documents, pa.Array) else documents
            return super()._count_vocab(plain, fixed_vocab)  # type: ignore[no-any-return]
        self.build_analyzer()  # warns of stop words that can never be tokens
        try:
            parts = _in_slices(documents, options, lookup)
        except UnicodeEncodeError:  # a lone surrogate, which Python allows and UTF-8 does not
            return super()._count_vocab(documents, fixed_vocab)  # type: ignore[no-any-return]
        if lookup is not None:
            return self.vocabulary_, _matrix(parts, [None] * len(parts), len(lookup), self.dtype)
        tokens, columns = _united(parts)
        if not len(tokens):
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")  # scikit-learn's words
        vocabulary = dict(zip(tokens.to_pylist(), range(len(tokens)), strict=True))
        return vocabulary, _matrix(parts, columns, len(tokens), self.dtype)

    def _limit_features(self, X: Any, vocabulary: Any, high: Any = None, low: Any = None, limit: Any = None) -> Any:
        """Do the same as scikit-learn, but copy nothing if every token is kept."""
        n, width = X.shape
        if (high is None or high >= n) and (low is None or low <= 1) and (limit is None or limit >= width):
            return X
        return super()._limit_features(X, vocabulary, high, low, limit)

    def _sort_features(self, X: Any, vocabulary: dict[str, int]) -> Any:
        """Do the same as scikit-learn, but nothing if the tokens are sorted already."""
        terms = list(vocabulary)
        if list(vocabulary.values()) == list(range(len(terms))) and terms == sorted(terms):
            vocabulary.update(zip(terms, range(len(terms)), strict=True))  # plain ints, where pruning left NumPy's
            return X
        X = super()._sort_features(X, vocabulary)
        X.has_sorted_indices = False  # scikit-learn renames them in place, so they no longer increase within a row
        X.sort_indices()
        return X

    def _options(self) -> TextOptions | None:
        """Return the tokenization options for the kernels; None where they do not support them."""
        if any(getattr(type(self), step) is not getattr(_Theirs, step) for step in _STEPS):
            return None
        if self.input != "content" or self.preprocessor is not None or callable(self.strip_accents):
            return None
        if self.analyzer == "word" and (self.tokenizer is not None or self.token_pattern != _PATTERN):
            return None
        words = (self.get_stop_words() or ()) if self.analyzer == "word" else ()
        try:
            return TextOptions(
                lowercase=bool(self.lowercase),
                strip_accents=self.strip_accents or None,
                analyzer=self.analyzer,
                ngram_range=self.ngram_range,
                stop_words=tuple(sorted(words)),
            )
        except (TypeError, ValueError):  # scikit-learn may still accept it
            return None

    def _ready(self, options: TextOptions) -> Lookup | None:
        """Return a lookup of the vocabulary, cached while it is the same dict."""
        held, size, used, lookup = getattr(self, "_lookup", (None, 0, None, None))
        if held is self.vocabulary_ and size == len(held) and used == options:
            return lookup
        terms: list[Any] = [None] * len(self.vocabulary_)
        try:
            for term, place in self.vocabulary_.items():
                terms[place] = term
            if not _are_text(terms):
                return None
            lookup = Lookup(pa.array(terms, pa.large_string()), options)
        except (IndexError, TypeError, UnicodeEncodeError):
            return None
        self._lookup = self.vocabulary_, len(terms), options, lookup
        return lookup


def _documents(given: Any) -> Any:
    """Return documents as an Arrow array if they are one, otherwise as a list."""
    arrow = as_arrow(given)
    if arrow is None:
        return given if isinstance(given, list) else listed("documents", given, "a list of texts")
    if arrow.null_count:
        row = int(np.argmax(arrow.is_null().to_numpy(zero_copy_only=False)))
        raise BadData(wanted("documents", "text", f"null (first: row {row})", "Fill it, with '' for example"))
    return arrow


def _are_text(documents: Any) -> bool:
    return isinstance(documents, pa.Array) or set(map(type, documents)) <= {str, np.str_}


def _in_slices(documents: Any, options: TextOptions, lookup: Lookup | None) -> list[Vectors]:
    """Vectorise slices of the documents in parallel."""
    n = len(documents)
    arrow = isinstance(documents, pa.Array)
    size = documents.nbytes if arrow else sum(map(len, documents))
    threads = engines.default_threads(None)
    pieces = 1 if size < _FEW else threads  # not more: each has most of the vocabulary, which must be merged

    def work(rows: slice) -> Vectors:
        # A list is converted to Arrow here, so that one thread does so while others count.
        some = documents.slice(rows.start, rows.stop - rows.start) if arrow else documents[rows]
        return vectorise(some if arrow else pa.array(some, pa.large_string()), options, lookup)

    if not n:
        return [work(slice(0, 0))]
    return engines.map_rows(n, work, threads=threads, rows=-(-n // pieces))


def _united(parts: list[Vectors]) -> tuple[Any, list[Array | None]]:
    """Return the common vocabulary, and the column in it of each slice's tokens (None: unchanged)."""
    if len(parts) == 1:
        return parts[0].vocabulary, [None]
    union = reduce(lambda left, right: merge_vocabularies(left, right)[0], [part.vocabulary for part in parts])
    return union, [merge_vocabularies(union, part.vocabulary)[2].astype(np.int32) for part in parts]


def _matrix(parts: list[Vectors], columns: list[Array | None], width: int, dtype: Any) -> csr_matrix:
    """Stack the slices' vectors, with their tokens mapped to columns."""
    ends = np.cumsum([0, *(len(part.data) for part in parts)])
    entries = int(ends[-1])
    narrow = np.int32 if entries <= _MOST_NARROW else np.int64
    if len(parts) == 1:
        data, indices, indptr = parts[0].data, parts[0].indices, parts[0].indptr
    else:
        data, indices = np.empty(entries, dtype), np.empty(entries, np.int32)

        def place(which: slice) -> None:
            i = which.start
            at = slice(ends[i], ends[i + 1])
            data[at] = parts[i].data
            new = columns[i]
            if new is None:
                indices[at] = parts[i].indices
            else:
                np.take(new, parts[i].indices, out=indices[at], mode="clip")

        engines.map_rows(len(parts), place, threads=engines.default_threads(None), rows=1)
        indptr = np.concatenate([[0], *(part.indptr[1:] + end for part, end in zip(parts, ends, strict=False))])
    shape = len(indptr) - 1, width
    kept = data.astype(dtype, copy=False), indices.astype(narrow, copy=False), indptr.astype(narrow, copy=False)
    matrix = csr_matrix(kept, shape=shape, dtype=dtype)
    matrix.has_sorted_indices = True
    return matrix
