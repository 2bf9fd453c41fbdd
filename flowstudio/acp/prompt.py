"""What an editor sends as a prompt, as the soul takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp.schema import (
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)
from kosong.message import ContentPart, ImageURLPart, TextPart


def read_prompt(blocks: Sequence[Any]) -> str | list[ContentPart]:
    """The prompt as text, or as parts where it holds pictures.

    A linked file is named by its address, for the agent to read; the text of an embedded one goes
    along. What the soul has no form for (sound) is named in brackets.
    """
    parts: list[ContentPart] = []
    for block in blocks:
        if isinstance(block, ImageContentBlock):
            url = f"data:{block.mime_type};base64,{block.data}"
            parts.append(ImageURLPart(image_url=ImageURLPart.ImageURL(url=url)))
            continue
        text = _as_text(block)
        if parts and isinstance(parts[-1], TextPart):
            parts[-1] = TextPart(text=parts[-1].text + text)
        else:
            parts.append(TextPart(text=text))
    if any(not isinstance(part, TextPart) for part in parts):
        return parts
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def _as_text(block: Any) -> str:
    match block:
        case TextContentBlock(text=text):
            return text
        case ResourceContentBlock(uri=uri):
            return f"@{uri.removeprefix('file://')} "
        case EmbeddedResourceContentBlock(resource=TextResourceContents(uri=uri, text=text)):
            return f"\n<file uri={uri!r}>\n{text}\n</file>\n"
        case _:
            return f"[{getattr(block, 'type', 'something')} that cannot be read]"
