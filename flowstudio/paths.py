"""Where files live: settings, runs, bundled skills and themes.

Every place can be moved by an environment variable, so that tests and CI never touch a home folder:
`FLOWSTUDIO_HOME` holds configuration, state and runs below one folder.
"""

from __future__ import annotations

import os
from pathlib import Path

APP = "flowstudio"


def home() -> Path:
    """The user's home folder."""
    return Path.home()


def config_dir() -> Path:
    """The folder of `config.yaml` and of the user's `themes/`."""
    if own := os.environ.get("FLOWSTUDIO_HOME"):
        return Path(own) / "config"
    import platformdirs

    return platformdirs.user_config_path(APP)


def config_file() -> Path:
    """The configuration file: `FLOWSTUDIO_CONFIG` or `config.yaml` in the configuration folder."""
    if own := os.environ.get("FLOWSTUDIO_CONFIG"):
        return Path(own)
    return config_dir() / "config.yaml"


def data_dir() -> Path:
    """The folder of the user's data: runs, statistics."""
    if own := os.environ.get("FLOWSTUDIO_HOME"):
        return Path(own) / "data"
    import platformdirs

    return platformdirs.user_data_path(APP)


def cache_dir() -> Path:
    """The folder of what can be made again: the vectors of searched texts."""
    if own := os.environ.get("FLOWSTUDIO_HOME"):
        return Path(own) / "cache"
    import platformdirs

    return platformdirs.user_cache_path(APP)


def state_file() -> Path:
    """What the studio remembers between two starts: theme, pane sizes."""
    if own := os.environ.get("FLOWSTUDIO_HOME"):
        return Path(own) / "state" / "state.json"
    import platformdirs

    return platformdirs.user_state_path(APP) / "state.json"


def trust_file() -> Path:
    """The folders whose skills the user trusts; written for the user alone."""
    return state_file().with_name("trust.json")


def runs_dir() -> Path:
    """The folder that holds one folder per run."""
    return data_dir() / "runs"


def bundled(kind: str) -> Path:
    """The bundled `skills` or `themes`: inside the wheel, or at the top of a source checkout."""
    inside = Path(__file__).parent / "bundled" / kind
    return inside if inside.is_dir() else Path(__file__).parent.parent / kind


def show_path(path: Path, base: Path | None = None) -> str:
    """A path for people: relative to `base` where it lies below it, else with `~` for home."""
    if base is not None and path.is_relative_to(base):
        return str(path.relative_to(base))
    return f"~/{path.relative_to(home())}" if path.is_relative_to(home()) else str(path)
