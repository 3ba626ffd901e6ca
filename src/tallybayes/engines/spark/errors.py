"""What Spark has to say, a page of Java, in one sentence."""

from __future__ import annotations

import re

from tallybayes.errors import wanted

__all__ = ["in_words"]

# "[CONDITION] What is the matter. SQLSTATE: 12345", perhaps far down, behind what it was caused by.
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]\s+(.+?)(?:\s+SQLSTATE|\n|$)")
_MISMATCH = re.compile(
    r"reading file (\S+)\. Data type mismatches when reading Parquet column \[(.+?)\]\. "
    r"Expected Spark type (.+?), actual Parquet type (.+?)\."
)
# The line that ends a Python traceback, of which all others are indented.
_PYTHON = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)", re.MULTILINE)
_TOO_MUCH = re.compile(r"Total size of serialized results .*? is bigger than spark\.driver\.maxResultSize \(.*?\)")


def in_words(name: str, said: str) -> str:
    """One sentence for what Spark said of the rows called `name`.

    Examples
    --------
    >>> in_words("the rows", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\\n\\nJVM stacktrace: ...")
    'the rows: wanted partitions that can be read, got an error while they were (Division by zero).'
    """
    if found := _MISMATCH.search(said):
        file, column, want, got = found.groups()
        where = f"{name}, file {file!r}, column {column!r}"
        return wanted(where, f"{want}, as in the other files", got, "Make them one type")
    want = "partitions that can be read"
    if found := _PYTHON.search(said):
        error, do = found[1].strip()[:300], ""
        if "No module named" in error:
            do = "Install tallybayes on the executors, in the Python that PYSPARK_PYTHON names"
        return wanted(name, want, f"an error of a worker ({error.rstrip('.')})", do)
    if found := _TOO_MUCH.search(said):
        return wanted(name, "answers that the driver takes", found[0], "Raise spark.driver.maxResultSize")
    found = _CONDITION.search(said)
    told = found[2] if found else next((line for line in said.splitlines() if line.strip()), "no more is known")
    return wanted(name, want, f"an error while they were ({told.strip()[:300].rstrip('.')})")
