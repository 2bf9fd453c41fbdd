"""A fork that puts back what tools wrote since: `fork --undo-files`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, Reply, in_thread, say, use

CHART = "flowchart TD\nBEGIN --> a[Write one] --> b[Write two] --> END\n"


def write(text: str) -> Reply:
    return use(Call("WriteFile", {"path": "note.txt", "content": text}))


class Desk:
    """A run that is over: its second node and its third one each wrote the same file."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.note = shell.cwd / "note.txt"
        self.note.write_text("zero")
        self.chart = shell.cwd / "flow.mmd"
        self.chart.write_text(CHART)

    def __call__(self, *argv: str | Path) -> tuple[int, str]:
        done = self.shell.inside(*argv)
        return done.status, done.err

    @property
    def runs(self) -> list[Path]:
        return sorted(self.shell.runs)


@pytest.fixture
def desk(shell: Shell) -> Iterator[Desk]:
    answers = [write("one"), say("done"), write("two"), say("done"), say("nothing")]
    with in_thread(lambda: openai_server(*answers)) as server:
        home = shell.cwd / "flowstudio-home" / "config"
        home.mkdir(parents=True)
        config = {
            "model": "m",
            "providers": {"p": {"type": "openai", "base_url": server.base_url}},
            "models": {"m": {"provider": "p", "model": "m-1"}},
        }
        (home / "config.yaml").write_text(json.dumps(config))
        made = Desk(shell)
        assert made("run", made.chart, "--yolo")[0] == 0
        assert made.note.read_text() == "two"
        yield made


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize(("visit", "text"), [("a", "zero"), ("b", "one"), ("END", "two")])
def test_files_are_as_they_were_at_that_visit(desk: Desk, visit: str, text: str) -> None:
    (parent,) = desk.runs
    before = contents(parent)
    assert desk("fork", f"last@{visit}", "--undo-files", "--no-run")[0] == 0
    assert desk.note.read_text() == text
    assert contents(parent) == before


def test_a_fork_leaves_the_files_alone_unless_asked(desk: Desk) -> None:
    assert desk("fork", "last@a", "--no-run")[0] == 0
    assert desk.note.read_text() == "two"


def test_where_a_file_was_changed_since_nothing_is_undone_and_no_fork_made(desk: Desk) -> None:
    desk.note.write_text("the user's own")
    status, err = desk("fork", "last@a", "--undo-files", "--no-run")
    assert status == 2
    assert "note.txt was changed since" in err
    assert desk.note.read_text() == "the user's own"
    assert len(desk.runs) == 1


def test_the_fork_can_undo_what_was_written_before_it_began(desk: Desk) -> None:
    (parent,) = desk.runs
    assert desk("fork", "last@b", "--undo-files", "--no-run")[0] == 0
    (child,) = set(desk.runs) - {parent}
    assert desk("fork", f"{child.name}@a", "--undo-files", "--no-run")[0] == 0
    assert desk.note.read_text() == "zero"
