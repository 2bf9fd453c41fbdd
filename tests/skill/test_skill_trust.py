"""Which folders are trusted, who may say so, and which skills need it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowstudio.skill import load_skill
from flowstudio.skill.trust import TrustError, TrustGuard, TrustStore, folder_to_trust


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrustStore:
    monkeypatch.delenv("FLOWSTUDIO_TRUST")
    monkeypatch.setenv("FLOWSTUDIO_HOME", str(tmp_path / "own"))
    return TrustStore.of_user()


def repository(folder: Path) -> Path:
    """A repository with a skill in it; gives the skill's file."""
    (folder / ".git").mkdir(parents=True)
    return skill(folder / ".agents" / "skills")


def skill(root: Path) -> Path:
    file = root / "demo" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: demo\ndescription: d\n---\ntext")
    return file


def test_a_folder_is_trusted_with_all_below_it_until_it_is_taken_back(
    tmp_path: Path, store: TrustStore
) -> None:
    folder = tmp_path / "a"
    assert not store.trusts(folder)
    store.trust(folder)
    store.trust(folder)
    assert store.folders() == (folder,)
    assert store.trusts(folder)
    assert store.trusts(folder / "deep" / "er")
    assert not store.trusts(tmp_path)
    assert not store.trusts(tmp_path / "ab")
    assert store.remove(folder)
    assert not store.trusts(folder)
    assert not store.remove(folder)


def test_a_link_counts_as_what_it_leads_to(tmp_path: Path, store: TrustStore) -> None:
    real, other = tmp_path / "real", tmp_path / "other"
    real.mkdir()
    other.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    store.trust(link)
    assert store.trusts(real)
    link.unlink()
    link.symlink_to(other)
    assert not store.trusts(link)


def test_the_file_is_its_owners_alone(tmp_path: Path, store: TrustStore) -> None:
    store.trust(tmp_path)
    assert store.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(
    tmp_path: Path, store: TrustStore, mode: int
) -> None:
    store.trust(tmp_path)
    store.path.chmod(mode)
    with pytest.raises(TrustError, match="others may write"):
        store.trusts(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"trusted": "/"}', "null", "[" * 100_000])
def test_a_file_that_cannot_be_understood_trusts_nothing(store: TrustStore, text: str) -> None:
    store.path.parent.mkdir(parents=True)
    store.path.write_text(text)
    store.path.chmod(0o600)
    with pytest.raises(TrustError, match="Remove it"):
        store.trusts(Path("/"))


def test_what_is_no_text_in_the_list_is_passed_over(tmp_path: Path, store: TrustStore) -> None:
    store.path.parent.mkdir(parents=True)
    store.path.write_text(json.dumps({"trusted": [1, None, str(tmp_path)]}))
    store.path.chmod(0o600)
    assert store.folders() == (tmp_path,)


def test_a_variable_names_further_folders(
    tmp_path: Path, store: TrustStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOWSTUDIO_TRUST", f"/nowhere:{tmp_path}")
    assert store.trusts(tmp_path / "x")
    assert store.folders() == ()


def test_a_skill_of_a_repository_needs_the_repository_to_be_trusted(
    tmp_path: Path, store: TrustStore
) -> None:
    file = repository(tmp_path / "repo")
    found = load_skill(file)
    assert folder_to_trust(found, tmp_path / "repo") == tmp_path / "repo"
    guard = TrustGuard(tmp_path / "repo")
    assert "have not trusted" in guard.why_no_skill(found)
    store.trust(tmp_path / "repo")
    assert guard.why_no_skill(found) == ""


def test_from_another_work_folder_too(tmp_path: Path, store: TrustStore) -> None:
    file = repository(tmp_path / "repo")
    (tmp_path / "elsewhere").mkdir()
    assert folder_to_trust(load_skill(file), tmp_path / "elsewhere") == tmp_path / "repo"


def test_skills_of_the_user_and_of_named_folders_need_none(
    tmp_path: Path, store: TrustStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowstudio.paths.home", lambda: tmp_path / "home")
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    own = load_skill(skill(tmp_path / "home" / ".agents" / "skills"))
    named = load_skill(skill(tmp_path / "named"))
    assert folder_to_trust(own, work) is None
    assert folder_to_trust(named, work, [tmp_path / "named"]) is None
    assert folder_to_trust(named, work) is not None


def test_a_link_from_the_users_folder_does_not_vouch_for_what_it_leads_to(
    tmp_path: Path, store: TrustStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowstudio.paths.home", lambda: tmp_path / "home")
    file = repository(tmp_path / "repo")
    root = tmp_path / "home" / ".agents" / "skills"
    root.mkdir(parents=True)
    (root / "demo").symlink_to(file.parent)
    assert folder_to_trust(load_skill(root / "demo"), tmp_path / "home") is not None
