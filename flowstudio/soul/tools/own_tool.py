"""What the studio's own tools are made from: kosong's tool, its schema not checked at each start.

kosong checks every tool's schema against JSON Schema's own when the tool is made: 160 ms of
computing at each start. Our schemas are made by pydantic and change only with the program; a test
checks them.
"""

from __future__ import annotations

from typing import Any, override

from kosong.tooling import CallableTool2, Tool
from kosong.utils.jsonschema import deref_json_schema
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue


class OwnTool[Params: BaseModel](CallableTool2[Params]):
    """A tool that says its `name`, `description` and `params` in the class."""

    def __init__(self) -> None:
        """Describe the tool; kosong's own way to do so is left out on purpose."""
        schema = self.params.model_json_schema(schema_generator=_WithoutTitles)
        self._base = Tool.model_construct(
            name=self.name, description=self.description, parameters=deref_json_schema(schema)
        )


class _WithoutTitles(GenerateJsonSchema):
    """A field's name says what a title would."""

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    @override
    def generate(self, schema: Any, mode: Any = "validation") -> JsonSchemaValue:
        made = super().generate(schema, mode)
        for part in (made, *made.get("$defs", {}).values()):
            part.pop("title", None)
        return made
