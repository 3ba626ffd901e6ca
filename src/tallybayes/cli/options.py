"""The options that commands share, each described once and spelled as in Python."""

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
    int | None, typer.Option("--threads", metavar="N", help="How many threads work; one per core by default.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed draws the same.")]
_Texts = list[str] | None


@dataclass(frozen=True)
class Reading:
    """Which rows are read beside those of files, and how."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="What the files are, whatever their names: csv, parquet, jsonl.gz, ..."
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
        typer.Option("--errors", help="Whether bytes that are not UTF-8 are refused or replaced."),
    ] = "strict"
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="TEXT", help="Only rows of which this is true, as in 'age > 30 or kind = 2'."),
    ] = None
    bad_lines: Annotated[
        Literal["error", "skip"],
        typer.Option("--bad-lines", help="Whether lines that are no rows are refused, or skipped and told."),
    ] = "error"
    sql: Annotated[
        str | None, typer.Option("--sql", metavar="QUERY", help="A query whose rows are read, in place of DATA.")
    ] = None
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="URL",
            help="Who answers it: duckdb:///FILE, sqlite:///FILE, postgresql://...; DuckDB over files by default.",
        ),
    ] = None
    threads: Threads = None

    def options(self) -> ReadOptions:
        """The same as `tb.fit` groups them."""
        from tallybayes.sources.options import ReadOptions

        connection = None if self.sql is None else self.db or "duckdb"
        return ReadOptions(self.missing or (), self.errors, self.bad_lines, self.where, connection)

    def apart(self, data: Sequence[str] | None) -> tuple[str | None, list[str]]:
        """The model that may stand before rows, and the files of rows, of which there are none beside a query."""
        files = list(data or ())
        is_model = len(files) > (self.sql is None) and files[0].lower().endswith(".tally")
        return (files[0], files[1:]) if is_model else (None, files)

    def words(self, data: Sequence[str] | None) -> list[str]:
        """How the rows are named on the command line: by their files, or by a query; and which of them are left out."""
        from tallybayes.sources.locations import name_of

        if self.sql is not None:
            named = ["--sql", self.sql, *([] if self.db is None else ["--db", self.db])]
        else:
            named = [name_of(path) for path in data or ()]
        named += ["--where", self.where] if self.where is not None else []
        return named + (["--bad-lines", self.bad_lines] if self.bad_lines != "error" else [])


@dataclass(frozen=True)
class Choosing:
    """What a model is of, and what is believed of what was counted: the options of `tb.fit`."""

    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            "-l",
            metavar="NAME",
            help="The column that holds the class. Guessed, and said, if it is not given.",
        ),
    ] = None
    event: Annotated[
        _Texts,
        typer.Option(
            "--event",
            "--events",
            "-e",
            metavar="NAME=MODEL",
            help="The event model of a column or glob, as in age=gaussian; without NAME=, of all. Repeatable.",
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
        typer.Option("--estimate", help="Average over the parameters, take the most probable, or the most likely."),
    ] = "bayes"
    alpha: Annotated[
        _Texts,
        typer.Option(
            "--alpha",
            metavar="[NAME=]A",
            help="The weight of the prior: a number, loo, evidence or auto; of a column with NAME=. Repeatable.",
        ),
    ] = None
    prior: Annotated[
        str,
        typer.Option("--prior", metavar="P", help="Class probabilities: learned, uniform, or as in yes=0.3,no=0.7."),
    ] = "learned"
    variance: Annotated[
        Literal["n", "n-1"],
        typer.Option("--variance", help="What Gaussian sums of squares are divided by under mle and map."),
    ] = "n"
    floor: Annotated[
        float,
        typer.Option(
            "--floor", metavar="SHARE", help="The least variance, as a share of a column's variance over all rows."
        ),
    ] = 1e-9
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate/--no-calibrate", help="Whether probabilities are tempered to be right of rows left out."
        ),
    ] = True
    missing_as: Annotated[
        Literal["skip", "category", "error"],
        typer.Option("--missing-as", help="What a missing value is: nothing, a value of its own, or an error."),
    ] = "skip"
    unseen: Annotated[
        Literal["smooth", "skip", "error"],
        typer.Option("--unseen", help="What a value never seen in training is, when a row is scored."),
    ] = "smooth"

    def options(self, columns: Sequence[str], class_of: Any = str) -> dict[str, Any]:
        """The same as the keywords of `tb.fit`.

        Parameters
        ----------
        columns : sequence of str
            The columns of the rows, by which names to drop are checked.
        class_of : callable
            Makes a class of its text.
        """
        return {
            "events": self._events(columns),
            "weights": self.weight,
            "estimate": self.estimate,
            "alpha": self._alpha(),
            "prior": self._prior(class_of),
            "variance": self.variance,
            "floor": self.floor,
            "calibrate": "loo" if self.calibrate else None,
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
    """How an answer is shown."""

    json: Annotated[bool, typer.Option("--json", help="Print plain values as JSON.")] = False
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead: .json or .txt.")
    ] = None
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite a file that is there.")] = False


@dataclass(frozen=True)
class Writing:
    """Where rows go."""

    json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to a file: .csv, .tsv, .jsonl (also .gz, ...), .parquet, .arrow.",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite a file that is there.")] = False


def pairs(texts: Sequence[str], where: str) -> dict[str, str]:
    """Texts such as ``outlook=sunny``, as a dict.

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
    """Name and value of NAME=VALUE, or * and the value where there is no name; a bracket's = is the value's own."""
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
        raise BadOption(wanted("--prior", "a probability behind each class", repr(text)))
    return number
