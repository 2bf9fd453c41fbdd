"""Values as outside files hold them, taken as far as they can be used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_COMMA = re.compile(r"[,，、]")


def is_mapping(value: object) -> bool:
    """True for a mapping. Unlike `isinstance` it leaves the checker with a plain object."""
    return isinstance(value, Mapping)


def as_mapping(value: object) -> Mapping[str, object]:
    """A mapping with its keys as text; an empty one where `value` is none."""
    if not isinstance(value, Mapping):
        return {}
    given = cast("Mapping[object, object]", value)
    return {str(key): one for key, one in given.items()}


def as_list(value: object) -> Sequence[object] | None:
    """A list, or a single thing as a list of one; None for what is neither."""
    match value:
        case None:
            return ()
        case list():
            return cast("list[object]", value)
        case str() | dict():
            return [cast("object", value)]
        case _:
            return None


def as_names(value: object) -> Sequence[object] | None:
    """A list of names, or one text in which commas part them."""
    return _COMMA.split(value) if isinstance(value, str) else as_list(value)


def as_text(value: object) -> str:
    """A text on one line, or the texts of several languages one behind the other; else empty."""
    match value:
        case str():
            return clean(value)
        case list():
            parts = cast("list[object]", value)
        case dict():
            parts = list(cast("dict[object, object]", value).values())
        case _:
            return ""
    # One level only: texts of texts are no texts.
    return " / ".join(clean(one) for one in parts if isinstance(one, str) and clean(one))


def as_share(value: object) -> float | None:
    """A number from 0 to 1; None for all else, truth values and NaN included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def show(value: object) -> str:
    """The value in a message: short, on one line."""
    return clean(str(value))[:40] or "nothing"


def clean(text: str) -> str:
    """The text on one line, without control characters, direction marks and surrogates."""
    return " ".join(_CONTROL.sub(" ", text).split())
