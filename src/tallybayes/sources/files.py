"""Paths, globs, lists of paths and directories: many files as one source."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.sources.bad_lines import Skips
from tallybayes.sources.class_folders import class_folders, of_class_folders
from tallybayes.sources.csv import of_delimited
from tallybayes.sources.json_file import of_json
from tallybayes.sources.jsonl import of_lines
from tallybayes.sources.locations import Meter, Place, find, is_uri, name_of
from tallybayes.sources.missing import AUTO, Markers, keeps_usual
from tallybayes.sources.parquet import of_arrow_file, of_parquet
from tallybayes.sources.position import Trail
from tallybayes.sources.source import Source
from tallybayes.sources.spreadsheet import SHEETS, SheetPlace
from tallybayes.sources.steps import BROKEN, blank, in_words, project, retype, type_in_words
from tallybayes.sources.text_chunks import CODECS
from tallybayes.sources.text_format import UTF8, TextFormat
from tallybayes.sources.where import Where

TEXT = {".csv": ",", ".tsv": "\t", ".txt": ",", ".psv": "|", ".tab": "\t", ".data": ",", ".dat": ","}
LINES = (".jsonl", ".ndjson")
OBJECTS = (".json",)
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
ATTRIBUTES = (".arff",)
ENDINGS = (*TEXT, *LINES, *OBJECTS, *ATTRIBUTES, *PARQUET, *ARROW, *SHEETS)
COMPRESSED = f".csv{', .csv'.join(CODECS)}"

# Bytes of text, of all files together, from which types are inferred: some hundredths of a second's work.
SAMPLE_BYTES = 8 << 20
LEAST_SAMPLE = 64 << 10  # bytes of each file, however many there are


@dataclass(frozen=True)
class Options:
    """The options of ``read`` that concern files."""

    columns: Sequence[str] | None
    markers: Markers
    names: Sequence[str] | None
    types: Mapping[str, pa.DataType]
    batch_rows: int | None
    errors: str
    skips: Skips | None
    where: Where | None
    form: TextFormat = UTF8  # of delimited files
    look_bytes: int | None = None  # the size of pieces, for a look at the first rows

    @property
    def whole_where(self) -> Where | None:
        """The predicate, if it can exclude whole parts of files; otherwise None.

        It can if values are compared as they are stored, without changes by other options.
        """
        if self.where is None or self.errors != "strict" or set(self.where.columns) & set(self.types):
            return None
        # A text that is taken as missing equals nothing, so no part with a matching row is left out; but it is null.
        missing = self.markers.missing
        unaffected = not missing or (missing == AUTO and "null" not in self.where.text.lower())
        return self.where if unaffected else None

    def plain(self) -> dict[str, Any]:
        """Return plain options, besides columns and types, that decide which rows files give."""
        return {
            "missing_values": AUTO if self.markers.missing == AUTO else sorted(self.markers.missing),
            "names": None if self.names is None else list(self.names),
            "errors": self.errors,
            **({} if self.form == UTF8 else vars(self.form)),
            "bad_lines": "error" if self.skips is None else "skip",
            "where": None if self.where is None else self.where.text,
        }


def is_path(source: object) -> bool:
    """Return whether this is a path or a list of URIs and data file paths."""
    if isinstance(source, list | tuple) and source:
        return all(
            isinstance(item, os.PathLike) or is_uri(item) or (isinstance(item, str) and ending_of(item) != "")
            for item in source
        )
    return isinstance(source, str | os.PathLike)


def ending_of(path: str) -> str:
    """Return the ending of a file's format, without compression; "" if unknown."""
    name = path.lower()
    codec = next((codec for codec in CODECS if name.endswith(codec)), "")
    ending = os.path.splitext(name.removesuffix(codec))[1]
    return ending if ending in (*TEXT, *LINES, *OBJECTS, *ATTRIBUTES) or (ending in ENDINGS and not codec) else ""


