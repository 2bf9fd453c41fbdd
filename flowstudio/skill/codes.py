"""Every code of a finding about a skill's file: its name, how bad it is, what `explain` says."""

from __future__ import annotations

from flowstudio.flow.diagnostics import declare

# ---- the file -------------------------------------------------------------------------------

FILE_FORBIDDEN = declare(
    "file-forbidden",
    "error",
    """The file, or a folder on the way to it, may not be read by the user who started the program.
    Everything else was loaded. `ls -l` shows who may read it, `chmod u+rX` changes that.""",
    parse=True,
)
FILE_UNREADABLE = declare(
    "file-unreadable",
    "error",
    """The operating system refused to read the file; the message holds its own words. A file that
    is a folder, a pipe or a device is not read either: a skill is an ordinary text file.""",
    parse=True,
)
FILE_HUGE = declare(
    "file-huge",
    "error",
    """The file has more than 10 MB and was not read. A skill is text that a model reads: move data
    into files beside it, such as `references/`, and name them in the text.""",
    parse=True,
)
FILE_BINARY = declare(
    "file-binary",
    "error",
    """The file holds NUL bytes, so it is not text: perhaps an archive or an office document was
    saved under this name. Save it as plain text in UTF-8.""",
    parse=True,
)
FILE_EMPTY = declare(
    "file-empty",
    "error",
    """The file holds nothing but space. Perhaps an editor is about to write it; it is read again as
    soon as it changes.""",
    parse=True,
)
LINK_LOOP = declare(
    "link-loop",
    "error",
    """A symbolic link leads back to itself, directly or over others, so there is no file at its
    end. Remove the link or let it point at the skill.""",
    parse=True,
)
LINK_BROKEN = declare(
    "link-broken",
    "error",
    """A symbolic link leads to a place where nothing is. The skill it meant was moved or deleted:
    remove the link or let it point at the new place.""",
    parse=True,
)
ENCODING_GUESSED = declare(
    "encoding-guessed",
    "warning",
    """The file is not UTF-8. It was read in an encoding that fits its bytes, but a fit is not a
    proof: look whether the text is right, and save it as UTF-8 so that every tool reads the
    same.""",
)
ENCODING_UNKNOWN = declare(
    "encoding-unknown",
    "error",
    """The file is neither UTF-8 nor any other encoding that can be told from its bytes. What cannot
    be read is shown as a question mark in a box. Open it in an editor and save it as UTF-8.""",
    parse=True,
)
READER_FAULT = declare(
    "reader-fault",
    "error",
    """Flow Studio itself failed while it read this skill. The fault is ours, not the author's; the
    other skills are loaded. Please report it with the file.""",
    parse=True,
)

# ---- what stands in it ----------------------------------------------------------------------

FRONT_MATTER_MISSING = declare(
    "front-matter-missing",
    "warning",
    """A skill's file begins with a few lines of YAML between two lines `---`: its name, what it is
    good for, and its type. Without them the folder's name is used, there is no description, and the
    skill is a standard one, even if it holds a chart.""",
)
FRONT_MATTER_LATE = declare(
    "front-matter-late",
    "warning",
    """Blank lines stand before the opening `---`. It is read all the same; other tools take such
    front matter for ordinary text. Let the file begin with `---`.""",
)
FRONT_MATTER_UNCLOSED = declare(
    "front-matter-unclosed",
    "error",
    """The front matter is opened by `---` in the first line, but no second line `---` closes it, so
    nobody can tell where the text begins. Write `---` below its last field.""",
    parse=True,
)
YAML_SYNTAX = declare(
    "yaml-syntax",
    "error",
    """The YAML cannot be read. Most often a value holds a colon followed by a space, begins with a
    sign that means something in YAML, or is indented with a tab. Put the value into double quotes,
    and indent with spaces. The name, description and type that stand on lines of their own are used
    all the same, so that the skill can be found.""",
    parse=True,
)
YAML_SHAPE = declare(
    "yaml-shape",
    "error",
    """The YAML is right, but not what a skill needs: fields, each with its value, such as
    `name: code-review`. Lists at the top, merge keys, many aliases and very deep nesting are not
    read.""",
    parse=True,
)
KEY_REPEATED = declare(
    "key-repeated",
    "warning",
    """A field is given twice. YAML forbids it and tools differ in which one they take; here the
    last one stands. Remove one of them.""",
)
NAME_MISSING = declare(
    "name-missing",
    "warning",
    """The skill has no name of its own, so the name of its folder (or file) stands in. Write `name:
    ...` in the front matter: a folder is easily renamed, and then the skill would be too.""",
)
NAME_TYPE = declare(
    "name-type",
    "warning",
    """The name or the description is not text for YAML: `name: 123` is a number, `name: yes` is a
    truth value, `name: [a]` is a list. A plain value is taken as written; otherwise the folder's
    name stands in. Put it in quotes.""",
)
NAME_TAKEN = declare(
    "name-taken",
    "warning",
    """Two skills of one folder have the same name; upper and lower case do not count. Only the
    first one can be called. Give the other a name of its own.""",
)
DESCRIPTION_MISSING = declare(
    "description-missing",
    "warning",
    """The skill has no description. It is the one sentence by which a model or a person decides
    whether this skill serves: say what it does and when to use it.""",
)
TYPE_UNKNOWN = declare(
    "type-unknown",
    "error",
    """A skill's type is `standard` (text that the model reads) or `flow` (a chart that is run).
    With any other type it works as a standard skill.""",
    parse=True,
)
TYPE_MISSING = declare(
    "type-missing",
    "warning",
    """The skill holds a chart with BEGIN and END, but no `type: flow`, so it is a standard skill
    and the chart is only text. Add `type: flow` to run it, or `type: standard` if that is what you
    mean.""",
)
MANIFEST_TWICE = declare(
    "manifest-twice",
    "warning",
    """The folder holds SKILL.md and skill.yaml. SKILL.md is the skill; the other file is not read.
    Remove one of them.""",
)

