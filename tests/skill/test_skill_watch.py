"""That every way to change a skill on the disk is noticed, and that nothing else is."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing
from importlib import import_module
from pathlib import Path

import pytest

from flowstudio.skill import Catalogue, discover, watch

watch_module = import_module("flowstudio.skill.watching")  # the package's own name is the function

PATIENCE = 20.0
"""Seconds after which an event that has not come counts as missing."""

TEXT = "---\nname: one\ndescription: d\n---\n"


class Watching:
    """A watch under way, and everything that it has told."""

    def __init__(self, catalogue: Catalogue, *, force_polling: bool = False) -> None:
        self.ready = asyncio.Event()
        self.told: asyncio.Queue[set[Path]] = asyncio.Queue()
        self._task = asyncio.create_task(self._run(catalogue, force_polling))

    async def _run(self, catalogue: Catalogue, force_polling: bool) -> None:
        told = watch(catalogue, ready=self.ready, force_polling=force_polling)
        async with aclosing(told):
            async for changed in told:
                await self.told.put(changed)

    async def hears_of(self, *paths: Path) -> None:
        """Wait until each of `paths` has been told, and nothing else."""
        missing = set(paths)
        while missing:
            changed = await asyncio.wait_for(self.told.get(), PATIENCE)
            assert changed <= set(paths)
            missing -= changed

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def root(project: Path) -> Path:
    folder = project / ".claude" / "skills"
    (folder / "one").mkdir(parents=True)
    (folder / "one" / "SKILL.md").write_text(TEXT)
    return folder


def find(project: Path, **rest: object) -> Catalogue:
    return discover(project, include_builtin=False, home=project.parent / "home", **rest)  # type: ignore[arg-type]


@pytest.fixture
async def watching(project: Path, root: Path) -> AsyncIterator[Watching]:
    under_way = Watching(find(project))
    await asyncio.wait_for(under_way.ready.wait(), PATIENCE)
    yield under_way
    await under_way.stop()


async def test_a_save_in_place(watching: Watching, root: Path) -> None:
    path = root / "one" / "SKILL.md"
    path.write_text(TEXT + "more\n")
    await watching.hears_of(path)


async def test_a_save_of_the_same_length(watching: Watching, root: Path) -> None:
    path = root / "one" / "SKILL.md"
    path.write_text(TEXT.replace("one", "two"))
    await watching.hears_of(path)


async def test_many_saves_one_after_another(watching: Watching, root: Path) -> None:
    path = root / "one" / "SKILL.md"
    for count in range(5):
        path.write_text(TEXT + "more\n" * count)
        await watching.hears_of(path)


async def test_a_save_by_renaming_a_new_file_over_the_old_one(
    watching: Watching, root: Path
) -> None:
    path = root / "one" / "SKILL.md"
    for name in (".SKILL.md.swp", "SKILL.md.tmp123"):
        new = path.with_name(name)
        new.write_text(TEXT + name)
        new.replace(path)
        await watching.hears_of(path)


async def test_a_save_that_moves_the_old_file_away_first(watching: Watching, root: Path) -> None:
    path = root / "one" / "SKILL.md"
    path.rename(path.with_name("SKILL.md~"))
    path.write_text(TEXT + "new\n")
    await watching.hears_of(path)


async def test_a_file_that_is_deleted_and_made_anew(watching: Watching, root: Path) -> None:
    path = root / "one" / "SKILL.md"
    path.unlink()
    await watching.hears_of(path)
    path.write_text(TEXT)
    await watching.hears_of(path)


async def test_a_new_folder_whose_file_comes_later(watching: Watching, root: Path) -> None:
    path = root / "two" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(TEXT)
    await watching.hears_of(path)
    path.write_text(TEXT + "more\n")
    await watching.hears_of(path)


async def test_a_folder_that_is_moved_in_with_its_files(
    watching: Watching, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "SKILL.md").write_text(TEXT)
    (tmp_path / "two").rename(root / "two")
    await watching.hears_of(root / "two" / "SKILL.md")


async def test_a_folder_that_is_renamed(watching: Watching, root: Path) -> None:
    (root / "one").rename(root / "two")
    await watching.hears_of(root / "one" / "SKILL.md", root / "two" / "SKILL.md")
    (root / "two" / "SKILL.md").write_text(TEXT + "more\n")
    await watching.hears_of(root / "two" / "SKILL.md")


async def test_a_folder_that_is_deleted_and_comes_back(watching: Watching, root: Path) -> None:
    path = root / "one" / "SKILL.md"
    shutil.rmtree(root / "one")
    await watching.hears_of(path)
    path.parent.mkdir()
    path.write_text(TEXT)
    await watching.hears_of(path)


async def test_a_flat_file(watching: Watching, root: Path) -> None:
    path = root / "flat.md"
    path.write_text(TEXT)
    await watching.hears_of(path)


async def test_a_root_that_did_not_exist(watching: Watching, project: Path) -> None:
    path = project / ".kimi" / "skills" / "two" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    await watching.hears_of(path)
    path.write_text(TEXT + "more\n")
    await watching.hears_of(path)


async def test_a_root_that_goes_and_comes_back(
    watching: Watching, project: Path, root: Path
) -> None:
    path = root / "one" / "SKILL.md"
    shutil.rmtree(project / ".claude")
    await watching.hears_of(path)
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    await watching.hears_of(path)


async def test_a_home_folder_that_did_not_exist(watching: Watching, project: Path) -> None:
    path = project.parent / "home" / ".agents" / "skills" / "two" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    await watching.hears_of(path)


async def test_a_skill_behind_a_link_is_told_by_its_own_path(project: Path, root: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "two.md").write_text(TEXT)
    (elsewhere / "SKILL.md").write_text(TEXT)
    (root / "two").mkdir()
    (root / "two" / "SKILL.md").symlink_to(elsewhere / "two.md")
    (root / "three").symlink_to(elsewhere)
    watching = Watching(find(project))
    await asyncio.wait_for(watching.ready.wait(), PATIENCE)
    (elsewhere / "two.md").write_text(TEXT + "more\n")
    await watching.hears_of(root / "two" / "SKILL.md")
    (elsewhere / "SKILL.md").write_text(TEXT + "more\n")
    await watching.hears_of(root / "three" / "SKILL.md")
    await watching.stop()


async def test_a_link_that_is_turned_to_another_place(project: Path, root: Path) -> None:
    for name in ("a", "b"):
        (project / name).mkdir()
        (project / name / "SKILL.md").write_text(TEXT + name)
    (root / "two").symlink_to(project / "a")
    watching = Watching(find(project))
    await asyncio.wait_for(watching.ready.wait(), PATIENCE)
    (project / "link").symlink_to(project / "b")
    (project / "link").replace(root / "two")
    await watching.hears_of(root / "two" / "SKILL.md")
    (project / "b" / "SKILL.md").write_text(TEXT + "more\n")
    await watching.hears_of(root / "two" / "SKILL.md")
    await watching.stop()


async def test_a_single_file_outside_the_roots(project: Path) -> None:
    chart = project / "chart.d2"
    chart.write_text("BEGIN -> END\n")
    watching = Watching(find(project, files=[chart]))
    await asyncio.wait_for(watching.ready.wait(), PATIENCE)
    (project / "other.d2").write_text("x")
    chart.write_text("BEGIN -> a -> END\n")
    await watching.hears_of(chart)
    await watching.stop()


async def test_what_changed_before_the_watch_began(project: Path, root: Path) -> None:
    found = find(project)
    path = root / "one" / "SKILL.md"
    path.write_text(TEXT + "more\n")
    (root / "flat.md").write_text(TEXT)
    watching = Watching(found)
    await watching.hears_of(path, root / "flat.md")
    await watching.stop()


async def test_files_that_are_no_skills_are_not_told(
    watching: Watching, project: Path, root: Path
) -> None:
    (root / "one" / "references").mkdir()
    (root / "one" / "notes.txt").write_text("x")
    (root / "one" / ".SKILL.md.swp").write_text("x")
    (root / "one" / "SKILL.md~").write_text("x")
    (root / "4913").write_text("x")
    (project / "README.md").write_text("x")
    # What is told next is told after all of these, and would be told with them.
    (root / "one" / "SKILL.md").write_text(TEXT + "more\n")
    await watching.hears_of(root / "one" / "SKILL.md")
    assert watching.told.empty()


async def test_without_the_systems_help_changes_are_looked_for(
    project: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_POLL", 0.01)
    watching = Watching(find(project), force_polling=True)
    await asyncio.wait_for(watching.ready.wait(), PATIENCE)
    path = root / "one" / "SKILL.md"
    path.write_text(TEXT + "more\n")
    await watching.hears_of(path)
    await watching.stop()


async def test_a_system_that_has_no_watches_left_is_no_fault(
    project: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise OSError(28, "No space left on device")  # what inotify says at its limit

    monkeypatch.setattr(watch_module, "_open", refuse)
    monkeypatch.setattr(watch_module, "_POLL", 0.01)
    watching = Watching(find(project))
    await asyncio.wait_for(watching.ready.wait(), PATIENCE)
    (root / "flat.md").write_text(TEXT)
    await watching.hears_of(root / "flat.md")
    await watching.stop()


async def test_stopping_leaves_no_thread_behind(project: Path, root: Path) -> None:
    watching = Watching(find(project))
    await asyncio.wait_for(watching.ready.wait(), PATIENCE)
    await asyncio.wait_for(watching.stop(), PATIENCE)
    # The executor has one worker at most left to wait for, and it is idle.
    await asyncio.wait_for(asyncio.get_running_loop().shutdown_default_executor(), PATIENCE)


def test_only_folders_that_can_matter_are_watched(project: Path, root: Path) -> None:
    home = project.parent / "home"
    (home / "Documents" / "deep").mkdir(parents=True)
    (home / ".agents" / "skills").mkdir(parents=True)
    (root / "one" / "node_modules" / "deep").mkdir(parents=True)
    (root / "node_modules" / "deep").mkdir(parents=True)
    (project / "src").mkdir()
    watched = set(watch_module._make_plan(find(project)).folders)
    parts = (project, project / ".claude", root, root / "one")
    own = {home, home / ".agents", home / ".agents" / "skills"}
    assert watched == {os.fspath(path) for path in {*parts, *own}}
