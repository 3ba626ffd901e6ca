"""The options that commands share, each described once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tallybayes.cli.option_groups import option, option_words
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.sources.options import ReadOptions

Data = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA", help="Files, globs, or - for standard input: csv, tsv, parquet, arrow, jsonl, arff; or --sql."
    ),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model that 'tally fit' saved.")]
Threads = Annotated[
    int | None, typer.Option("--threads", metavar="N", help="Number of threads; one per core by default.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Random seed; the same seed gives the same result.")]
_Texts = list[str] | None


@dataclass(frozen=True)
class InputOptions:
    """The options that say how rows are read, and from which query."""

    format: str | None = option(
        None, "--format FORMAT", "Format of the files, whatever their names: csv, parquet, jsonl.gz, ..."
    )
    missing: _Texts = option(
        None,
        "--missing --missing-values TEXT",
        "A text that stands for a missing value, in place of the usual ones (?, NA, ...); 'auto' keeps those. "
        "Repeatable.",
    )
    errors: Literal["strict", "replace"] = option(
        "strict", "--errors", "Fail on bytes that are not UTF-8, or replace them."
    )
    encoding: str | None = option(
        None, "--encoding NAME", "Encoding of text files, such as latin-1; by default found in the first bytes."
    )
    delimiter: str | None = option(
        None, "--delimiter TEXT", "What separates values, such as ';'; by default found in the first lines."
    )
    no_header: bool = option(False, "--no-header", "Text files have no header: call columns column1, column2, ...")
    where: str | None = option(None, "--where TEXT", "Read only rows where this holds, as in 'age > 30 or kind = 2'.")
    bad_lines: Literal["error", "skip"] = option(
        "error", "--bad-lines", "Fail on malformed lines, or skip and count them."
    )
    sql: str | None = option(None, "--sql QUERY", "Read the rows of a query, instead of DATA.")
    db: str | None = option(
        None,
        "--db URL",
        "Database of the query: duckdb:///FILE, sqlite:///FILE, postgresql://...; default: DuckDB over files.",
    )
    threads: Threads = None

    def read_options(self) -> ReadOptions:
        """Return the same options as `tb.fit` groups them."""
        from tallybayes.sources.options import ReadOptions

        connection = None if self.sql is None else self.db or "duckdb"
        form = (self.encoding, "\t" if self.delimiter in ("tab", "\\t") else self.delimiter, not self.no_header)
        return ReadOptions(self.missing or "auto", self.errors, self.bad_lines, self.where, connection, *form)

    def split_model(self, data: Sequence[str] | None) -> tuple[str | None, list[str]]:
        """Split `[MODEL] DATA` into the model, if any, and the data files."""
        files = list(data or ())
        is_model = len(files) > (self.sql is None) and files[0].lower().endswith(".tally")
        return (files[0], files[1:]) if is_model else (None, files)

    def words(self, data: Sequence[str] | None) -> list[str]:
        """Return the words that name these rows, and how they are read."""
        from tallybayes.sources.locations import name_of

        return [*map(name_of, data or ()), *option_words(replace(self, db=self.db and name_of(self.db)))]


@dataclass(frozen=True)
class ModelOptions:
    """The options of `tb.fit`: label, event models, smoothing, prior and calibration."""

    label: str | None = option(
        None, "--label -l NAME", "The column that holds the class; by default guessed, and printed."
    )
    event: _Texts = option(
        None,
        "--event --events -e NAME=MODEL",
        "Event model of a column or glob, as in age=gaussian; without NAME= of all columns. Repeatable.",
    )
    drop: _Texts = option(None, "--drop NAME", "A column or glob to leave out. Repeatable.")
    keep: _Texts = option(None, "--keep NAME", "A column or glob to use although it looks like an id. Repeatable.")
    label_as_is: bool = option(False, "--label-as-is", "Take each number of the label as a class, however many.")
    weight: str | None = option(None, "--weight --weights NAME", "The column that holds the weights of the rows.")
    estimate: Literal["bayes", "map", "mle"] = option(
        "bayes", "--estimate", "Average over the posterior, posterior mode, or maximum likelihood."
    )
    alpha: _Texts = option(
        None,
        "--alpha [NAME=]A",
        "Smoothing: a number, average, loo, evidence or auto; NAME= for one column. Repeatable.",
    )
    prior: str = option("learned", "--prior P", "Class probabilities: learned, uniform, or as in yes=0.3,no=0.7.")
    variance: Literal["n", "n-1"] = option("n", "--variance", "Divisor of Gaussian sums of squares, for mle and map.")
    floor: float = option(
        1e-9, "--floor SHARE", "Smallest variance, as a share of the column's variance over all rows."
    )
    calibrate: bool = option(True, "--calibrate/--no-calibrate", "Calibrate probabilities by leave-one-out.")
    structure: Literal["naive", "pairs", "tan", "aode", "joint", "auto"] = option(
        "naive", "--structure", "Columns counted together: none, pairs that earn a weight, a tree, all pairs, or all."
    )
    missing_as: Literal["skip", "category", "error"] = option(
        "skip", "--missing-as", "Skip missing values, count them as a value of their own, or fail."
    )
    unseen: Literal["smooth", "skip", "error"] = option(
        "smooth", "--unseen", "When scoring a value never seen in training: smooth, skip or fail."
    )

    def keywords(self, columns: Sequence[str], class_of: Any = str) -> dict[str, Any]:
        """Return these options as keywords of `tb.fit`.

        `columns` are those of the rows, to check the names in --drop; `class_of` converts a text to a class.
        """
        return {
            "events": self._events(columns),
            "weights": self._weight(columns),
            "estimate": self.estimate,
            "alpha": self._alpha(),
            "prior": self._prior(class_of),
            "variance": self.variance,
            "floor": self.floor,
            "calibrate": "auto" if self.calibrate else None,
            "structure": self.structure,
            "keep": self._keep(columns),
            "label_as_is": self.label_as_is,
            "missing": self.missing_as,
            "unseen": self.unseen,
        }

    def _events(self, columns: Sequence[str]) -> dict[str, str] | None:
        given = dict.fromkeys(named_or_matching(self.drop or (), columns, "--drop"), "ignore")
        return given | dict(_named(text) for text in self.event or ()) or None

    def _weight(self, columns: Sequence[str]) -> str | None:
        from tallybayes.errors import did_you_mean

        if self.weight is not None and self.weight not in columns:
            raise BadOption(wanted("--weight", "a column", repr(self.weight), did_you_mean(self.weight, columns)))
        return self.weight

    def _keep(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(named_or_matching(self.keep or (), columns, "--keep"))

    def _alpha(self) -> Any:
        given = dict(_named(text) for text in self.alpha or ["auto"])
        values = {name: _number(value) for name, value in given.items()}
        return values["*"] if set(values) == {"*"} else values

    def _prior(self, class_of: Any) -> Any:
        if "=" not in self.prior:
            return self.prior
        return {class_of(name): _share(value) for name, value in pairs(self.prior.split(","), "--prior").items()}


@dataclass(frozen=True)
class DisplayOptions:
    """The options that say how a result is shown."""

    json: bool = option(False, "--json", "Print JSON.")
    output: str | None = option(None, "--output -o FILE", "Write to a file instead: .json or .txt.")
    force: bool = option(False, "--force -f", "Overwrite an existing file.")


@dataclass(frozen=True)
class OutputOptions:
    """The options that say where rows are written."""

    json: bool = option(False, "--json", "Print one JSON object per line.")
    output: str | None = option(
        None, "--output -o FILE", "Write to a file: .csv, .tsv, .jsonl (also .gz, ...), .parquet, .arrow."
    )
    force: bool = option(False, "--force -f", "Overwrite an existing file.")
    raw: bool = option(False, "--raw", "In csv, write texts that begin like a formula (= + - @) without an apostrophe.")


def pairs(texts: Sequence[str], where: str) -> dict[str, str]:
    """Return texts such as ``outlook=sunny`` as a dict.

    Examples
    --------
    >>> pairs(["outlook=sunny", "note=a=b"], "the row")
    {'outlook': 'sunny', 'note': 'a=b'}
    """
    out = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadOption(wanted(where, "NAME=VALUE", repr(text)))
        out[name.strip()] = value.strip()
    return out


def named_or_matching(given: Sequence[str], columns: Sequence[str], where: str, want: str = "") -> list[str]:
    """Return names and globs, split at commas; raise if one matches no column.

    Examples
    --------
    >>> named_or_matching(["age,pay*", "a,b"], ["age", "pay day", "a,b"], "--drop")
    ['age', 'pay*', 'a,b']
    """
    from tallybayes.errors import did_you_mean

    def known(name: str) -> bool:
        return any(column == name or fnmatchcase(column, name) for column in columns)

    found = [name for one in given for name in ([one] if known(one) else map(str.strip, one.split(",")))]
    for name in found:
        if not known(name):
            raise BadOption(wanted(where, want or "a column or glob", repr(name), did_you_mean(name, columns)))
    return found


def _named(text: str) -> tuple[str, str]:
    """Split NAME=VALUE at the last = outside brackets; without one the name is *.

    Examples
    --------
    >>> _named("f(x)=poisson"), _named("age=bernoulli(threshold=9)"), _named("bernoulli(threshold=9)")
    (('f(x)', 'poisson'), ('age', 'bernoulli(threshold=9)'), ('*', 'bernoulli(threshold=9)'))
    """
    name, equals, value = text.rpartition("=")
    while equals and value.count("(") != value.count(")"):
        name, equals, more = name.rpartition("=")
        value = f"{more}={value}"
    return (name, value) if equals else ("*", text)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _share(text: str) -> float:
    number = _number(text)
    if not isinstance(number, float):
        raise BadOption(wanted("--prior", "a probability for each class", repr(text)))
    return number
