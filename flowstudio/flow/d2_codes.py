"""The codes of findings that only a D2 text can bring about."""

from __future__ import annotations

from flowstudio.flow.diagnostics import declare

IMPORT_UNREAD = declare(
    "d2-import-unread",
    "error",
    """The text imports another file with `@`. A flow is read from one text alone, so whatever the
    other file would draw is missing here. Copy the nodes and edges into this chart.""",
    parse=True,
)
IMPORT_LOOKS = declare(
    "d2-import-looks",
    "warning",
    """The text imports looks (classes, styles or variables for them) from another file. Looks do
    not change what is run, so the chart is read without that file.""",
)
GLOB_UNREAD = declare(
    "d2-glob-unread",
    "error",
    """A key with `*` sets labels, draws or removes edges, or removes nodes. Which ones depends on
    the whole chart, and a flow must be plain to see, so such globs are not read; those that set
    looks alone are fine. Write the edges or labels out. If the star is part of a name, put the
    name in quotes.""",
    parse=True,
)
CONSTRUCT_UNREAD = declare(
    "d2-construct-unread",
    "error",
    """This part of D2 can change which nodes and edges there are, and it is not read. So that no
    other graph is run than the one that was drawn, the chart is refused. The hint says what to
    write instead.""",
    parse=True,
)
RESERVED_WORD = declare(
    "d2-reserved-word",
    "error",
    """D2 keeps words such as `label`, `style`, `shape`, `link` or `fill` for looks; they cannot be
    the id of a node. Give the node another id, or put the id in quotes each time.""",
    parse=True,
)
EDGE_UNKNOWN = declare(
    "d2-edge-unknown",
    "error",
    """A key such as `(a -> b)[0]` means an edge that is already drawn: the first one from `a` to
    `b`, with the same arrow. There is none at this place. Draw the edge first, or correct the
    ids, the arrow or the number.""",
    parse=True,
)
PARENT_UNKNOWN = declare(
    "d2-parent-unknown",
    "error",
    """`_` at the beginning of a key means the container around the one where the key stands. Here
    is none, or the `_` stands elsewhere in the key.""",
    parse=True,
)
VARIABLE_UNKNOWN = declare(
    "d2-variable-unknown",
    "error",
    """`${name}` stands for a variable of the `vars` block, and there is no such variable with a
    text as its value above this place. If the sign is meant as it stands, write it in single quotes
    or as `\\${name}`.""",
    parse=True,
)
NESTING_TOO_DEEP = declare(
    "d2-nesting-too-deep",
    "error",
    """Containers are nested deeper, or an id is longer, than any reader could follow. What stands
    deeper is not read.""",
    parse=True,
)
TOO_MANY_FAULTS = declare(
    "d2-too-many-faults",
    "error",
    """The text has more faults than are worth listing. Perhaps it is not D2 at all. Correct the
    first ones; those behind them often go with them.""",
    parse=True,
)
TOO_MANY_WARNINGS = declare(
    "d2-too-many-warnings",
    "warning",
    """The text has more warnings than are worth listing. The first ones are shown.""",
)
BOARD_UNREAD = declare(
    "d2-board-unread",
    "warning",
    """`layers`, `scenarios` and `steps` hold further boards. A flow is the first board alone; what
    stands on the others is not run.""",
)
COMMENT_IN_WORD = declare(
    "d2-comment-in-word",
    "warning",
    """`#` begins a comment in D2 even in the middle of a word, so the rest of the line does not
    belong to the label. Put the label in quotes if it does.""",
)
STRAY_TEXT = declare(
    "d2-stray-text",
    "warning",
    """A line without an arrow and without a colon is a node of its own in D2, with the whole line
    as its id. Text like this is mostly a remark, which needs a `#` before it, or an edge with an
    arrow that D2 does not know, such as `→`: write `->`.""",
)
VALUE_IGNORED = declare(
    "d2-value-ignored",
    "warning",
    """A value stands where it means nothing, such as a list as the value of a node. D2 draws
    nothing for it. A label is a text: put it in quotes.""",
)
EDGE_RELABELLED = declare(
    "d2-edge-relabelled",
    "warning",
    """An edge was given two different labels. The last one stands, as D2 draws it.""",
)
