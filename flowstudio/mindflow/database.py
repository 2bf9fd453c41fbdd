"""The user's data about the library, in one SQLite file: use, feedback, and the queue of changes.

Several processes may have it open: each writes in short transactions and waits for the others.
Nothing newer than SQLite 3.40 is used.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from flowstudio import paths

VERSION = 1
"""Of the tables; `PRAGMA user_version` says which one a file has."""
PATIENCE = 5.0
"""Seconds that one process waits for another."""

_TABLES = """
CREATE TABLE uses (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    skill TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'partial', 'failed')),
    why TEXT NOT NULL DEFAULT '',
    seconds REAL NOT NULL DEFAULT 0,
    session TEXT NOT NULL DEFAULT '',
    project TEXT NOT NULL DEFAULT ''
);
CREATE INDEX uses_by_skill ON uses (skill, time);
CREATE INDEX uses_by_session ON uses (session, id);
CREATE TABLE feedback (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    words TEXT NOT NULL,
    skill TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('chosen', 'rejected')),
    project TEXT NOT NULL DEFAULT ''
);
CREATE INDEX feedback_by_skill ON feedback (skill, verdict);
CREATE TABLE topics (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    word TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT ''
);
CREATE TABLE changes (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    reach TEXT NOT NULL,
    title TEXT NOT NULL,
    why TEXT NOT NULL,
    risk REAL NOT NULL,
    fingerprint TEXT NOT NULL,
    due REAL,
    state TEXT NOT NULL,
    decided REAL,
    decided_by TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT ''
);
CREATE INDEX changes_by_state ON changes (state, id);
CREATE INDEX changes_by_fingerprint ON changes (fingerprint);
CREATE TABLE change_files (
    change INTEGER NOT NULL REFERENCES changes (id),
    number INTEGER NOT NULL,
    path TEXT NOT NULL,
    root TEXT NOT NULL,
    before TEXT,
    after TEXT,
    PRIMARY KEY (change, number)
);
"""


class DatabaseError(Exception):
    """The data about the library cannot be used; the message says why and what to do."""


def database_file() -> Path:
    """Where the user's data about the library is kept."""
    return paths.data_dir() / "library.sqlite3"


class Database:
    """One connection. To be used in one thread, and closed.

    Attributes:
        repaired: a sentence for the user where the file was damaged and begun anew; else empty.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Opens the file, and makes it where there is none.

        Raises:
            DatabaseError: it cannot be opened or written, or a newer program made it.
        """
        self.path = path or database_file()
        self.repaired = ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
        except (OSError, sqlite3.Error) as error:
            raise DatabaseError(
                f"What was learned about the skills cannot be opened ({self.path}): {error}. "
                "Check that the folder can be written."
            ) from error

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if not _is_damaged(error):
                raise
            aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
            self.path.rename(aside)
            for tail in ("-wal", "-shm", "-journal"):
                self.path.with_name(self.path.name + tail).unlink(missing_ok=True)
            self.repaired = (
                f"What was learned about the skills could not be read and begins anew. "
                f"The old file is kept: {aside}"
            )
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        # For the user alone from the first moment.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            self._migrate(connection)
            # So that damage is found here and not in mid-work.
            if (said := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise _Damaged(said)
            # Readers and a writer do not wait for each other; some file systems cannot do it.
            with contextlib.suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        if _version(connection) == VERSION:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have done it meanwhile.
            version = _version(connection)
            if version > VERSION:
                raise DatabaseError(
                    f"{self.path} was written by a newer Flow Studio. Update this one, or move the "
                    "file away to begin anew."
                )
            if version == 0:
                for statement in _TABLES.split(";"):
                    if statement.strip():
                        connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A transaction: all of it happens, or nothing.

        Raises:
            DatabaseError: it cannot be written.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise DatabaseError(
                f"What was learned about the skills cannot be written ({self.path}): {error}."
            ) from error

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """The rows of a query.

        Raises:
            DatabaseError: it cannot be read.
        """
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise DatabaseError(
                f"What was learned about the skills cannot be read ({self.path}): {error}."
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


class _Damaged(sqlite3.DatabaseError):
    """The check found something."""


def _is_damaged(error: sqlite3.DatabaseError) -> bool:
    return isinstance(error, _Damaged) or error.sqlite_errorcode in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )
