"""Learning from use: proposals for the review queue, never anything written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowstudio.mindflow.database import Database
from flowstudio.mindflow.feedback import FeedbackLog
from flowstudio.mindflow.learning import find_rows, learn
from flowstudio.mindflow.library import read_library
from flowstudio.mindflow.model import Library
from flowstudio.mindflow.queue import Queued, ReviewQueue
from flowstudio.mindflow.usage import UsageLog
from flowstudio.skill import Root, load_skill, read_roots


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "library.sqlite3") as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / ".kimi" / "skills"
    folder.mkdir(parents=True)
    return folder


def write(root: Path, name: str, fields: str = "", body: str = "Do it.\n") -> Path:
    folder = root / name
    folder.mkdir()
    text = f"---\nname: {name}\ndescription: Does {name}.\ntype: standard\n{fields}---\n\n{body}"
    (folder / "SKILL.md").write_text(text)
    return folder / "SKILL.md"


def library_of(root: Path) -> Library:
    return read_library(read_roots([Root(root, "project", root)]))


def look(database: Database, root: Path) -> list[Queued]:
    return learn(database, library_of(root), ReviewQueue(database))


def mean(database: Database, words: str, skill: str, instead: str, times: int = 2) -> None:
    log = FeedbackLog(database)
    log.reject(words, instead)
    for _ in range(times):
        log.choose(words, skill)


# ---- utterances ------------------------------------------------------------------------------

FRONTS = {
    "without the field": ("", 'utterances: ["tidy numbers"]\n'),
    "a list on its line": (
        "utterances: [clean it]\n",
        'utterances: [clean it, "tidy numbers"]\n',
    ),
    "an empty list": ("utterances: []\n", 'utterances: ["tidy numbers"]\n'),
    "a line each": (
        'utterances:\n  - clean it\n  - "scrub: it"\neffects: [x]\n',
        'utterances:\n  - clean it\n  - "scrub: it"\n  - "tidy numbers"\neffects: [x]\n',
    ),
    "without indentation": (
        "utterances:\n- clean it\neffects: [x]\n",
        'utterances:\n- clean it\n- "tidy numbers"\neffects: [x]\n',
    ),
    "by language": (
        "utterances:\n  en: [clean it]\n  zh: [清洗]\n",
        'utterances:\n  en: [clean it, "tidy numbers"]\n  zh: [清洗]\n',
    ),
    "by language, a line each": (
        "utterances:\n  zh:\n    - 清洗\n  en:\n    - clean it\n",
        'utterances:\n  zh:\n    - 清洗\n  en:\n    - clean it\n    - "tidy numbers"\n',
    ),
    "under another name": ("examples: [clean it]\n", 'examples: [clean it, "tidy numbers"]\n'),
}


@pytest.mark.parametrize(("before", "after"), FRONTS.values(), ids=FRONTS)
def test_words_that_meant_a_skill_become_its_utterance(
    database: Database, root: Path, before: str, after: str
):
    path = write(root, "clean", before)
    mean(database, "tidy numbers", "clean", "csv")
    [one] = look(database, root)
    assert one.change.kind == "skill_update" and one.state == "open"
    assert path.read_text().count("tidy numbers") == 0, "nothing is written before it is approved"
    ReviewQueue(database).approve(one.id)
    assert after in path.read_text()
    assert "tidy numbers" in library_of(root).skills["clean"].utterances


def test_utterances_that_stood_as_quotes_in_the_text_come_along(database: Database, root: Path):
    path = write(root, "clean", body='# Clean\n\n> “clean it” · "scrub it"\n\n## How\n')
    mean(database, "tidy numbers", "clean", "csv")
    [one] = look(database, root)
    ReviewQueue(database).approve(one.id)
    assert 'utterances: ["clean it", "scrub it", "tidy numbers"]\n' in path.read_text()


def test_phrases_that_stand_beside_the_skills_stay_there(database: Database, root: Path):
    path = write(root, "clean", "utterances: [clean it]\n")
    (root / "phrases.yaml").write_text("clean:\n  en: [make it shine]\n")
    mean(database, "tidy numbers", "clean", "csv")
    [one] = look(database, root)
    ReviewQueue(database).approve(one.id)
    assert 'utterances: [clean it, "tidy numbers"]\n' in path.read_text()


def test_words_with_quotes_and_colons_are_written_as_text(database: Database, root: Path):
    write(root, "clean")
    words = 'tidy: "these" \\ #numbers'
    mean(database, words, "clean", "csv")
    [one] = look(database, root)
    ReviewQueue(database).approve(one.id)
    assert words in library_of(root).skills["clean"].utterances


def test_words_are_learned_from_the_second_time_on(database: Database, root: Path):
    write(root, "clean")
    mean(database, "tidy numbers", "clean", "csv", times=1)
    assert look(database, root) == []


def test_words_that_the_skill_knows_are_not_learned(database: Database, root: Path):
    write(root, "clean", "utterances: [Tidy Numbers]\n")
    mean(database, "tidy numbers", "clean", "csv")
    assert look(database, root) == []


def test_a_front_matter_that_cannot_be_extended_safely_is_left_alone(
    database: Database, root: Path
):
    write(root, "clean", "utterances: &all [a,\n  b]\n")
    mean(database, "tidy numbers", "clean", "csv")
    assert look(database, root) == []


def test_a_proposal_is_made_once_even_if_it_was_rejected_and_the_file_changed(
    database: Database, root: Path
):
    path = write(root, "clean")
    mean(database, "tidy numbers", "clean", "csv")
    [one] = look(database, root)
    assert look(database, root) == []
    ReviewQueue(database).reject(one.id)
    path.write_text(path.read_text() + "More.\n")
    assert look(database, root) == []


def test_bundled_skills_are_not_changed(database: Database, root: Path):
    write(root, "clean")
    mean(database, "tidy numbers", "clean", "csv")
    bundled = read_library(read_roots([Root(root, "builtin", root)]))
    assert learn(database, bundled, ReviewQueue(database)) == []


# ---- flows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sequences", "rows"),
    [
        (["ab"] * 2, []),
        (["ab"] * 3, [("ab", 3)]),
        (["abc"] * 3, [("abc", 3)]),
        (["abc"] * 3 + ["xab"], [("ab", 4), ("abc", 3)]),
        (["aab", "abb", "ab"], [("ab", 3)]),
        (["aba"] * 3, [("ab", 3), ("ba", 3)]),
        (["a"] * 9, []),
    ],
)
def test_rows_are_what_many_sessions_have(sequences: list[str], rows: list[tuple[str, int]]):
    found = find_rows([tuple(one) for one in sequences])
    assert [("".join(row), times) for row, times in found] == rows


def use(database: Database, row: list[str], times: int = 3) -> None:
    log = UsageLog(database)
    for session in range(times):
        for name in row:
            log.record(name, "done", session=f"s{session}")


def test_skills_that_are_used_in_a_row_become_a_flow_that_runs(database: Database, root: Path):
    write(root, "csv", "preconditions: [file]\neffects: [table]\n")
    write(root, "chart", "preconditions: [table]\neffects: [picture]\n")
    use(database, ["csv", "chart"])
    [one] = look(database, root)
    assert one.change.kind == "skill_create" and one.change.reach == "local"
    assert "3 sessions" in one.change.why
    ReviewQueue(database).approve(one.id)
    made = load_skill(root / "routine-csv-chart")
    assert made.flow is not None and made.diagnostics == ()
    assert made.meta["called_skills"] == ["csv", "chart"]
    assert made.meta["preconditions"] == ["file"] and made.meta["effects"] == ["picture"]


def test_a_row_that_a_flow_covers_already_is_not_proposed(database: Database, root: Path):
    write(root, "csv")
    write(root, "chart")
    write(root, "both", "called_skills: [csv, chart]\n")
    use(database, ["csv", "chart"])
    assert look(database, root) == []


def test_an_approved_flow_is_not_proposed_again(database: Database, root: Path):
    write(root, "csv")
    write(root, "chart")
    use(database, ["csv", "chart"])
    [one] = look(database, root)
    ReviewQueue(database).approve(one.id)
    assert look(database, root) == []


def test_a_row_with_a_skill_that_is_gone_is_not_proposed(database: Database, root: Path):
    write(root, "csv")
    use(database, ["csv", "gone"])
    assert look(database, root) == []