# ---- its tools and models --------------------------------------------------------------------

TOOLS_SHAPE = declare(
    "tools-shape",
    "error",
    """`allowed-tools`, or the `tools` of a node, is a list of names, such as `[ReadFile, Grep]`, or
    the names in a line. Anything else could mean all tools or none, so the flow is not run.""",
    parse=True,
)
TOOL_UNKNOWN = declare(
    "tool-unknown",
    "warning",
    """A name in `allowed-tools`, or in the `tools` of a node, is no tool of the studio. It is
    passed over: it allows nothing. Names that other programs use for the same tools are understood
    (`Read`, `Write`, `Edit`, `Bash`); tools of an MCP server are written `SERVER__TOOL` or
    `SERVER__*`.""",
)
TOOL_PATTERN = declare(
    "tool-pattern",
    "warning",
    """A tool is allowed for certain calls only, as in `Bash(git:*)`. What stands in brackets is not
    held here: the tool is allowed as a whole, and asks the user before it changes anything, as
    always.""",
)
NODES_SHAPE = declare(
    "nodes-shape",
    "error",
    """`nodes` names a model and tools for single nodes of the chart, by their ids: `nodes: {check:
    {model: cheap, tools: [ReadFile]}}`. Both may be left out; nothing else may stand there.""",
    parse=True,
)
NODE_UNKNOWN = declare(
    "node-unknown",
    "error",
    """`nodes` says something about a node that the chart does not have, most likely because its id
    was misspelt or changed. The limit that was meant would hold for nothing, so the flow is not
    run. Ids are those of the chart, not the labels.""",
    parse=True,
)

# ---- the chart in it ------------------------------------------------------------------------

FENCE_UNCLOSED = declare(
    "fence-unclosed",
    "error",
    """The code block that holds the chart is never closed, so nobody can tell where the chart ends
    and the text goes on. A block is closed by a line of its own with the same sign, at least as
    many of them as opened it, and nothing behind. What else there is to say about the chart is said
    once the block is closed.""",
    parse=True,
)
CHART_SKIPPED = declare(
    "chart-skipped",
    "warning",
    """A code block is tagged as a chart, but no flowchart could be found in it, so a later block of
    the file is run instead. Make sure that this is the chart you mean.""",
)
FLOW_CONTENT = declare(
    "flow-content",
    "error",
    """A flow in skill.yaml stands below `flow:`, with `format: mermaid` or `format: d2` and the
    chart below `content: |`, indented.""",
    parse=True,
)
FLOW_FORMAT = declare(
    "flow-format",
    "error",
    """The format of a chart in skill.yaml is `mermaid` or `d2`. With any other one nobody knows how
    to read it, so the skill works as a standard one.""",
    parse=True,
)
FLOW_FORMAT_GUESSED = declare(
    "flow-format-guessed",
    "warning",
    """skill.yaml does not say in which language its chart is written, so that was told from its
    first line. Write `format: mermaid` or `format: d2` beside `content`.""",
)

# ---- the folders ----------------------------------------------------------------------------

ROOT_MISSING = declare(
    "root-missing",
    "warning",
    """A folder that the settings or the command line name as a place for skills does not exist. It
    is watched, and its skills come as soon as it does.""",
)
ROOT_UNREADABLE = declare(
    "root-unreadable",
    "error",
    """A folder that should hold skills cannot be listed, so none of its skills are known. The
    skills of the other folders are loaded.""",
)
