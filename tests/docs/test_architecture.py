"""Claims of docs/architecture.md that the import linter cannot check."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

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
