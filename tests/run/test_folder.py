"""The folder of a run: what stands in it and when, and folders that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowstudio.run import folder as folder_module
from flowstudio.run.folder import FORMAT, RunFolder, create_run, open_run, write_safely


def create(root: Path, **more: object) -> RunFolder:
    fields: dict[str, object] = {
        "flow": "审查",
        "path": Path("skills/审查/SKILL.md"),
        "model": "rehearsal",
        "input": "the bug",
        "work_dir": Path("project"),
    }
    return create_run(root, **{**fields, **more})  # type: ignore[arg-type]


def test_a_new_run_has_its_header_on_disk(tmp_path: Path) -> None:
    run = create(tmp_path / "runs")
    record = json.loads((run.path / "run.json").read_text(encoding="utf-8"))
    assert record["id"] == run.id == run.path.name
    assert (record["flow"], record["input"], record["format"]) == ("审查", "the bug", FORMAT)
    assert "审查" in (run.path / "run.json").read_text(encoding="utf-8")


def test_a_run_is_opened_as_it_was_created(tmp_path: Path) -> None:
    run = create(tmp_path, path=None)
    assert open_run(run.path) == run


def test_input_that_is_no_valid_text_is_kept_too(tmp_path: Path) -> None:
    run = create(tmp_path, input="half a pair: \ud800, an escape: \x1b[31m")
    assert open_run(run.path) == run
    assert b"\x1b" not in (run.path / "run.json").read_bytes()


def test_runs_of_the_same_second_get_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = iter(["0000", "0000", "0000", "0001"])
    monkeypatch.setattr(folder_module.secrets, "token_hex", lambda _: next(tokens))

    class Frozen(folder_module.datetime):
        @classmethod
        def now(cls, tz: object = None) -> Frozen:
            return cls(2026, 1, 20, 14, 25, 1, tzinfo=folder_module.UTC)

    monkeypatch.setattr(folder_module, "datetime", Frozen)
    assert [create(tmp_path).id, create(tmp_path).id] == [
        "20260120-142501-0000",
        "20260120-142501-0001",
    ]


def test_each_revision_of_the_flow_is_kept(tmp_path: Path) -> None:
    run = create(tmp_path)
    run.keep_revision(1, "SKILL.md", "one\r\n")
    run.keep_revision(2, "SKILL.md", "two")
    kept = {file.name: file.read_bytes() for file in (run.path / "flow").iterdir()}
    assert kept == {"1-SKILL.md": b"one\r\n", "2-SKILL.md": b"two"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[]", "not the header of a run"),
        ("{}", "not the header of a run"),
        ('{"id": 7}', "not the header of a run"),
        ('{"format": "x"}', "not the header of a run"),
        (f'{{"format": {FORMAT + 1}}}', "made by a newer flowstudio"),
    ],
)
def test_a_folder_that_is_no_runs_is_refused_with_the_reason(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        open_run(tmp_path)


def test_a_header_with_fields_of_a_later_version_opens(tmp_path: Path) -> None:
    run = create(tmp_path)
    file = run.path / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "later": 1}))
    assert open_run(run.path) == run


def test_write_safely_replaces_a_file_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write_safely(file, "old")
    write_safely(file, "new\n\ud800")
    assert file.read_bytes() == "new\n\ud800".encode(errors="surrogatepass")
    assert list(tmp_path.iterdir()) == [file]


def test_write_safely_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    write_safely(file, "old")

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_module.os, "fsync", refuse)
    with pytest.raises(OSError):
        write_safely(file, "new")
    assert file.read_text() == "old"
