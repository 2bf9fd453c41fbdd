"""Packages whose public names are imported when they are first used.

`import flowstudio.flow.model` runs `flowstudio/flow/__init__.py` first. If that imported every
reader, a program that wants one small module would pay for all of them; so the packages only say
where each of their names lives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_of(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__` that finds each name in the submodule that `places` gives for it."""

    def find(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{place}"), name)

    return find
