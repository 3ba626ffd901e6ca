"""A table printed row by row and returned as Markdown."""

from __future__ import annotations

MISSED = "✗"  # a row that has it fails the command


def marked(cell: str, kept: bool) -> str:
    """Return the cell, with a cross if its bound is missed."""
    return cell if kept else f"{cell} {MISSED}"


class Growing:
    """A table whose rows are printed as they are measured."""

    def __init__(self, *columns: str) -> None:
        self._columns = columns
        self._rows: list[tuple[str, ...]] = []
        print(self._line(columns), flush=True)

    def add(self, *cells: str) -> None:
        """Add and print a row."""
        self._rows.append(cells)
        print(self._line(cells), flush=True)

    def _line(self, cells: tuple[str, ...]) -> str:
        first, *rest = cells
        return f"{first:<58}" + "".join(f"{cell:>18}" for cell in rest)

    def markdown(self) -> str:
        """Return the whole table as Markdown."""
        rule = "|".join(["---"] + ["---:"] * (len(self._columns) - 1))
        lines = ["| " + " | ".join(self._columns) + " |", f"|{rule}|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self._rows])


def times(ratio: float) -> str:
    """Return a ratio as text, with a digit more where it is small.

    Examples
    --------
    >>> times(0.244), times(9.96), times(1234.5)
    ('0.2×', '10.0×', '1234×')
    """
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:.0f}×"


def seconds(value: float) -> str:
    """Return a time in a suitable unit."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"
