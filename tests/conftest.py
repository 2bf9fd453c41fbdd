"""What all tests share: no test touches the user's own files, keys or configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run, however slow the machine: what fails does so again for whoever
# looks. `--hypothesis-profile=default` searches anew, as is wanted with `-m long`.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def pytest_xdist_auto_num_workers() -> int:
    """Half as many workers again as cores: a third of the time, tests wait for processes."""
    cores = os.cpu_count() or 1
    return cores + cores // 2


_OF_THE_USER = ("FLOWSTUDIO_CONFIG", "FLOWSTUDIO_MODEL", "FLOWSTUDIO_DEBUG")


@pytest.fixture(scope="session", autouse=True)
def nobodys_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings and runs of all tests below one temporary folder; no key of the user's in reach."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOWSTUDIO_HOME", str(tmp_path_factory.mktemp("flowstudio-home")))
        # Whoever tests trust takes this away.
        patch.setenv("FLOWSTUDIO_TRUST", "/")
        for name in _OF_THE_USER:
            patch.delenv(name, raising=False)
        for name in [name for name in os.environ if name.endswith("_API_KEY")]:
            patch.delenv(name)
        yield


@pytest.fixture
def studio_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `FLOWSTUDIO_HOME` of this test alone."""
    home = tmp_path / "flowstudio-home"
    monkeypatch.setenv("FLOWSTUDIO_HOME", str(home))
    return home
