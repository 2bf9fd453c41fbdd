"""A hint for a `curl` that got nowhere: what to look at before it is tried again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowstudio.soul.loop_detection import find_command
from flowstudio.soul.messages import with_note

if TYPE_CHECKING:
    from kosong.message import Message, ToolCall
    from kosong.tooling import ToolResult

_CURL = re.compile(r"(?:^|[\s;&|(`])curl\s")

TIP = (
    "About this curl: run it with -sS -L --fail-with-body --max-time 30, so that an error, a "
    "redirect and a server that hangs can be told apart. If the network is closed here, do not try "
    "other hosts."
)


class CurlTip:
    """A tool hook that adds the tip once per conversation, to a `curl` that failed."""

    def __init__(self) -> None:
        self.given = False

    def __call__(self, call: ToolCall, result: ToolResult, message: Message) -> Message:
        """`message`, with the tip where a `curl` failed."""
        command = find_command(call)
        if self.given or command is None or not result.return_value.is_error:
            return message
        if not _CURL.search(command):
            return message
        self.given = True
        return with_note(message, TIP)
