"""A number of things in words."""

from __future__ import annotations

__all__ = ["number_of"]


def number_of(size: float, name: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> number_of(1, "class"), number_of(2, "class"), number_of(12345, "row"), number_of(2.5, "row")
    ('1 class', '2 classes', '12,345 rows', '2.5 rows')
    """
    return f"{size:,.12g} {name}{'' if size == 1 else 'es' if name.endswith('s') else 's'}"
