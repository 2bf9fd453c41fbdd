"""Skills from elsewhere: what is read, what is refused, and what is written."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest

from flowstudio.mindflow import archive
from flowstudio.mindflow.archive import ArchiveError, bring, find_incoming, open_source, pack
from flowstudio.skill import Root, Skill, load_skill, read_roots

SKILL = "---\nname: {name}\ndescription: Does {name}.\ntype: standard\n---\n\nDo it.\n"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def write(folder: Path, name: str, text: str = SKILL) -> Path:
    place = folder / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(text.format(name=name))
    return place


def zip_of(path: Path, entries: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in entries.items():
            out.writestr(name, data)
    return path


def present(target: Path) -> tuple[Skill, ...]:
    return read_roots([Root(target, "user", target)]).skills if target.is_dir() else ()


def bring_all(source: Path, target: Path, *, replace: bool = False) -> dict[str, str]:
    with open_source(source) as opened:
        found = find_incoming(opened, target, present(target), replace=replace)
        for one in found:
            if one.verdict in ("add", "replace"):
                bring(one)
        return {one.skill.name: one.verdict for one in found}


def test_the_skills_of_a_folder_are_brought_in(tmp_path: Path, target: Path):
    write(tmp_path / "from", "one")
    (write(tmp_path / "from", "two") / "notes.md").write_text("notes")
    assert bring_all(tmp_path / "from", target) == {"one": "add", "two": "add"}
    assert (target / "two/notes.md").read_text() == "notes"
    assert {skill.name for skill in present(target)} == {"one", "two"}
    assert stat.S_IMODE((target / "two").stat().st_mode) == 0o755


def test_one_skill_keeps_its_folders_name(tmp_path: Path, target: Path):
    bring_all(write(tmp_path, "one"), target)
    assert (target / "one/SKILL.md").exists()


def test_a_bare_file_becomes_a_folder(tmp_path: Path, target: Path):
    (tmp_path / "notes.md").write_text(SKILL.format(name="notes"))
    assert bring_all(tmp_path / "notes.md", target) == {"notes": "add"}
    assert (target / "notes/SKILL.md").exists()


def test_what_is_packed_is_the_same_when_it_is_unpacked(tmp_path: Path, target: Path):
    folder = write(tmp_path / "from", "one")
    (folder / "scripts").mkdir()
    (folder / "scripts/run.sh").write_text("#!/bin/sh\n")
    (folder / "scripts/run.sh").chmod(0o755)
    (folder / "数据.txt").write_text("数据")
    assert pack([load_skill(folder)], tmp_path / "out.zip") == []
    assert bring_all(tmp_path / "out.zip", target) == {"one": "add"}
    assert os.access(target / "one/scripts/run.sh", os.X_OK)
    assert (target / "one/数据.txt").read_text() == "数据"
    assert bring_all(tmp_path / "out.zip", target) == {"one": "same"}


def test_the_same_skills_pack_to_the_same_bytes(tmp_path: Path):
    skill = load_skill(write(tmp_path, "one"))
    pack([skill], tmp_path / "a.zip")
    os.utime(skill.path, (1, 1))
    pack([skill], tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_skills_whose_names_make_the_same_folder_are_both_packed(tmp_path: Path):
    one = write(tmp_path / "a", "x", SKILL.replace("{name}", "a/b"))
    two = write(tmp_path / "b", "x", SKILL.replace("{name}", "a-b"))
    pack([load_skill(one), load_skill(two)], tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as read:
        assert read.namelist() == ["a-b/SKILL.md", "a-b-2/SKILL.md"]


def test_a_name_that_is_taken_is_left_out_or_replaced_as_asked(tmp_path: Path, target: Path):
    write(target, "one", SKILL + "Mine.\n")
    source = write(tmp_path, "one")
    assert bring_all(source, target) == {"one": "taken"}
    assert (target / "one/SKILL.md").read_text().endswith("Mine.\n")
    assert bring_all(source, target, replace=True) == {"one": "replace"}
    assert not (target / "one/SKILL.md").read_text().endswith("Mine.\n")
    assert [path.name for path in target.iterdir()] == ["one"], "nothing else is left behind"


def test_a_folder_that_is_no_skill_is_not_replaced(tmp_path: Path, target: Path):
    target.mkdir()
    (target / "one").write_text("a file of mine")
    assert bring_all(write(tmp_path, "one"), target, replace=True) == {"one": "taken"}
    assert (target / "one").read_text() == "a file of mine"


def test_a_skill_that_is_not_in_order_is_left_out(tmp_path: Path, target: Path):
    write(tmp_path / "from", "bad", "---\nname: [\n---\n")
    write(tmp_path / "from", "good")
    found = bring_all(tmp_path / "from", target)
    assert found["good"] == "add" and sorted(found.values()) == ["add", "broken"]
    assert [path.name for path in target.iterdir()] == ["good"]


@pytest.mark.parametrize(
    "name",
    ["../evil/SKILL.md", "a/../../evil.md", "/etc/evil.md", "C:/evil.md", "a\\..\\..\\evil.md"],
)
def test_an_archive_that_leads_out_of_itself_is_refused_whole(
    tmp_path: Path, target: Path, name: str
):
    zip_of(tmp_path / "evil.zip", {"good/SKILL.md": SKILL, name: "x"})
    with pytest.raises(ArchiveError, match="leads out of it"):
        bring_all(tmp_path / "evil.zip", target)
    assert not target.exists() and not (tmp_path / "evil").exists()


def test_links_in_an_archive_are_left_out(tmp_path: Path, target: Path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as out:
        out.writestr("one/SKILL.md", SKILL.format(name="one"))
        link = zipfile.ZipInfo("one/passwd")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(link, "/etc/passwd")
    with open_source(tmp_path / "a.zip") as opened:
        assert opened.left_out == ["one/passwd is no plain file: left out"]
    bring_all(tmp_path / "a.zip", target)
    assert sorted(path.name for path in (target / "one").iterdir()) == ["SKILL.md"]


def test_links_and_pipes_in_a_folder_are_left_out(tmp_path: Path, target: Path):
    folder = write(tmp_path / "from", "one")
    (folder / "away").symlink_to("/etc")
    (folder / "passwd").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    bring_all(folder, target)
    assert sorted(path.name for path in (target / "one").iterdir()) == ["SKILL.md"]


@pytest.mark.parametrize("limit", ["MOST_FILES", "MOST_BYTES"])
def test_more_than_a_library_can_be_is_refused(
    tmp_path: Path, target: Path, limit: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(archive, limit, 3 if limit == "MOST_FILES" else 300)
    folder = write(tmp_path / "from", "one")
    for number in range(4):
        (folder / f"{number}.txt").write_text("x" * 100)
    source = zip_of(
        tmp_path / "a.zip", {f"one/{path.name}": path.read_text() for path in folder.iterdir()}
    )
    for one in (source, folder):
        with pytest.raises(ArchiveError, match="that is no library of skills"):
            bring_all(one, target)


def test_an_entry_that_unpacks_to_more_than_it_says_is_refused(tmp_path: Path, target: Path):
    """A bomb: the size in the archive's list is forged."""
    path = zip_of(tmp_path / "bomb.zip", {"one/big.bin": b"\0" * 30_000_000})
    data = path.read_bytes()
    real = (30_000_000).to_bytes(4, "little")
    assert data.count(real) == 2
    path.write_bytes(data.replace(real, (100).to_bytes(4, "little")))
    with pytest.raises(ArchiveError, match=r"not safe|cannot be unpacked"):
        bring_all(path, target)
    assert not target.exists()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04broken", b"no archive"])
def test_what_is_no_archive_is_said(tmp_path: Path, target: Path, data: bytes):
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(ArchiveError):
        bring_all(tmp_path / "a.zip", target)


def test_what_every_packer_adds_is_not_brought_in(tmp_path: Path, target: Path):
    entries = {
        "one/SKILL.md": SKILL.format(name="one"),
        "__MACOSX/one/._SKILL.md": "x",
        "one/.DS_Store": "x",
        "one/aux.txt": "x",
    }
    bring_all(zip_of(tmp_path / "a.zip", entries), target)
    assert sorted(path.name for path in (target / "one").iterdir()) == ["SKILL.md"]


def test_a_disk_that_refuses_leaves_what_was_there(
    tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    write(target, "one", SKILL + "Mine.\n")
    rename = Path.rename

    def fail(self: Path, to: Path) -> Path:
        if self.parent == target and Path(to) == target / "one":
            raise OSError("no space")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="no space"):
        bring_all(write(tmp_path, "one"), target, replace=True)
    assert (target / "one/SKILL.md").read_text().endswith("Mine.\n")
    assert [path.name for path in target.iterdir()] == ["one"]
