"""The arguments of a tool call as the model wrote them: JSON, or something that only looks like
it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from kosong.message import ToolCall

_KEPT = 2000
"""How many characters of arguments that are no JSON stay in the history."""


def parse_arguments(text: str | None) -> dict[str, Any]:
    """The arguments as an object; none at all is an empty one.

    Raises:
        ValueError: they are no JSON, or no object; the message says what is wrong with them.
    """
    if not text or not text.strip():
        return {}
    try:
        # Models write line breaks into strings as they are.
        value: object = json.loads(text, strict=False)
    except RecursionError as error:
        raise ValueError("the arguments are nested too deep") from error
    except json.JSONDecodeError as error:
        raise ValueError(
            f"the arguments are no valid JSON: {error.msg} at character {error.pos + 1}"
        ) from error
    if not isinstance(value, dict):
        raise ValueError("the arguments must be a JSON object")
    return cast("dict[str, Any]", value)


def repair_call(call: ToolCall) -> str | None:
    """Make the arguments of `call` such that every server takes them back in the history.

    Several servers refuse a history that holds arguments which are no JSON object, and then the
    whole conversation is stuck. So such arguments are kept as a string inside an object.

    Returns:
        What was wrong with them; None if nothing was.
    """
    try:
        parse_arguments(call.function.arguments)
    except ValueError as error:
        written = (call.function.arguments or "")[:_KEPT]
        call.function.arguments = json.dumps({"invalid_arguments": written}, ensure_ascii=False)
        return str(error)
    if not call.function.arguments or not call.function.arguments.strip():
        call.function.arguments = "{}"
    return None
