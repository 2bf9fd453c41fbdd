"""Each run of these tests is kept in a folder of its own test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(studio_home: Path) -> Path:
    return studio_home
