"""The user's data about the library: use, feedback, topics; in one file, for several processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowstudio.mindflow.database import Database, DatabaseError
from flowstudio.mindflow.feedback import FeedbackLog
from flowstudio.mindflow.usage import UsageLog


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "library.sqlite3"


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    with Database(file) as opened:
        yield opened


def test_the_success_rate_counts_what_was_done_in_part_as_a_half(database: Database):
    log = UsageLog(database)
    for outcome in ("done", "done", "partial", "failed"):
        log.record("csv", outcome)
    history = log.histories()["csv"]
    assert (history.usage_count, history.success_rate) == (4, 0.625)


def test_a_failure_lowers_the_success_rate_and_its_reason_is_kept(database: Database):
    log = UsageLog(database)
    log.record("csv", "done")
    before = log.histories()["csv"].success_rate
    log.record("csv", "failed", why="the file is locked")
    assert log.histories()["csv"].success_rate < before
    assert log.of_skills()[0].last_why == "the file is locked"


def test_a_skill_that_was_never_used_has_no_history(database: Database):
    assert UsageLog(database).histories() == {}


def test_the_skills_of_a_session_come_in_their_order_and_failures_are_left_out(
    database: Database,
):
    log = UsageLog(database)
    log.record("csv", "done", session="1")
    log.record("clean", "failed", session="1")
    log.record("chart", "done", session="1")
    log.record("notes", "done", session="2")
    assert log.sequences() == [("notes",), ("csv", "chart")]


def test_feedback_is_counted_by_skill(database: Database):
    log = FeedbackLog(database)
    log.reject("tidy numbers", "csv")
    log.choose("tidy numbers", "clean")
    assert log.counts() == {"clean": (1, 0), "csv": (0, 1)}


def test_words_that_meant_another_skill_than_was_found_are_a_wish_from_the_second_time(
    database: Database,
):
    log = FeedbackLog(database)
    log.choose("other words", "clean")
    log.choose("other words", "clean")
    log.reject("tidy  numbers", "csv")
    log.choose("tidy numbers", "clean")
    assert log.wishes() == []
    log.choose("tidy numbers", "clean")
    [wish] = log.wishes()
    assert (wish.words, wish.skill, wish.times) == ("tidy numbers", "clean", 2)


def test_the_last_ten_keywords_are_the_recent_topics(database: Database):
    log = FeedbackLog(database)
    log.add_topics("plan the Monday release", "web")
    log.add_topics("整理 notes", "home")
    log.add_topics("plan", "home")
    assert log.recent_topics()[:3] == ("plan", "not", "整理")
    assert "monday" in log.recent_topics("web") and "整理" not in log.recent_topics("web")
    for number in range(30):
        log.add_topics(f"topic{number}")
    assert len(log.recent_topics()) == 10
    assert log.recent_topics()[0] == "topic29"


def test_old_topics_are_forgotten(database: Database):
    log = FeedbackLog(database)
    for number in range(300):
        log.add_topics(f"topic{number}")
    assert database.rows("SELECT COUNT(*) AS n FROM topics")[0]["n"] <= 200


# ---- the file --------------------------------------------------------------------------------


def test_the_file_is_for_its_user_alone(database: Database, file: Path):
    assert file.stat().st_mode & 0o077 == 0


def test_a_damaged_file_is_put_aside_and_begun_anew(file: Path):
    file.write_bytes(b"this is no database" * 100)
    with Database(file) as database:
        assert "begins anew" in database.repaired
        UsageLog(database).record("csv", "done")
    [kept] = file.parent.glob("library.sqlite3.damaged-*")
    assert kept.read_bytes().startswith(b"this is no database")
    with Database(file) as database:
        assert database.repaired == ""
        assert UsageLog(database).histories()["csv"].usage_count == 1


def test_a_page_that_was_overwritten_is_found_at_the_start(file: Path):
    with Database(file) as database:
        log = UsageLog(database)
        for number in range(400):
            log.record(f"skill{number}", "done", why="x" * 100)
    data = bytearray(file.read_bytes())
    data[4096 * 6 : 4096 * 9] = b"\xa5" * (4096 * 3)
    file.write_bytes(bytes(data))
    with Database(file) as database:
        assert "begins anew" in database.repaired


def test_a_newer_file_is_left_alone(file: Path):
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DatabaseError, match="written by a newer Flow Studio"):
        Database(file)


def test_a_file_that_cannot_be_made_is_said(tmp_path: Path):
    (tmp_path / "blocked").write_text("")
    with pytest.raises(DatabaseError, match="cannot be opened"):
        Database(tmp_path / "blocked" / "library.sqlite3")


def test_nothing_of_a_transaction_that_fails_stays(database: Database):
    with pytest.raises(RuntimeError), database.writing() as connection:
        connection.execute("INSERT INTO topics (time, word) VALUES (1, 'x')")
        raise RuntimeError
    assert database.rows("SELECT * FROM topics") == []


_RECORD = """
import sys
from pathlib import Path
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.usage import UsageLog
sys.stdin.readline()
with Database(Path(sys.argv[1])) as database:
    log = UsageLog(database)
    for _ in range(50):
        log.record("csv", "done")
"""


def test_two_processes_write_at_the_same_time_and_nothing_is_lost(file: Path):
    both = [
        subprocess.Popen([sys.executable, "-c", _RECORD, str(file)], stdin=subprocess.PIPE)
        for _ in range(2)
    ]
    for one in both:
        assert one.stdin is not None
        one.stdin.write(b"go\n")
        one.stdin.close()
    assert [one.wait(60) for one in both] == [0, 0]
    with Database(file) as database:
        assert UsageLog(database).histories()["csv"].usage_count == 100
