"""What Spark has to say, a page of Java, in one sentence."""

from __future__ import annotations

from tallybayes.errors import wanted

__all__ = ["in_words"]


def in_words(name: str, said: str) -> str:
    return wanted(name, "partitions that can be read", said)
