"""Claims of docs/architecture.md that the import linter cannot check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import FrameType

import numpy as np
import pyarrow as pa

import tallybayes as tb

from .pages import ROOT, text_of

PACKAGE = ROOT / "src" / "tallybayes"
ARCHITECTURE = ROOT / "docs" / "architecture.md"


def imported(path: Path) -> set[str]:
    """Return every name that a file imports, module and member."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module or ''}.{alias.name}" for alias in node.names}
    return found


def test_only_the_kernels_open_the_compiled_module() -> None:
    users = {path.parent for path in PACKAGE.rglob("*.py") if any("_native" in name for name in imported(path))}
    assert users == {PACKAGE / "kernels"}


def test_every_part_of_the_package_is_in_the_architecture() -> None:
    text = text_of(ARCHITECTURE)
    for path in PACKAGE.iterdir():
        if path.is_dir() and (path / "__init__.py").exists():
            assert f"`{path.name}/`" in text, path.name
        elif path.suffix == ".py" and path.name != "__init__.py":
            assert f"`{path.name}`" in text, path.name


def test_importing_the_package_loads_nothing_heavy() -> None:
    check = "import sys, tallybayes; print(sorted({'numpy', 'pyarrow', 'pandas', 'rich', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_link_leads_to_a_file_or_a_folder() -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text_of(ARCHITECTURE))
    assert len(links) > 20
    assert [link for link in links if not (ARCHITECTURE.parent / link).exists()] == []


def test_the_glossary_names_files_that_exist() -> None:
    named = re.findall(r"\| `([a-z_/.0-9]+)` \|", text_of(ROOT / "docs" / "glossary.md"))
    assert len(named) > 30
    assert [one for one in named if not (PACKAGE / one).exists() and not (ROOT / one).exists()] == []


def test_few_functions_are_between_predicting_a_frame_and_the_kernel() -> None:
    rng = np.random.default_rng(0)
    frame = pa.table({"a": rng.normal(size=200), "b": rng.choice(["u", "v"], 200), "y": rng.choice(["p", "q"], 200)})
    model = tb.fit(frame, "y")
    model.predict_proba(frame)  # belief is made once
    between: list[list[str]] = []

    def note(called: FrameType, event: str, _: object) -> None:
        if event != "call" or called.f_globals.get("__name__") != "tallybayes.kernels.scores":
            return
        names, at = [], called.f_back
        while at is not None and at.f_code.co_name != "predict_proba":
            if "<locals>" not in at.f_code.co_qualname and at.f_globals["__name__"].startswith("tallybayes"):
                names.append(at.f_code.co_qualname)
            at = at.f_back
        between.append(names[::-1])

    sys.setprofile(note)
    try:
        model.predict_proba(frame)
    finally:
        sys.setprofile(None)
    assert any("CategoricalTable.add_log_prob" in names for names in between)
    assert max(map(len, between)) <= 9, max(between, key=len)
