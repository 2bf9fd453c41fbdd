"""The studio's tools describe themselves as kosong would have them do."""

from __future__ import annotations

from pathlib import Path

import pytest
from kosong.tooling import CallableTool2, Tool

from flowstudio.config import Config
from flowstudio.soul.agent import Runtime
from flowstudio.soul.tools import TOOL_NAMES, make_tools
from flowstudio.wire import Wire


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_a_tool_is_described_as_kosong_would(name: str, tmp_path: Path) -> None:
    toolset = make_tools(Runtime.create(Config(), Wire(), work_dir=tmp_path), [name])
    (ours,) = toolset.tools
    tool = toolset._tools[name]
    assert isinstance(tool, CallableTool2)
    checked = Tool.model_validate(ours.model_dump())  # raises where the schema is none
    kinds = {"__call__": tool.__call__}
    theirs = type("Theirs", (CallableTool2,), kinds)(tool.name, tool.description, tool.params)
    assert checked == theirs.base