def of_paths(source: Any, options: Options) -> Source:
    """Return a source of local paths or URIs: files, globs, directories of parquet files."""
    paths = [os.fspath(path) for path in (source if isinstance(source, list | tuple) else [source])]
    if len(paths) == 1 and (folders := class_folders(paths[0])) is not None:
        return of_class_folders(paths[0], folders, options.errors)
    found = [place for path in paths for place in _unzipped(find(path, _endings_in))]
    keys = _partitions(found)
    if options.whole_where is not None:  # keep at least one file, to know the columns
        kept = [k for k, key in enumerate(keys) if not options.whole_where.excludes(key)] or [0]
        found, keys = [found[k] for k in kept], [keys[k] for k in kept]
    trail = Trail(found, options.types, options.plain())
    if options.columns is not None:  # keys are not stored in files; with keys only (rare), read all columns
        inside = [name for name in options.columns if not any(name in key for key in keys)]
        options = replace(options, columns=inside or None)
    sample = options.look_bytes or max(LEAST_SAMPLE, SAMPLE_BYTES // len(found))
    each = [trail.file(k, _open(place, options, sample, keys[k], trail)) for k, place in enumerate(found)]
    sources = [_with_keys(source, key) for source, key in zip(each, keys, strict=True)]
    if len(sources) == 1:
        return replace(sources[0], trail=trail)
    optional = all(ending_of(place.name) in LINES for place in found)
    name = name_of(paths[0]) if len(paths) == 1 else f"{len(found)} files"
    return replace(_chain(sources, name, optional=optional), trail=trail)


def _endings_in(names: Sequence[str]) -> Sequence[str]:
    """Return the endings of the files to take of a folder: parquet if there are any, else the most frequent."""
    counted = Counter(ending for name in names if (ending := ending_of(name)))
    if not counted or any(ending in counted for ending in PARQUET):
        return PARQUET
    kinds = (tuple(TEXT), LINES, OBJECTS, ATTRIBUTES, ARROW, SHEETS)
    return max(kinds, key=lambda kind: sum(counted[one] for one in kind))


def _unzipped(places: Sequence[Place]) -> Iterator[Place]:
    """Yield the files, and in place of zip archives the data files in them."""
    for place in places:
        if not place.name.lower().endswith(".zip"):
            yield place
            continue
        from zipfile import BadZipFile  # takes two milliseconds, which most files need not wait for

        try:
            names = place.members()
        except BadZipFile as error:
            got = f"one that cannot be read ({in_words(error)})"
            raise BadData(wanted(place.name, "a zip archive", got)) from None
        kept = [name for name in names if ending_of(name) and not name.startswith(("__MACOSX", "."))]
        if not kept:
            got = f"none among {', '.join(map(repr, names[:5])) or 'no files'}"
            raise BadData(wanted(place.name, f"a file ending in {', '.join(ENDINGS)}", got))
        yield from (replace(place, name=f"{place.name}/{name}", member=name, meter=Meter()) for name in kept)


def _open(place: Place, options: Options, sample: int, keys: Mapping[str, pa.Scalar], trail: Trail) -> Source:
    path = place.name
    ending = ending_of(path)
    if not ending:
        got = f"'{''.join(PurePath(path).suffixes[-2:])}'" if PurePath(path).suffix else "no ending"
        do = f"Text may also be compressed, as in {COMPRESSED}"
        raise BadData(wanted(path, f"a file ending in {', '.join(ENDINGS)}", got, do))
    if ending in SHEETS:
        place, ending = SheetPlace.of(place), ".csv"
    if options.names is not None and ending not in TEXT:
        raise BadOption(wanted("names", "none, since the file names its own columns", str(len(options.names))))
    columns, markers, errors = options.columns, options.markers, options.errors
    how: dict[str, Any] = {"columns": columns, "types": options.types, "errors": errors}
    how |= {"sample": sample, "piece": options.look_bytes, "skips": options.skips, "trail": trail}
    try:
        if ending in TEXT:
            rows = of_delimited(
                place, TEXT[ending], names=options.names, missing=markers.missing, form=options.form, **how
            )
            if not keeps_usual(markers.missing):
                return rows
            rows = blank(rows, markers)
            return blank(rows, Markers(("",))) if markers.documents else rows  # an empty field is always missing
        if ending in OBJECTS and (whole := of_json(place, None if columns is None else list(columns))) is not None:
            return blank(whole, markers)
        if ending in LINES or ending in OBJECTS:
            return blank(of_lines(place, **how), markers)
        if ending in ATTRIBUTES:
            from tallybayes.sources.arff import of_attributes  # compiles its patterns, which few files need

            return blank(of_attributes(place, errors=errors, trail=trail), markers)
        if ending in PARQUET:
            where = options.whole_where
            among = None if where is None else lambda schema: where.expression(schema, keys)
            return blank(of_parquet(place, columns, options.batch_rows, errors, trail, among), markers)
        return blank(of_arrow_file(place, columns, errors, trail), markers)
    except BROKEN as error:
        got = f"one that cannot be read ({in_words(error)})"
        raise BadData(wanted(path, f"a readable {ending[1:]} file", got)) from None


def _partitions(found: Sequence[Place]) -> list[dict[str, pa.Scalar]]:
    """Return the columns in each file's directory names (key=value, as in Hive and Spark)."""
    keys = [dict(part.split("=", 1) for part in place.under if "=" in part) for place in found]
    texts = {name: [key[name] for key in keys if name in key] for key in keys for name in key}
    whole = {name for name, values in texts.items() if all(value.isascii() and value.isdigit() for value in values)}

    def value(name: str, text: str) -> pa.Scalar:
        return pa.scalar(int(text), pa.int64()) if name in whole else pa.scalar(unquote(text), pa.string())

    return [{name: value(name, text) for name, text in key.items()} for key in keys]


def _with_keys(source: Source, keys: Mapping[str, pa.Scalar]) -> Source:
    """Return the source with its directory keys as columns, which replace the file's own."""
    own = [name for name in source.schema.names if name not in keys]
    source = project(source, own) if len(own) < len(source.schema.names) else source
    for name, value in keys.items():
        source = _with_constant(source, name, value)
    return source


def _with_constant(source: Source, name: str, value: pa.Scalar) -> Source:
    schema = source.schema.append(pa.field(name, value.type))

    def extended(batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*batch.columns, pa.repeat(value, batch.num_rows)], schema=schema)

    return source.map(extended, schema)


