"""Errors of Spark, a page of Java, in one sentence."""

from __future__ import annotations

import re

from tallybayes.errors import wanted

# "[CONDITION] The message. SQLSTATE: 12345", perhaps far down, after its causes.
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]\s+(.+?)(?:\s+SQLSTATE|\n|$)")
_MISMATCH = re.compile(
    r"reading file (\S+)\. Data type mismatches when reading Parquet column \[(.+?)\]\. "
    r"Expected Spark type (.+?), actual Parquet type (.+?)\."
)
# The last line of a Python traceback; all lines before it are indented.
_PYTHON = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)", re.MULTILINE)
_TOO_MUCH = re.compile(r"Total size of serialized results .*? is bigger than spark\.driver\.maxResultSize \(.*?\)")


def in_words(name: str, message: str) -> str:
    """Return one sentence for an error of Spark with the rows called `name`.

    Examples
    --------
    >>> in_words("the rows", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\\n\\nJVM stacktrace: ...")
    'the rows: wanted partitions that can be read, got an error while reading (Division by zero).'
    """
    if found := _MISMATCH.search(message):
        file, column, want, got = found.groups()
        where = f"{name}, file {file!r}, column {column!r}"
        return wanted(where, f"{want}, as in the other files", got, "Make them one type")
    want = "partitions that can be read"
    if found := _PYTHON.search(message):
        error, do = found[1].strip()[:300], ""
        if "No module named" in error:
            do = "Install tallybayes on the executors, in the Python that PYSPARK_PYTHON names"
        return wanted(name, want, f"an error of a worker ({error.rstrip('.')})", do)
    if found := _TOO_MUCH.search(message):
        return wanted(name, "answers that fit into the driver", found[0], "Raise spark.driver.maxResultSize")
    found = _CONDITION.search(message)
    reason = found[2] if found else next((line for line in message.splitlines() if line.strip()), "no details")
    return wanted(name, want, f"an error while reading ({reason.strip()[:300].rstrip('.')})")
