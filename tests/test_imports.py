"""What each import and each headless command may load; a fresh process proves it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKILL = ROOT / "tests" / "corpus" / "code-review-loop"
SCRIPT = ROOT / "tests" / "corpus" / "scripts" / "code-review-loop.script.yaml"
CHART = ROOT / "tests" / "corpus" / "charts" / "readme-freshness.mmd"

_CLIENTS = {"kosong", "openai", "anthropic", "httpx", "google"}
_ALWAYS = {"textual", "chromadb", "onnxruntime", "tiktoken"}

_TELL = "\nimport sys; print('LOADED', *sorted({name.split('.')[0] for name in sys.modules}))"


def load(code: str, cwd: Path) -> set[str]:
    """The top-level modules that a fresh process holds after `code`."""
    done = subprocess.run(
        [sys.executable, "-c", code + _TELL],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "FLOWSTUDIO_HOME": str(cwd), "HOME": str(cwd), "PATH": ""},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1].split()
    assert last[0] == "LOADED"
    return set(last[1:])


@pytest.mark.parametrize(
    "module",
    ["flowstudio", "flowstudio.flow", "flowstudio.wire", "flowstudio.text", "flowstudio.cli"],
)
def test_importing_it_loads_no_third_party_package(module: str, tmp_path: Path) -> None:
    before = load("", tmp_path)
    after = load(f"import {module}", tmp_path)
    foreign = {name for name in after - before if name not in sys.stdlib_module_names}
    assert foreign == {"flowstudio"}


def test_importing_the_drawing_loads_no_layout_and_no_screen(tmp_path: Path) -> None:
    assert (
        load("import flowstudio.drawing", tmp_path) & (_CLIENTS | _ALWAYS | {"networkx"}) == set()
    )


def test_reading_a_flow_loads_no_third_party_package(tmp_path: Path) -> None:
    code = (
        "from flowstudio.flow import parse_mermaid_flowchart, parse_d2_flowchart, parse_choice\n"
        "parse_mermaid_flowchart('flowchart TD\\n B([BEGIN]) --> E([END])')\n"
        "parse_d2_flowchart('BEGIN -> END')\n"
        "parse_choice('<choice>x</choice>')"
    )
    loaded = load(code, tmp_path)
    foreign = {name for name in loaded - load("", tmp_path) if name not in sys.stdlib_module_names}
    assert foreign == {"flowstudio"}


@pytest.mark.parametrize(
    ("argv", "never"),
    [
        (["list"], _CLIENTS | {"networkx", "pydantic"}),
        (["list", "--json"], _CLIENTS | {"networkx"}),
        (["show", str(SKILL)], _CLIENTS | {"networkx", "pydantic"}),
        (["show", str(CHART), "--json"], _CLIENTS | {"networkx"}),
        (["check", str(SKILL)], _CLIENTS | {"networkx", "pydantic"}),
        (["explain"], _CLIENTS | {"networkx", "pydantic"}),
        (["draw", str(SKILL)], _CLIENTS),
        (["run", str(SKILL), "--script", str(SCRIPT), "--json"], {"networkx", "openai", "google"}),
        (["test", "tour"], {"networkx", "openai", "anthropic", "google", "distributed"}),
        (["batch", "tour", "--seed", "1"], {"openai", "anthropic", "google", "distributed"}),
    ],
    ids=lambda value: " ".join(Path(part).name for part in value) if type(value) is list else "",
)
def test_a_headless_command_loads_neither_textual_nor_what_it_has_no_use_for(
    argv: list[str], never: set[str], tmp_path: Path
) -> None:
    loaded = load(f"from flowstudio.cli import main\nassert main({argv!r}) == 0", tmp_path)
    assert loaded & (never | _ALWAYS) == set()
