"""The page of all keys, made from the table of commands.

python -m flowstudio.studio.key_table > flowstudio/docs/keys.md
"""

from __future__ import annotations

from flowstudio.studio.commands import COMMANDS, HELP_GROUPS, PANE_KEYS, Command, commands_of
from flowstudio.studio.keymap import Keymap, shown_keys

_HEAD = """\
# Keys

Made from the table of commands by `python -m flowstudio.studio.key_table`; a test holds both
together.
`?` in the studio shows the same, those of the pane in use first; each line there can be clicked.

A key is changed in the configuration, by the command's name; `null` takes it away. What is wrong
there is said when the studio opens, and the default stays.

```yaml
keys:
  run.step: space
  run.stop: ctrl+x
  view.map: null
```
"""


def key_page() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for prefix, title in HELP_GROUPS:
        parts.append(_section(title, prefix, [*commands_of("studio")]))
    parts.append(_section("In the history", "history.", [*commands_of("history")]))
    parts.append(_section("Comparing two runs", "compare.", [*commands_of("compare")]))
    parts.append(_section("Walking through the library", "library.", [*commands_of("library")]))
    parts.append(_section("Planning", "plan.", [*commands_of("plan")]))
    for pane, keys in PANE_KEYS.items():
        title = "Everywhere" if pane == "everywhere" else f"In the {_NAMES.get(pane, pane)}"
        rows = "\n".join(f"| {_cell(shown)} | {text} |" for shown, text in keys)
        parts.append(f"## {title}\n\n| key | does |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


_NAMES = {
    "past": "timeline, looking back",
    "skills": "list of skills",
    "compare": "comparison",
    "plan": "planner",
}


def _section(title: str, prefix: str, commands: list[Command]) -> str:
    rows: list[str] = []
    for command in COMMANDS:
        if command not in commands or not command.id.startswith(prefix):
            continue
        if command.id.startswith("run.branch") and command.id != "run.branch1":
            continue
        shown = shown_keys(command, Keymap())
        name = "run.branch1 … run.branch9" if command.id == "run.branch1" else command.id
        text = "Take that branch, whatever the model says" if "…" in name else command.help
        rows.append(f"| {_cell(shown)} | {text} | `{name}` |")
    body = "\n".join(rows)
    return f"## {title}\n\n| key | does | command |\n|---|---|---|\n{body}\n"


def _cell(shown: str) -> str:
    return f"`{shown}`".replace("|", "\\|")


if __name__ == "__main__":
    print(key_page(), end="")
