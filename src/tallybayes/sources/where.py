"""Row predicates, such as ``age > 30 and (kind in ('a', 'b') or note is null)``.

Python's parser reads the text, but Python never evaluates it: this module walks the tree, comparison by comparison, and
rejects everything else. A row is kept if the whole predicate is true. A missing value (null or NaN) compares as neither
true nor false, as in SQL.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pyarrow as pa

from tallybayes import arguments
from tallybayes.arguments import shown
from tallybayes.errors import BadOption, wanted
from tallybayes.sources.source import Source
from tallybayes.sources.steps import BROKEN, columns_to_read, retype, type_in_words
from tallybayes.sources.take import take

_COMPARE = {
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
_FORM = "comparisons such as \"age > 30 and kind in ('a', 'b')\""
# SQL's words in Python's spelling. All other words are columns, even Python's other keywords.
_WORDS = {word: word for word in ("and", "or", "not", "in", "is")} | {"null": "None", "true": "True", "false": "False"}
_SIGNS = {"=": "==", "<>": "!=", "\n": " "}
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]+`|[^\W\d]\w*|<>|[<>=!]=|.""", re.DOTALL)

# pyarrow recurses through a chain of comparisons: with more terms, the stack may overflow, for few files left unread.
_MOST_TERMS = 500

Literal = str | int | float | bool


@dataclass(frozen=True)
class _Column:
    name: str


class _Values:
    """The values of columns and literals in an evaluation: arrays, expressions or scalars."""

    def __init__(self, column: Callable[[str], Any], kinds: Mapping[str, pa.DataType], literal: Callable[[Any], Any]):
        self.column, self.kinds, self.literal = column, kinds, literal

    def known(self, *sides: _Column | Literal) -> bool:
        return all(not isinstance(side, _Column) or side.name in self.kinds for side in sides)

    @property
    def nothing(self) -> Any:
        """The value null: neither true nor false."""
        return self.literal(pa.scalar(None, pa.bool_()))


Test = Callable[[_Values], Any]