def _chain(sources: Sequence[Source], name: str, *, optional: bool) -> Source:
    """Return one source of several files with equal columns; numbers get the wider type."""
    first = sources[0]
    types = {field.name: field.type for field in first.schema}
    for source in sources[1:]:
        differing = set(types) ^ set(source.schema.names)
        if differing and not optional:
            column = min(differing)
            got = f"{'none' if column in types else 'a column'} named '{column}'"
            raise BadData(wanted(source.name, f"the columns of {first.name}", got))
        for field in source.schema:
            types[field.name] = _common(types.get(field.name, field.type), field, source.name, first.name)
    parts = [project(retype(source, types), list(types)) for source in sources]
    rows = sum(part.rows for part in parts if part.rows is not None)
    counted = all(part.rows is not None for part in parts)
    again = all(part.again for part in parts)
    return Source(parts[0].schema, rows if counted else None, again, name, lambda: chain.from_iterable(parts))


def _common(kind: pa.DataType, field: pa.Field, name: str, other: str) -> pa.DataType:
    if kind == field.type:
        return kind
    both = [pa.schema([("both", kind)]), pa.schema([("both", field.type)])]
    try:
        return pa.unify_schemas(both, promote_options="permissive").field(0).type
    except BROKEN:
        where, want = f"{name}, column '{field.name}'", f"{type_in_words(kind)}, as in {other}"
        raise BadData(wanted(where, want, type_in_words(field.type), "Make them one type")) from None
