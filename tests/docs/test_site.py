"""The site: built without a warning, complete, and without dead links.

Pages that are made from the program are looked at as they are made; the site itself needs `pip install '.[docs]'`.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest

import tallybayes as tb
from tallybayes.events import registered

from .pages import ROOT, python_blocks, run, text_of

DOCS = ROOT / "docs"


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> object:
    """Import a module of docs/hooks by its name; forget it after."""
    monkeypatch.syspath_prepend(str(DOCS / "hooks"))
    before = set(sys.modules)

    def find(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield find
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(DOCS)):
            del sys.modules[name]


@pytest.mark.parametrize("name", registered())
def test_every_event_model_has_a_page_whose_python_runs_by_itself(name: str, hook, tmp_path: Path) -> None:
    page = tmp_path / f"{name}.md"
    page.write_text(hook("event_pages").pages()[f"events/{name}.md"], encoding="utf-8")
    assert run(page) >= 2
    printed = {}
    for _, block in python_blocks(page):
        exec(block, printed)
    column = next(iter(printed["model"].schema.events()))
    assert f"```\n{printed['model'].table(column)}\n```" in text_of(page)


def test_every_option_of_an_event_model_is_on_its_page_with_its_default(hook) -> None:
    pages = hook("event_pages").pages()
    assert "| `threshold` | `float \\| None` | `None` |" in pages["events/bernoulli.md"]
    assert "| `bag` |" in pages["events/text.md"]


def test_every_public_name_is_on_exactly_one_page_of_the_reference(hook) -> None:
    listed = [name for names in hook("reference_pages").names().values() for name in names]
    assert len(listed) == len(set(listed))
    for name in tb.__all__:
        thing = getattr(tb, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert f"{thing.__module__}.{thing.__qualname__}" in listed, name


def test_every_command_and_option_is_in_the_command_reference(hook) -> None:
    commands = hook("command_pages")
    [text] = commands.pages().values()
    for words, command in commands.walk(("tally",), commands.program()):
        assert f"\n## {' '.join(words)}\n" in text
        for parameter in command.params:
            if not getattr(parameter, "hidden", False) and parameter.opts[0].startswith("-"):
                assert parameter.opts[0] in text, (words, parameter.opts)


def test_a_command_reference_follows_the_program(hook) -> None:
    import typer
    import typer.main

    program = typer.Typer()

    @program.callback()
    def _all() -> None:
        """Count."""

    @program.command(epilog="\b\nExamples:\n  tally fit days.csv --label play\n  cat days.csv | tally fit -")
    def fit(data: str, label: str = typer.Option(..., help="The column that is [bold]looked for[/bold].")) -> None:
        """Fit a model of columns such as pix*, or `pix*`."""

    @program.command(hidden=True)
    def secret() -> None:
        """Not shown."""

    commands = hook("command_pages")
    found = commands.walk(("tally",), typer.main.get_command(program))
    assert [words for words, _ in found] == [("tally",), ("tally", "fit")]
    text = commands.section(*found[1])
    assert text.startswith("## tally fit\n\n```sh\ntally fit [OPTIONS] ")
    assert "Fit a model of columns" in text
    assert "Examples:\n\n```sh\ntally fit days.csv --label play\ncat days.csv | tally fit -\n```" in text
    assert r"such as pix\*, or `pix*`" in text
    assert re.search(r"\| `--label .*` \| The column that is looked for\. ", text)


def test_the_examples_in_the_hooks_are_true(hook) -> None:
    tried = doctest.testmod(hook("prose"))
    assert (tried.attempted, tried.failed) == (3, 0)


class Links(HTMLParser):
    """A page's links, the files it loads, and its anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {given[name] or "" for name in ("id", "name") if name in given}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(given.get("href") or "")
        if tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"] or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Links]:
    """Return every page of the site, built with warnings as errors."""
    for needed in ("mkdocs", "material", "mkdocstrings_handlers.python"):
        pytest.importorskip(needed, reason="the site is built where `pip install '.[docs]'` was")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # 404.html is shown in place of any page, so its links start at a root that only a server has.
    return {page: Links(page) for page in folder.rglob("*.html") if page.name != "404.html"}


def root_of(site: dict[Path, Links]) -> Path:
    return min(site, key=lambda page: len(page.parts)).parent


def test_every_page_is_on_the_site_and_in_its_navigation(site: dict[Path, Links]) -> None:
    root = root_of(site)
    shown = set(site[root / "index.html"].links)
    for page in DOCS.rglob("*.md"):
        place = page.relative_to(DOCS).with_suffix(".html").as_posix()
        assert root / place in site
        assert place in shown or place == "index.html", f"{place} is not in the navigation"


@pytest.mark.parametrize("name", registered())
def test_every_event_model_is_on_the_site(name: str, site: dict[Path, Links]) -> None:
    root = root_of(site)
    assert root / "events" / f"{name}.html" in site
    assert f"events/{name}.html" in site[root / "events.html"].links


def test_every_public_method_of_a_model_can_be_led_to(site: dict[Path, Links]) -> None:
    places = site[root_of(site) / "reference" / "model.html"].places
    for name, member in inspect.getmembers(tb.Model, inspect.isfunction):
        if not name.startswith("_"):
            assert any(place.endswith(f".{name}") for place in places), f"{name} ({member.__module__})"


def test_every_link_leads_to_a_page_and_a_place_in_it(site: dict[Path, Links]) -> None:
    for page, found in site.items():
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or link in (".", "./"):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), f"{page.name} leads to {link}, which is not there"
            if parts.fragment and target in site:
                assert unquote(parts.fragment) in site[target].places, f"{page.name} leads to {link}: no such place"


def test_nothing_is_loaded_from_elsewhere(site: dict[Path, Links]) -> None:
    for page, found in site.items():
        for load in found.loads:
            assert not urlsplit(load).netloc, f"{page.name} loads {load}"
            assert load.startswith("data:") or (page.parent / urlsplit(load).path).exists(), f"{page.name}: {load}"


def test_no_page_shows_markdown_that_was_not_understood(site: dict[Path, Links]) -> None:
    for page in site:
        text = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        words = re.sub(r"<[^>]+>", "", text)
        assert r"\|" not in page.read_text(encoding="utf-8"), page.name
        assert not re.search(r"^\|[-:| ]+\|$|\]\([a-z./-]+\.md|\*\*\w", words, re.MULTILINE), page.name
