"""Quote texts that a spreadsheet would run as formulas."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["quote_formulas"]

# A sign alone has nothing to compute, and is a common name of a class.
_FORMULA = r"^[=+\-@\t\r](?s:.)"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def quote_formulas(texts: Any) -> Any:
    """Return an Arrow array with an apostrophe before each formula; other types are unchanged.

    Examples
    --------
    >>> quote_formulas(pa.array(["=1+2", "-5", "-", "@me", "a=b", None])).to_pylist()
    ["'=1+2", '-5', '-', "'@me", 'a=b', None]
    """
    if isinstance(texts, pa.DictionaryArray):
        return pa.DictionaryArray.from_arrays(texts.indices, quote_formulas(texts.dictionary))
    if not _is_text(texts.type):
        return texts
    found = pc.and_not(pc.match_substring_regex(texts, _FORMULA), pc.match_substring_regex(texts, _NUMBER))
    if not pc.any(found).as_py():
        return texts
    mark, nothing = pa.scalar("'", texts.type), pa.scalar("", texts.type)
    return pc.if_else(found, pc.binary_join_element_wise(mark, texts, nothing), texts)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
