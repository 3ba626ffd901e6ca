"""The options that commands share, each described once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from tallybayes.sources.options import ReadOptions

__all__ = ["Choosing", "Data", "ModelFile", "Reading", "Seed", "Showing", "Threads", "Writing", "pairs"]

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
class Reading:
    """The options that say how rows are read, and from which query."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="Format of the files, whatever their names: csv, parquet, jsonl.gz, ..."
        ),
    ] = None
    missing: Annotated[
        _Texts,
        typer.Option(
            "--missing",
            "--missing-values",
            metavar="TEXT",
            help="A text that stands for a missing value, such as '?'. Repeatable.",
        ),
    ] = None
    errors: Annotated[
        Literal["strict", "replace"],
        typer.Option("--errors", help="Fail on bytes that are not UTF-8, or replace them."),
    ] = "strict"
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="TEXT", help="Read only rows where this holds, as in 'age > 30 or kind = 2'."),
    ] = None
    bad_lines: Annotated[
        Literal["error", "skip"], typer.Option("--bad-lines", help="Fail on malformed lines, or skip and count them.")
    ] = "error"
    sql: Annotated[
        str | None, typer.Option("--sql", metavar="QUERY", help="Read the rows of a query, instead of DATA.")
    ] = None
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="URL",
            help="Database of the query: duckdb:///FILE, sqlite:///FILE, postgresql://...; default: DuckDB over files.",
        ),
    ] = None
    threads: Threads = None

    def options(self) -> ReadOptions:
        """Return the same options as `tb.fit` groups them."""
        from tallybayes.sources.options import ReadOptions

        connection = None if self.sql is None else self.db or "duckdb"
        return ReadOptions(self.missing or (), self.errors, self.bad_lines, self.where, connection)

    def split_model(self, data: Sequence[str] | None) -> tuple[str | None, list[str]]:
        """Split `[MODEL] DATA` into the model, if there is one, and the data files (none with a query)."""
        files = list(data or ())
        is_model = len(files) > (self.sql is None) and files[0].lower().endswith(".tally")
        return (files[0], files[1:]) if is_model else (None, files)

    def words(self, data: Sequence[str] | None) -> list[str]:
        """Return the words that name these rows on a command line: files or query, --where and --bad-lines."""
        from tallybayes.sources.locations import name_of

        if self.sql is not None:
            named = ["--sql", self.sql, *([] if self.db is None else ["--db", self.db])]
        else:
            named = [name_of(path) for path in data or ()]
        named += ["--where", self.where] if self.where is not None else []
        return named + (["--bad-lines", self.bad_lines] if self.bad_lines != "error" else [])


@dataclass(frozen=True)
class Choosing:
    """The options of `tb.fit`: label, event models, smoothing, prior and calibration."""

    label: Annotated[
        str | None,
        typer.Option(
            "--label", "-l", metavar="NAME", help="The column that holds the class; by default guessed, and printed."
        ),
    ] = None
    event: Annotated[
        _Texts,
        typer.Option(
            "--event",
            "--events",
            "-e",
            metavar="NAME=MODEL",
            help="Event model of a column or glob, as in age=gaussian; without NAME= of all columns. Repeatable.",
        ),
    ] = None
    drop: Annotated[
        _Texts, typer.Option("--drop", metavar="NAME", help="A column or glob to leave out. Repeatable.")
    ] = None
    weight: Annotated[
        str | None,
        typer.Option("--weight", "--weights", metavar="NAME", help="The column that holds the weights of the rows."),
    ] = None
    estimate: Annotated[
        Literal["bayes", "map", "mle"],
        typer.Option("--estimate", help="Average over the posterior, posterior mode, or maximum likelihood."),
    ] = "bayes"
    alpha: Annotated[
        _Texts,
        typer.Option(
            "--alpha",
            metavar="[NAME=]A",
            help="Smoothing: a number, loo, evidence or auto; with NAME= of one column. Repeatable.",
        ),
    ] = None
    prior: Annotated[
        str,
        typer.Option("--prior", metavar="P", help="Class probabilities: learned, uniform, or as in yes=0.3,no=0.7."),
    ] = "learned"
    variance: Annotated[
        Literal["n", "n-1"], typer.Option("--variance", help="Divisor of Gaussian sums of squares, for mle and map.")
    ] = "n"
    floor: Annotated[
        float,
        typer.Option(
            "--floor", metavar="SHARE", help="Smallest variance, as a share of the column's variance over all rows."
        ),
    ] = 1e-9
    calibrate: Annotated[
        bool, typer.Option("--calibrate/--no-calibrate", help="Calibrate probabilities by leave-one-out.")
    ] = True
    structure: Annotated[
        Literal["naive", "pairs", "tan", "joint", "auto"],
        typer.Option("--structure", help="Columns counted together: none, pairs that earn a weight, a tree, or all."),
    ] = "naive"
    missing_as: Annotated[
        Literal["skip", "category", "error"],
        typer.Option("--missing-as", help="Skip missing values, count them as a value of their own, or fail."),
    ] = "skip"
    unseen: Annotated[
        Literal["smooth", "skip", "error"],
        typer.Option("--unseen", help="When scoring a value never seen in training: smooth, skip or fail."),
    ] = "smooth"

    def options(self, columns: Sequence[str], class_of: Any = str) -> dict[str, Any]:
        """Return these options as keywords of `tb.fit`.

        Parameters
        ----------
        columns : sequence of str
            The columns of the rows, to check the names in --drop.
        class_of : callable
            Converts a text to a class.
        """
        return {
            "events": self._events(columns),
            "weights": self.weight,
            "estimate": self.estimate,
            "alpha": self._alpha(),
            "prior": self._prior(class_of),
            "variance": self.variance,
            "floor": self.floor,
            "calibrate": "auto" if self.calibrate else None,
            "structure": self.structure,
            "missing": self.missing_as,
            "unseen": self.unseen,
        }

    def _events(self, columns: Sequence[str]) -> dict[str, str] | None:
        from tallybayes.errors import did_you_mean

        for name in self.drop or ():
            if not any(fnmatchcase(column, name) for column in columns):
                raise BadOption(wanted("--drop", "a column or glob", repr(name), did_you_mean(name, columns)))
        given = dict.fromkeys(self.drop or (), "ignore")
        return given | dict(_named(text) for text in self.event or ()) or None

    def _alpha(self) -> Any:
        given = dict(_named(text) for text in self.alpha or ["auto"])
        values = {name: _number(value) for name, value in given.items()}
        return values["*"] if set(values) == {"*"} else values

    def _prior(self, class_of: Any) -> Any:
        if "=" not in self.prior:
            return self.prior
        return {class_of(name): _share(value) for name, value in pairs(self.prior.split(","), "--prior").items()}


@dataclass(frozen=True)
class Showing:
    """The options that say how a result is shown."""

    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead: .json or .txt.")
    ] = None
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False


@dataclass(frozen=True)
class Writing:
    """The options that say where rows are written."""

    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to a file: .csv, .tsv, .jsonl (also .gz, ...), .parquet, .arrow.",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False


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


def _named(text: str) -> tuple[str, str]:
    """Split NAME=VALUE; the name is * if there is none. An = inside brackets belongs to the value."""
    name, equals, value = text.partition("=")
    return (name, value) if equals and "(" not in name else ("*", text)


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
