"""Methods that a class takes from functions of other modules, shown on the class's page like any other.

`Model` is written so: `predict = prediction.predict`. mkdocstrings reads the source, and would list an attribute.
"""

from __future__ import annotations

from typing import Any

import griffe


class AssignedMethods(griffe.Extension):
    """Replaces attributes whose value is a function by that function."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Look at every class of a package when all of its modules have been read."""
        for one in _classes(pkg):
            for name, member in list(one.members.items()):
                if member.is_attribute and isinstance(member.value, griffe.Expr):
                    found = _function(loader, member.value.canonical_path)
                    if found is not None:
                        one.set_member(name, griffe.Alias(name, found, lineno=member.lineno, parent=one))


def _classes(module: griffe.Module) -> list[griffe.Class]:
    own = [one for one in module.classes.values() if not one.is_alias]
    return own + [one for below in module.modules.values() if not below.is_alias for one in _classes(below)]


def _function(loader: griffe.GriffeLoader, path: str) -> griffe.Function | None:
    try:
        found = loader.modules_collection[path]
    except KeyError:
        return None
    return found if isinstance(found, griffe.Function) else None
