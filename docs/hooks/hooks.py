"""The hooks mkdocs calls while building the site: generated pages, and the completed navigation.

The pages in docs/ can be read in the repository. The site adds generated ones: a page for each event model, the
reference of names and of commands, and the two pages from the project's root.
"""

from __future__ import annotations

import re
from typing import Any

import command_pages
import event_pages
import reference_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from prose import DOCS, ROOT, for_mkdocs, moved, text_of

# Pages at the root of the project, and their names below docs/.
FROM_ROOT = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
# The section for pages that mkdocs.yml does not name.
OTHERWISE = "Guide"
# A link to a section of docs/events.md, which is its own page on the site.
EVENT_SECTION = re.compile(r"\]\(((?:\.\./)*)events\.md#([a-z]+)\)")
# A link to source code, which is not on the site: only its text is kept.
SOURCE_LINK = re.compile(r"\[([^\]]+)\]\(\.\./src/[^)]*\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Complete the navigation with generated pages and with pages that mkdocs.yml does not name."""
    sections = {title: part for entry in config.nav for title, part in entry.items() if isinstance(part, list)}
    sections["Event models"] += event_pages.pages()
    sections["Reference"] += [*reference_pages.pages(), *command_pages.pages()]
    named = set(_places(config.nav))
    there = [path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))]
    sections[OTHERWISE] += [place for place in there if place not in named]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    made = event_pages.pages() | reference_pages.pages() | command_pages.pages()
    made |= {place: moved(text_of(ROOT / name), ".", "docs") for name, place in FROM_ROOT.items()}
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Adapt a page to the site: links to generated pages, no links to source, mkdocs' Markdown."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]  # it has no siblings
    text = event_pages.overview(markdown) if page.file.src_uri == "events.md" else markdown
    for name, place in FROM_ROOT.items():
        text = text.replace(f"](../{name})", f"]({place})")
    text = SOURCE_LINK.sub(r"\1", text)
    return for_mkdocs(EVENT_SECTION.sub(r"](\1events/\2.md)", text))


def on_page_content(html: str, **_: Any) -> str:
    """Mark the answers in examples, to distinguish them from comments."""
    return html.replace('<span class="c1"># →', '<span class="c1 answer"># →')


def _places(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [place for part in parts for place in _places(part)]
