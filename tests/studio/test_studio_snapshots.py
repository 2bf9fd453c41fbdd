"""How every screen looks, kept as text: `pytest --snapshot-update` accepts new ones.

Nothing in them depends on the clock, the home folder, the locale or a blinking cursor.
`python -m tests.studio.gallery OUT` writes the same scenes as SVG files, to be looked at.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.screen import Screen

import flowstudio.studio as studio_package
from tests.studio.cells import write_scene
from tests.studio.gallery import each_look, follow
from tests.studio.scenes import SCREENS, WALKS
from tests.studio.stage import place_for, set_stage

PICTURES = Path(__file__).parent / "__snapshots__" / "test_studio_snapshots"


class SceneExtension(SingleFileSnapshotExtension):
    """One text file for each scene, by its name."""

    _write_mode = WriteMode.TEXT
    _file_extension = "txt"

    @classmethod
    def dirname(cls, *, test_location: Any) -> str:
        return str(PICTURES)

    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: Any = 0) -> str:
        return file_name(str(index))


def file_name(scene: str) -> str:
    return scene.replace(" ", "-")


@pytest.fixture
def place(name: str) -> Iterator[Path]:
    with place_for(name) as folder:
        yield folder


@pytest.mark.parametrize("name", WALKS)
async def test_each_scene_looks_as_it_was_approved(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch, snapshot: Any
) -> None:
    work = set_stage(place, monkeypatch)
    wrong: list[str] = []
    async for scene, studio in follow(WALKS[name], work):
        assert SCREENS.get(scene) in (None, type(studio.app.screen).__name__)
        seen = write_scene(scene, await each_look(studio, lambda picture: picture))
        if seen != snapshot(name=scene, extension_class=SceneExtension):
            wrong.append(scene)
    assert not wrong, f"these look otherwise: {', '.join(wrong)}"


def test_each_screen_and_dialog_of_the_studio_has_a_scene() -> None:
    for module in pkgutil.iter_modules(studio_package.__path__, f"{studio_package.__name__}."):
        importlib.import_module(module.name)
    assert {one.__name__ for one in _leaves(Screen)} == set(SCREENS.values())
    assert [one for one in SCREENS if not (PICTURES / f"{file_name(one)}.txt").exists()] == []


def _leaves(kind: type[Any]) -> Iterator[type[Any]]:
    """The studio's classes of a kind, apart from those that others are made of."""
    for one in kind.__subclasses__():
        below = [*_leaves(one)]
        yield from below
        if not below and one.__module__.startswith(f"{studio_package.__name__}."):
            yield one
