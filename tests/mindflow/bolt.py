"""A Bolt/Cypher server for tests and benchmarks, from the package `arcadedb-embedded`."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import socket
import tempfile
from collections.abc import Generator
from typing import Any

USER = "root"
PASSWORD = "only-for-tests"


@contextlib.contextmanager
def serve() -> Generator[str]:
    """The address of a server in this process, on loopback; empty where none is installed."""
    if not all(importlib.util.find_spec(one) for one in ("arcadedb_embedded", "neo4j")):
        yield ""
        return
    arcadedb: Any = importlib.import_module("arcadedb_embedded")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        config = {
            "http_port": free_port(),
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt_port": port,
            "mode": "production",
        }
        server = arcadedb.create_server(f"{folder}/data", PASSWORD, config=config)
        # The server writes its log into the folder that it is started in.
        with contextlib.chdir(folder):
            server.start()
        server.create_database("skills")
        try:
            yield f"bolt://localhost:{port}/skills"
        finally:
            server.stop()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
