"""What `flowstudio library COMMAND --help` teaches below its options."""

from __future__ import annotations

LIBRARY = """\
A skill is a folder with a SKILL.md. Those of a project lie in .kimi/skills (or .claude, .codex,
.agents) of its repository, your own in the same folders of your home; `flowstudio list` shows them.

`graph` draws how they hang together, `add` and `import` bring some in, `export` packs them, `stats`
shows what use and feedback say of them, `review` decides on changes that wait for you: learned from
use, or written by an agent.

examples:
  flowstudio library graph csv
  flowstudio library add ~/Downloads/pdf-forms
  flowstudio library import skills.zip --dry-run
  flowstudio library export mine.zip csv data-cleaning
  flowstudio library review --approve 3
"""

_BRING = """\
What comes in is read first and only copied; nothing of it is run. A broken skill is left out, and
so is one whose name is taken, unless --replace is given.

examples:
{examples}

exit status: 0 done, 1 something was left out, 2 nothing could be read
"""

ADD = _BRING.format(
    examples="""\
  flowstudio library add ~/Downloads/pdf-forms
  flowstudio library add ~/Downloads/pdf-forms --project
  flowstudio library add pdf-forms --dry-run"""
)

IMPORT = _BRING.format(
    examples="""\
  flowstudio library import skills.zip --dry-run
  flowstudio library import ../other-project/.claude/skills --project
  flowstudio library import team.zip --to ~/team-skills"""
)

EXPORT = """\
Each skill goes in with its whole folder; links are left out, and named. What is known of their use
stays with you.

examples:
  flowstudio library export mine.zip
  flowstudio library export data.zip csv data-cleaning

exit status: 0 done, 2 nothing to pack, or the archive cannot be written
"""

STATS = """\
columns:
  used      how often it ran: by /skill:NAME, as a flow, or called by another skill
  success   done counts 1, done in part 1/2, failed 0; it is 3/10 of a skill's score when found
  chosen    how often you said that it is the one: find --choose, or chosen in the studio
  not this  how often you said that it is not: find --reject, or X in the studio
  time      the mean time that it took

All of it is kept in one file of yours, never in a skill; --json names the file. Rehearsals do not
count.

examples:
  flowstudio library stats
  flowstudio library stats --json
"""
