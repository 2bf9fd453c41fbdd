"""Post-processing of tool messages: each hook may add to what the model reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kosong.message import Message, ToolCall
from kosong.tooling import ToolResult

from flowstudio.soul.curl_tip import CurlTip
from flowstudio.soul.loop_detection import LoopDetector

type ToolHook = Callable[[ToolCall, ToolResult, Message], Message]
"""Takes a call, its result and the message made of it; gives the message that the model reads."""


def make_default_hooks(*, disable_curl_tip: bool = False) -> Sequence[ToolHook]:
    """The chain of a new soul."""
    hooks: list[ToolHook] = [LoopDetector()]
    if not disable_curl_tip:
        hooks.append(CurlTip())
    return hooks
