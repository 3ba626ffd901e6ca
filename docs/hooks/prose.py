"""Move Markdown between folders: find sections, adjust links."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent

_ITEM = re.compile(r"- |\d+\. ")
_CODE = re.compile(r"`[^`]+`")
_LINK = re.compile(r"(\]\(|src=\")([^)#\s\"]+)")


def text_of(path: Path) -> str:
    """Return a page's source."""
    return path.read_text(encoding="utf-8")


def opening(text: str) -> str:
    """Return the text before the first section of a page."""
    return re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]


def sections(text: str) -> dict[str, str]:
    """Return the text under each second-level heading, by the heading without backquotes."""
    parts = re.split(r"^## +(.+)$", text, flags=re.MULTILINE)[1:]
    return {title.replace("`", "").strip(): body for title, body in zip(parts[::2], parts[1::2], strict=True)}


def python_blocks(text: str) -> list[str]:
    """Return the Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def moved(text: str, old: str, new: str) -> str:
    """Return a page's text with its links adjusted to another folder; both are relative to docs/.

    Examples
    --------
    >>> moved("[choices](choices.md), [site](https://example.org)", ".", "events")
    '[choices](../choices.md), [site](https://example.org)'
    """

    def from_there(found: re.Match[str]) -> str:
        before, link = found.groups()
        if "://" in link:
            return found.group(0)
        target = posixpath.normpath(posixpath.join(old, link))
        return before + posixpath.relpath(target, new)

    return _LINK.sub(from_there, text)


def for_mkdocs(text: str) -> str:
    """Convert a page from GitHub's Markdown to mkdocs'.

    List items are indented by four spaces, not two, and a bar within code in a table needs no backslash.

    Examples
    --------
    >>> print(for_mkdocs("- an item\\n\\n  of two paragraphs\\n- another"))
    - an item
    <BLANKLINE>
        of two paragraphs
    <BLANKLINE>
    - another
    >>> for_mkdocs(r"| `a \\| b` | either |")
    '| `a | b` | either |'
    """
    out: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        if fenced:
            out.append(line)
            continue
        if _ITEM.match(line) and out and out[-1].strip() and _in_a_later_block(out):
            out.append("")
        if line.lstrip().startswith("|"):
            line = _CODE.sub(lambda code: code.group(0).replace("\\|", "|"), line)
        out.append(f"  {line}" if re.match(r"  \S", line) else line)
    return "\n".join(out)


def _in_a_later_block(lines: list[str]) -> bool:
    """Whether the last line belongs to an item's second paragraph or to a later one."""
    for line in reversed(lines):
        if _ITEM.match(line):
            return False
        if not line.strip():
            return True
    return False
