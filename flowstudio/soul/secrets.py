"""Keys that must be seen by nobody: taken out of whatever a tool brings, wherever it goes.

No tool is given a key, but a tool may come upon one all the same: in a file, in another process, in
what a server repeats. The model, the wire, the journal and the context's file get `***` instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kosong.message import ContentPart, TextPart

if TYPE_CHECKING:
    from kosong.tooling import ToolReturnValue

    from flowstudio.config import Config

_NAME = re.compile(
    r".*(?:API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY|AUTH_KEY|TOKEN|SECRET|PASSWORD|PASSWD)"
)
_SHORTEST = 8
"""Shorter values are words like `none`, not keys."""
HIDDEN = "***"


def is_secret_name(name: str) -> bool:
    """True where a variable's name says that it holds a key."""
    return _NAME.fullmatch(name.upper()) is not None


class Secrets:
    """The values of the keys that are known."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        found = {value for value in values if len(value) >= _SHORTEST}
        # A key that is part of another one must not leave the rest of it.
        self._values = sorted(found, key=len, reverse=True)

    @classmethod
    def of(cls, config: Config, environ: Mapping[str, str] | None = None) -> Secrets:
        """Those of the environment, by their names, and those that the configuration names."""
        env = os.environ if environ is None else environ
        named = {one.key_env for one in config.providers.values() if one.key_env}
        return cls(value for name, value in env.items() if name in named or is_secret_name(name))

    def hide(self, text: str) -> str:
        """`text` with each key replaced by `***`."""
        for value in self._values:
            if value in text:
                text = text.replace(value, HIDDEN)
        return text

    def hide_in(self, value: ToolReturnValue) -> ToolReturnValue:
        """A tool's result without any key; the same object where there is none in it."""
        output = value.output
        hidden = self.hide(output) if isinstance(output, str) else self._hide_parts(output)
        message = self.hide(value.message)
        if hidden == output and message == value.message and self.hide(value.brief) == value.brief:
            return value
        blocks = [
            block.model_copy(update={"text": self.hide(text)})
            if isinstance(text := getattr(block, "text", None), str)
            else block
            for block in value.display
        ]
        return value.model_copy(update={"output": hidden, "message": message, "display": blocks})

    def _hide_parts(self, parts: list[ContentPart]) -> list[ContentPart]:
        return [
            part.model_copy(update={"text": self.hide(part.text)})
            if isinstance(part, TextPart)
            else part
            for part in parts
        ]
