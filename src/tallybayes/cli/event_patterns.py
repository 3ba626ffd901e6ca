"""Few globs in place of many column names, for suggested --event options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from glob import escape
from os.path import commonprefix

_SHORTEST = 3  # characters; a shorter prefix is more likely shared by chance
_FEWEST = 3  # columns; fewer are named


def short_patterns(chosen: Mapping[str, str], inferred: Mapping[str, str]) -> dict[str, str]:
    """Return names and globs that give columns the chosen event models.

    Examples
    --------
    >>> inferred = {"freq_a": "histogram", "freq_b": "histogram", "freq_c": "histogram", "city": "categorical"}
    >>> short_patterns(dict.fromkeys(["freq_a", "freq_b", "freq_c"], "exponential"), inferred)
    {'freq_*': 'exponential'}
    >>> short_patterns({"freq_b": "poisson", "city": "text"}, inferred)
    {'freq_b': 'poisson', 'city': 'text'}
    """
    changed = {name: event for name, event in chosen.items() if name in inferred and event != inferred[name]}
    if not changed:
        return {}
    every = dict(inferred) | changed
    most = Counter(every.values()).most_common(1)[0][0]
    some = dict(_patterns(changed, every))
    # A star for the most frequent event model; the columns of all others are named, the star comes last.
    others = dict(_patterns({name: event for name, event in every.items() if event != most}, every))
    return some if len(some) <= len(others) else others | {"*": most}


def _patterns(wanted: Mapping[str, str], every: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for event in dict.fromkeys(wanted.values()):
        names = [name for name, other in wanted.items() if other == event]
        outside = [name for name, other in every.items() if other != event]
        yield from ((pattern, event) for pattern in _cover(names, outside))


def _cover(names: list[str], outside: Collection[str]) -> Iterator[str]:
    """Yield prefixes with a star that match no name outside, and single names."""
    left = sorted(names)
    while left:
        lengths = range(_SHORTEST, len(left[0]) + 1)
        free = (left[0][:n] for n in lengths if not any(name.startswith(left[0][:n]) for name in outside))
        prefix = next(free, None)
        inside = left[:1] if prefix is None else [name for name in left if name.startswith(prefix)]
        if prefix is not None and len(inside) >= _FEWEST:
            yield f"{escape(commonprefix(inside))}*"  # noqa: RUF071 (characters, not folders)
        else:
            yield from map(escape, inside)
        left = left[len(inside) :]
