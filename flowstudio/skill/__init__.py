"""Skills on the disk: reads them, finds them, watches them. Knows nothing of agents."""

from typing import TYPE_CHECKING

from flowstudio.lazy import names_of

if TYPE_CHECKING:
    from flowstudio.skill.configured import (
        configured_dirs as configured_dirs,
    )
    from flowstudio.skill.discovery import (
        Catalogue as Catalogue,
        Match as Match,
        discover as discover,
        read_roots as read_roots,
        refresh as refresh,
    )
    from flowstudio.skill.manifest import (
        load_skill as load_skill,
        reread as reread,
    )
    from flowstudio.skill.open import (
        Target as Target,
        resolve as resolve,
    )
    from flowstudio.skill.roots import (
        Root as Root,
        find_project as find_project,
        find_roots as find_roots,
    )
    from flowstudio.skill.saving import (
        save as save,
    )
    from flowstudio.skill.skill import (
        SCOPES as SCOPES,
        Scope as Scope,
        Skill as Skill,
        SkillError as SkillError,
        SkillType as SkillType,
    )
    from flowstudio.skill.watching import (
        watch as watch,
    )

__getattr__ = names_of(
    __name__,
    {
        "configured_dirs": "configured",
        "Catalogue": "discovery",
        "Match": "discovery",
        "discover": "discovery",
        "read_roots": "discovery",
        "refresh": "discovery",
        "load_skill": "manifest",
        "reread": "manifest",
        "Target": "open",
        "resolve": "open",
        "Root": "roots",
        "find_project": "roots",
        "find_roots": "roots",
        "save": "saving",
        "SCOPES": "skill",
        "Scope": "skill",
        "Skill": "skill",
        "SkillError": "skill",
        "SkillType": "skill",
        "watch": "watching",
    },
)