class Where:
    """A predicate on rows: its `text` as it was written, and the `columns` it compares.

    Examples
    --------
    >>> where = Where("age > 30 and kind != 'b'")
    >>> where.columns
    ('age', 'kind')
    >>> where.mask(pa.record_batch({"age": [29, 31, 50], "kind": ["a", "a", "b"]})).to_pylist()
    [False, True, False]
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or not text.strip():
            raise BadOption(wanted("where", _FORM, shown(text)))
        self.text = arguments.text("where", text, _FORM)
        try:
            reader = _Reader(text)
            self._test = reader.test(reader.tree)
        except (RecursionError, MemoryError):
            raise BadOption(wanted("where", _FORM, "too many nested ones")) from None
        self.columns = tuple(dict.fromkeys(reader.columns))
        self._maybe_null, self._terms = reader.maybe_null, len(reader.columns)

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        """Return whether each row is kept: true, false or null, which means not kept."""
        kinds = {name: _plain(batch.schema.field(name).type) for name in self.columns}
        return self._evaluate(_Values(lambda name: _decode(batch.column(name)), kinds, lambda value: value))

    def expression(self, schema: pa.Schema, known: Mapping[str, pa.Scalar]) -> Any:
        """Return the predicate as a pyarrow expression that can exclude parts of a file; None if it cannot.

        `known` are the columns that have one value in the whole file.
        """
        import pyarrow.compute as pc

        fields = [pa.field(name, value.type) for name, value in known.items()]
        schema = pa.schema([*(field for field in schema if field.name not in known), *fields])
        if self._terms > _MOST_TERMS or not set(self.columns) <= set(schema.names):
            return None
        # The statistics of a row group count nulls but not NaN, which is missing as well.
        if any(pa.types.is_floating(_plain(schema.field(name).type)) for name in self._maybe_null):
            return None
        self.check(schema)
        kinds = {name: _plain(schema.field(name).type) for name in self.columns}
        column = lambda name: pc.scalar(known[name]) if name in known else pc.field(name)  # noqa: E731
        return self._evaluate(_Values(column, kinds, pc.scalar))

    def check(self, schema: pa.Schema) -> None:
        """Raise BadOption if columns and values cannot be compared."""
        self.mask(pa.RecordBatch.from_pylist([], schema=schema))

    def excludes(self, known: Mapping[str, pa.Scalar]) -> bool:
        """Return whether every row with these values is excluded, whatever its other columns."""
        kinds = {name: value.type for name, value in known.items()}
        found = self._evaluate(_Values(known.__getitem__, kinds, lambda value: value))
        return found.as_py() is False

    def filter(self, source: Source) -> Source:
        """Return the source with only the rows that are kept."""
        columns_to_read(source.schema, self.columns, source.name)
        views = [field.name for field in source.schema if field.type == pa.string_view()]
        source = retype(source, dict.fromkeys(views, pa.large_string()))  # Arrow cannot filter string views
        self.check(source.schema)  # fail now, not at the first row

        def kept(batch: pa.RecordBatch) -> pa.RecordBatch:
            import pyarrow.compute as pc

            index = pc.indices_nonzero(self.mask(batch)).to_numpy()
            return batch if len(index) == batch.num_rows else take(batch, index)

        return replace(source.map(kept), rows=None)

    def _evaluate(self, values: _Values) -> Any:
        try:
            return self._test(values)
        except BROKEN as error:
            raise BadOption(wanted("where", "columns that can be compared", f"{self.text!r} ({error})")) from None


class _Reader:
    """A parser that turns a predicate's tree into a function of values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.columns: list[str] = []
        self.maybe_null: list[str] = []
        self._names: dict[str, str] = {}
        try:
            self.tree: ast.expr = ast.parse("".join(map(self._token, _TOKEN.findall(text))).strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            got = f"{text!r} ({error.msg})" if isinstance(error, SyntaxError) else repr(text)
            raise BadOption(wanted("where", _FORM, got)) from None

    def _token(self, token: str) -> str:
        """Return a token in Python's spelling, with stand-ins for names that Python rejects."""
        if token.lower() in _WORDS:
            return _WORDS[token.lower()]
        if token.startswith("`") or (keyword.iskeyword(token) and token not in ("None", "True", "False")):
            alias = f"_column_{len(self._names)}_"
            self._names[alias] = token.strip("`")
            return alias
        return _SIGNS.get(token, token)

    def test(self, node: ast.expr) -> Test:
        """Return the function of one comparison, or of several."""
        if isinstance(node, ast.BoolOp):
            how = "and_kleene" if isinstance(node.op, ast.And) else "or_kleene"
            return _join(how, [self.test(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _invert(self.test(node.operand))
        if isinstance(node, ast.Compare):
            lefts = [node.left, *node.comparators]
            pairs = zip(lefts, node.ops, node.comparators, strict=False)
            return _join("and_kleene", [self._comparison(left, op, right) for left, op, right in pairs])
        raise self._error(node)

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Test:
        one = self._side(left)
        if isinstance(op, ast.Is | ast.IsNot):
            if not isinstance(one, _Column) or not (isinstance(right, ast.Constant) and right.value is None):
                raise self._error(right)
            self.maybe_null.append(one.name)
            return _is_null(one) if isinstance(op, ast.Is) else _invert(_is_null(one))
        if isinstance(op, ast.In | ast.NotIn):
            items = right.elts if isinstance(right, ast.Tuple | ast.List) else [right]
            if not items or not isinstance(one, _Column):
                raise self._error(right)
            self.columns += [one.name] * len(items)
            among = _join("or_kleene", [_compare("equal", one, self._side(item)) for item in items])
            return among if isinstance(op, ast.In) else _invert(among)
        other = self._side(right)
        if not isinstance(one, _Column) and not isinstance(other, _Column):
            raise self._error(left)
        return _compare(_COMPARE[type(op)], one, other)

    def _side(self, node: ast.expr) -> _Column | Literal:
        """Return a column, or a text, number or boolean literal."""
        if isinstance(node, ast.Name):
            self.columns.append(self._names.get(node.id, node.id))
            return _Column(self.columns[-1])
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            sign, node = -1, node.operand
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return sign * value
        if isinstance(value, str | bool) and sign == 1:
            return value
        raise self._error(node)

    def _error(self, node: ast.expr) -> BadOption:
        part = ast.unparse(node)
        for alias, name in self._names.items():
            part = part.replace(alias, f"`{name}`")
        if part == "None":
            do = "Compare with null by 'is null' or 'is not null'"
        else:
            do = "Write a column as a plain name or in backquotes, and text in quotation marks"
        return BadOption(wanted("where", _FORM, f"{part!r} in {self.text!r}", do))


def _join(how: str, tests: Sequence[Test]) -> Test:
    import pyarrow.compute as pc

    return lambda values: reduce(getattr(pc, how), [test(values) for test in tests])


def _invert(test: Test) -> Test:
    import pyarrow.compute as pc

    return lambda values: pc.invert(test(values))


def _is_null(column: _Column) -> Test:
    import pyarrow.compute as pc

    def test(values: _Values) -> Any:
        if not values.known(column):
            return values.nothing
        return pc.is_null(values.column(column.name))

    return test


def _compare(how: str, one: _Column | Literal, other: _Column | Literal) -> Test:
    import pyarrow.compute as pc

    def test(values: _Values) -> Any:
        if not values.known(one, other):
            return values.nothing
        kinds = [values.kinds[side.name] for side in (one, other) if isinstance(side, _Column)]
        names = [side.name for side in (one, other) if isinstance(side, _Column)]
        sides = [
            values.column(side.name)
            if isinstance(side, _Column)
            else values.literal(_as_scalar(side, kinds[0], names[0]))
            for side in (one, other)
        ]
        return getattr(pc, how)(*sides)

    return test


def _as_scalar(value: Literal, kind: pa.DataType, column: str) -> pa.Scalar:
    """Return a literal as a scalar that is comparable to a column of this type."""
    is_ = pa.types
    numbers = is_.is_integer(kind) or is_.is_floating(kind) or is_.is_decimal(kind)
    fits = (
        is_.is_null(kind)
        or (isinstance(value, bool) and is_.is_boolean(kind))
        or (isinstance(value, int | float) and not isinstance(value, bool) and numbers)
        or (isinstance(value, str) and (is_.is_string(kind) or is_.is_large_string(kind) or is_.is_temporal(kind)))
    )
    try:
        if fits:
            return pa.scalar(value).cast(kind) if is_.is_temporal(kind) else pa.scalar(value)
    except (*BROKEN, OverflowError):
        pass
    written = "it in quotation marks" if numbers is False and not isinstance(value, str) else "a value of its kind"
    raise BadOption(wanted(f"where, column '{column}'", type_in_words(kind), repr(value), f"Write {written}"))


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _decode(column: pa.Array) -> pa.Array:
    """Return the values without dictionary, and null in place of NaN."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column
