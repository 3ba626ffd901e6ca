"""The pages of the documentation: their Python runs, answers are true, links resolve."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from .pages import PAGES, ROOT, run, text_of


def place(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


each_page = pytest.mark.parametrize("page", PAGES, ids=place)


@each_page
def test_the_python_on_a_page_runs_and_its_answers_are_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(page)


def test_the_readme_has_answers_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(ROOT / "README.md") > 20


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=place)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)|src=\"([^\"]+)\"", text_of(page)):
        link = target[0] or target[1]
        if "://" not in link:
            assert (page.parent / link).exists(), f"{page.name} links to {link}, which is not there"


def test_the_readme_gives_the_two_commands_first_and_in_order() -> None:
    fenced = "\n".join(re.findall(r"^```\w*\n(.*?)^```$", text_of(ROOT / "README.md"), re.DOTALL | re.MULTILINE))
    commands = [line for line in fenced.splitlines() if line.startswith("pip install")]
    assert commands[:2] == ["pip install . && tally demo", "pip install '.[test]' && pytest"]


def test_the_picture_of_the_demo_shows_what_the_demo_prints() -> None:
    spec = importlib.util.spec_from_file_location("make_images", ROOT / "docs" / "make_images.py")
    assert spec is not None
    assert spec.loader is not None
    make_images = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_images)

    def words(svg: str) -> str:  # rich may draw the same words in other colours or places from version to version
        drawn = re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL)
        return " ".join(" ".join(drawn).replace("&#160;", " ").split())

    stored = (ROOT / "docs" / "images" / "demo.svg").read_text(encoding="utf-8")
    assert words(stored) == words(make_images.demo_svg()), "run `python docs/make_images.py`"
