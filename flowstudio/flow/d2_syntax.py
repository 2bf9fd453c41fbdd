"""The parts of a D2 text as the parser finds them. Positions are character offsets.

What a big chart has by the ten thousand is a tuple, which is made in half the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

type Style = Literal["bare", "double", "single", "block"]
type Path = tuple[Part, ...]
type Value = Scalar | Map | Array | Import
type Item = Statement | Substitution | Import


class Part(NamedTuple):
    """One name of a key such as `a.b`."""

    text: str
    start: int
    end: int
    is_quoted: bool
    is_glob: bool = False
    """True where a `*` stands in it bare."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """`${name}`, or `...${name}` where it stands as an item of its own."""

    path: tuple[str, ...]
    start: int
    end: int


class Scalar(NamedTuple):
    """A text: bare, quoted or a block."""

    pieces: tuple[str | Substitution, ...]
    start: int
    end: int
    style: Style

    @property
    def word(self) -> str:
        """A bare text in lower case, for keywords such as `null`; empty for any other."""
        if self.style != "bare" or len(self.pieces) != 1 or not isinstance(self.pieces[0], str):
            return ""
        return self.pieces[0].lower()


@dataclass(frozen=True, slots=True)
class Import:
    """`@file`, or `...@file` where it stands as an item of its own."""

    start: int
    end: int


@dataclass(slots=True)
class Map:
    """`{ ... }`, or the whole text."""

    start: int
    end: int
    items: list[Item] = field(default_factory=list[Item])


@dataclass(slots=True)
class Array:
    """`[ ... ]`"""

    start: int
    end: int
    values: list[Value | Substitution] = field(default_factory=list["Value | Substitution"])


class Arrow(NamedTuple):
    """One hop of `a -> b -> c`. Both flags are False for `a -- b`."""

    src: Path
    dst: Path
    at_src: bool
    at_dst: bool

    @property
    def start(self) -> int:
        """The offset of the source's key."""
        return self.src[0].start

    @property
    def end(self) -> int:
        """The offset behind the target's key."""
        return self.dst[-1].end


@dataclass(slots=True)
class Statement:
    """A key with what it is given. With arrows, `path` is the container before `(a -> b)`."""

    start: int
    end: int
    path: Path = ()
    arrows: list[Arrow] = field(default_factory=list[Arrow])
    index: int | Literal["*"] | None = None
    """The number in `(a -> b)[0]`."""
    arrow_path: Path = ()
    """The key in `(a -> b)[0].style`."""
    primary: Scalar | None = None
    """The text before a map, as in `a: text { ... }`."""
    value: Value | None = None
    is_filter: bool = False
    """True for `&key: value`, which picks what a glob is about."""

    @property
    def is_null(self) -> bool:
        """True where the value takes the thing away again."""
        scalar = self.primary or self.value
        return isinstance(scalar, Scalar) and scalar.word == "null"

    @property
    def has_glob(self) -> bool:
        """True where a bare `*` stands in any of the keys."""
        if self.index == "*" or _has_glob(self.path) or _has_glob(self.arrow_path):
            return True
        return any(_has_glob(arrow.src) or _has_glob(arrow.dst) for arrow in self.arrows)


def _has_glob(path: Path) -> bool:
    # A loop, since this is asked of each key of a text and most have one part.
    for part in path:  # noqa: SIM110
        if part.is_glob:
            return True
    return False
