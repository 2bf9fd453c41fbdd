"""The page on the configuration names each setting with its default, and its example is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from flowstudio.config import (
    ChoiceMode,
    Config,
    LoopControl,
    McpServer,
    ModelSettings,
    PriceSettings,
    ProviderSettings,
    ProviderType,
    SearchSettings,
)
from flowstudio.models import list_models

PAGE = (Path(__file__).parents[1] / "flowstudio" / "docs" / "configuration.md").read_text(
    encoding="utf-8"
)
PARTS: dict[str, type[BaseModel]] = {
    "The file": Config,
    "`providers.NAME`": ProviderSettings,
    "`models.NAME`": ModelSettings,
    "`models.NAME.prices`": PriceSettings,
    "`mcpServers.NAME`": McpServer,
    "`loop`": LoopControl,
    "`search`": SearchSettings,
}


def rows(heading: str) -> dict[str, str]:
    """The settings below a heading, each with its default as the page has it."""
    part = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^\| `(\w+)` \| (?:`(.*?)`)? ?\|", part, re.MULTILINE)
    return dict(found)


def written(default: Any) -> str:
    """A default as YAML has it; empty for none, and for a part with a table of its own."""
    if default is None or default == "" or default is PydanticUndefined:
        return ""
    if isinstance(default, BaseModel):
        return ""
    if isinstance(default, float):
        return f"{default:g}"
    text = yaml.safe_dump(
        list(default) if isinstance(default, tuple) else default, default_flow_style=True
    )
    return text.removesuffix("...\n").strip().strip("'")


@pytest.mark.parametrize("heading", PARTS)
def test_each_setting_is_on_the_page_with_its_default(heading: str) -> None:
    fields = PARTS[heading].model_fields
    defaults = {
        name: written(field.default_factory() if field.default_factory else field.default)  # pyright: ignore[reportCallIssue]
        for name, field in fields.items()
    }
    assert rows(heading) == defaults


def test_the_example_is_read_whole() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    config = Config.model_validate(yaml.safe_load(text))
    options = {one.name: one for one in list_models(config, {"ROUTER_API_KEY": "k"})}
    assert options["cheap"].usable
    assert options["house"].usable
    assert options["pocket"].provider == "local"


@pytest.mark.parametrize(
    "kind", [*get_args(ProviderType.__value__), *get_args(ChoiceMode.__value__)]
)
def test_each_provider_and_each_way_to_choose_is_named(kind: str) -> None:
    assert f"`{kind}`" in PAGE
