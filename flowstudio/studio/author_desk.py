"""The author's desk: what becomes of an edited SKILL.md, and of the commands that change one.

Every change goes through the file: what is written to the disk is read from the disk, by the pane,
by the drawing and by the run, as if another editor had written it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flowstudio.studio.driver import CommandRefused, Driver
from flowstudio.studio.keymap import key_of
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.skill import Skill
    from flowstudio.studio.run_desk import Handler
    from flowstudio.studio.screen import StudioScreen
    from flowstudio.studio.source_dialogs import Leaving, Winner
    from flowstudio.studio.source_draft import Draft
    from flowstudio.studio.source_pane import SourcePane
    from flowstudio.studio.wizard import Wish


class _Written(NamedTuple):
    """A change that was made for the author: the file before it, and after."""

    path: Path
    before: str
    after: str
    renamed: tuple[str, str] | None = None
    """The old and the new id, where a node was renamed."""


class AuthorDesk:
    """Keeps the drafts of edited files, and carries out the commands about them."""

    def __init__(self, screen: StudioScreen, driver: Driver) -> None:
        self._screen = screen
        self._driver = driver
        self._drafts: dict[Path, Draft] = {}
        self._prompt: tuple[Skill, str, str] | None = None
        self._written: _Written | None = None
        self._wanted: Path | None = None
        self._lost: Path | None = None
        """The file that was shown when it went from the disk."""
        self._stand_in: Path | None = None
        """What was shown in its place."""
        self._is_asking = False

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        return {
            "edit.source": self.toggle,
            "edit.save": self.save,
            "edit.back": self.write_back,
            "edit.undo": self.take_back,
            "edit.rename": self.rename,
            "edit.new": self.start_new,
        }

    @property
    def _pane(self) -> SourcePane:
        return self._screen.source

    def _say(self, text: str, *, seconds: float = 3) -> None:
        self._screen.notify(harmless(text), markup=False, timeout=seconds)

    def _warn(self, text: str) -> None:
        self._screen.notify(harmless(text), severity="warning", markup=False, timeout=8)

    # What is shown

    @property
    def unsaved(self) -> list[Draft]:
        """The drafts with something to save."""
        return [draft for draft in self._drafts.values() if draft.is_dirty]

    def show(self, skill: Skill) -> Skill:
        """Another skill is shown; gives it as its draft has it."""
        from flowstudio.studio.source_draft import Draft

        self._stand_in = self._stand_in or skill.path
        if skill.path != self._stand_in:
            self._lost = None  # the user looks at something else now
        draft = self._drafts.get(skill.path)
        if draft is None or not draft.is_dirty:
            draft = Draft.of(skill)
            for path, other in list(self._drafts.items()):
                if not other.is_dirty:
                    del self._drafts[path]
            self._drafts[skill.path] = draft
            self._pane.show(draft, skill)
            return skill
        from flowstudio.skill import reread

        edited = reread(draft.base, draft.source)
        self._pane.show(draft, edited)
        return edited

    def toggle(self) -> None:
        """Show the source and go there; from elsewhere, where it shows already, put it away."""
        if self._screen.skill is None:
            self._screen.desk.refuse(CommandRefused("nothing is selected that has a source"))
            return
        self._screen.toggle_source()

    def selected(self, node: str | None) -> None:
        """A node was selected in the drawing."""
        if node is not None:
            self._pane.reveal(node)

    # The disk

    def follow(self, changed: Iterable[Path], find: Callable[[Path], Skill | None]) -> None:
        """Files changed on the disk: the drafts of them take the change, or ask."""
        self._follow_moved(changed, find)
        for path in changed:
            draft = self._drafts.get(path)
            if draft is None:
                continue
            now = find(path)
            if now is None:
                if self._shows(draft):
                    self._lost, self._stand_in = path, None
                draft.is_gone = draft.text != "" and (draft.is_dirty or self._shows(draft))
                if self._shows(draft):
                    self._pane.show_state()
                continue
            was_dirty = draft.is_dirty
            outcome = draft.take_disk(now)
            if outcome == "merged":
                self._say(f"{path.name} was changed on the disk, too: both changes are in it now")
            if self._shows(draft):
                self._pane.show(draft, None if was_dirty else now)
                if outcome == "conflict":
                    self._ask_winner(draft)

    def _follow_moved(self, changed: Iterable[Path], find: Callable[[Path], Skill | None]) -> None:
        """A renamed folder: its draft goes along."""
        changed = set(changed)
        gone = [p for p in changed if p in self._drafts and find(p) is None]
        for path in gone:
            draft = self._drafts[path]
            for other in changed - {path}:
                moved = find(other)
                if moved is not None and moved.source == draft.base.source:
                    self._drafts[other] = draft
                    del self._drafts[path]
                    draft.base = moved
                    self._wanted = self._wanted or (other if self._shows(draft) else None)
                    break

    def shown_now(self, skill: Skill) -> Skill:
        """The skill to be drawn: as its draft has it, where that is not saved."""
        draft = self._drafts.get(skill.path)
        if draft is None or not draft.is_dirty:
            return skill
        from flowstudio.skill import reread

        return reread(draft.base, draft.source)

    def _shows(self, draft: Draft) -> bool:
        return self._pane.draft is draft

    def _ask_winner(self, draft: Draft, then: Callable[[], object] | None = None) -> None:
        from flowstudio.studio.source_dialogs import ConflictDialog

        if draft.theirs is None or self._is_asking:
            return
        self._is_asking = True

        def settle(winner: Winner | None) -> None:
            self._is_asking = False
            if winner is None:
                self._pane.show_state()
                return
            try:
                copy = draft.settle(winner)
            except OSError as error:
                self._warn(f"no copy could be kept, so nothing was decided: {error}")
                return
            lost = "theirs" if winner == "mine" else "yours"
            self._say(f"kept a copy of {lost}: {copy}", seconds=8)
            if self._shows(draft):
                self._pane.show(draft, None)
            if then is not None and winner == "mine":
                then()

        dialog = ConflictDialog(draft.path.name, draft.source, draft.theirs.source)
        self._screen.app.push_screen(dialog, settle)

    # Saving

    def save(self) -> None:
        """Write the source that is shown to its file."""
        draft = self._pane.draft
        if draft is None or not draft.is_dirty:
            self._say("there is nothing to save", seconds=2)
            return
        if draft.theirs is not None:
            self._ask_winner(draft, self.save)
            return
        if self._save(draft):
            self._pane.show_state()
            errors = len(self._pane.read.errors) if self._pane.read else 0
            more = f", with {errors} error{'s' if errors > 1 else ''}" if errors else ""
            self._say(f"saved {draft.path.name}{more}", seconds=2)

    def _save(self, draft: Draft) -> bool:
        """Write a draft; False, and the reason said, where that cannot be done."""
        from flowstudio.skill import SkillError, load_skill

        try:
            draft.save()
        except SkillError as error:
            # Perhaps the disk was quicker than the word of it: then this is a change to merge.
            try:
                now = load_skill(draft.path, draft.base.scope)
            except SkillError:
                self._warn(str(error))
                return False
            if now.source == draft.base.source and not draft.is_gone:
                self._warn(str(error))
                return False
            outcome = draft.take_disk(now)
            if outcome == "conflict":
                self._ask_winner(draft, self.save)
                return False
            if self._shows(draft):
                self._pane.show(draft, None)
            return self._save(draft) if draft.is_dirty else True
        return True

    # Leaving

    def leave(self, go: Callable[[], object]) -> None:
        """Quit, once it is said what becomes of what is not saved."""
        drafts = self.unsaved
        if not drafts:
            go()
            return
        from flowstudio.studio.source_dialogs import LeaveDialog

        def settle(leaving: Leaving | None) -> None:
            match leaving:
                case "save":
                    is_safe = all(self._save(draft) for draft in drafts)
                case "discard":
                    is_safe = self.keep_copies()
                case None:
                    is_safe = False
            if is_safe:
                go()

        names = [f"{draft.path.parent.name}/{draft.path.name}" for draft in drafts]
        self._screen.app.push_screen(LeaveDialog(names), settle)

    def keep_copies(self) -> bool:
        """Keep what is not saved in the state folder: nothing that was typed is lost."""
        from flowstudio.studio.source_draft import keep_copy

        for draft in self.unsaved:
            try:
                keep_copy(draft.path, draft.source, "unsaved")
            except OSError as error:
                self._warn(f"no copy of {draft.path.name} could be kept: {error}")
                return False
            self._drafts.pop(draft.path, None)
        return True

    # Changes made for the author

    def remember_prompt(self, skill: Skill, node: str, prompt: str) -> None:
        """A prompt was edited for one visit: it can be written back."""
        self._prompt = (skill, node, prompt)

    def write_back(self) -> None:
        """Write the prompt that was edited for a visit into the SKILL.md."""
        if self._prompt is None:
            back, edit = key_of("edit.back"), key_of("edit.prompt")
            refused = f"{back} writes back a prompt that was edited with {edit} during a pause"
            self._screen.desk.refuse(CommandRefused(refused))
            return
        from flowstudio.skill import SkillError, load_skill
        from flowstudio.skill.rewrite import with_label

        known, node, prompt = self._prompt
        try:
            skill = load_skill(known.path, known.scope)
            text = with_label(skill, node, prompt)
            if text == skill.source:
                self._say(f"“{node}” says so already", seconds=2)
                return
            now = self._write(skill, text)
        except SkillError as error:
            self._warn(str(error))
            return
        found = now.chart.nodes.get(node) if now.chart else None
        line = f":{found.span.line}" if found and found.span else ""
        undo = key_of("edit.undo")
        self._say(f"written back to {now.path.name}{line}; {undo} takes it back", seconds=5)

    def take_back(self) -> None:
        """Undo the last change that was made for the author, if nothing was edited since."""
        written = self._written
        if written is None:
            refused = "nothing was written back or renamed; in the source, ctrl+z undoes typing"
            self._screen.desk.refuse(CommandRefused(refused))
            return
        from flowstudio.skill import SkillError, load_skill

        try:
            skill = load_skill(written.path)
            if skill.source != written.after:
                raise SkillError(f"{written.path.name} was edited since: undo it in the source")
            now = self._write(skill, written.before)
        except SkillError as error:
            self._warn(str(error))
            return
        self._written = None
        if written.renamed is not None:
            old, new = written.renamed
            self._follow_name(now, new, old)
        self._say(f"{written.path.name} is as it was before", seconds=3)

    def _write(self, skill: Skill, text: str) -> Skill:
        from flowstudio.skill import save

        now = save(skill, text)
        self._written = _Written(skill.path, skill.source, text)
        return now

    def rename(self) -> None:
        """Give the selected node another id, everywhere."""
        skill, node = self._screen.skill, self._screen.bench.selected
        if skill is None or node is None:
            refused = "select a node first: click it, or use the arrow keys"
            self._screen.desk.refuse(CommandRefused(refused))
            return
        draft = self._drafts.get(skill.path)
        if draft is not None and draft.is_dirty:
            key = key_of("edit.save")
            self._warn(f"the source has changes that are not saved: {key} saves them first")
            return
        from flowstudio.studio.source_dialogs import NameDialog

        def use(name: str | None) -> None:
            if name is not None:
                self._rename(skill.path, node, name)

        self._screen.app.push_screen(NameDialog(node), use)

    def _rename(self, path: Path, node: str, name: str) -> None:
        from flowstudio.skill import SkillError, load_skill
        from flowstudio.skill.rewrite import with_name

        shown = self._screen.skill
        try:
            skill = load_skill(path, shown.scope if shown else "project")
            text, new = with_name(skill, node, name)
            if text == skill.source:
                return
            now = self._write(skill, text)
        except SkillError as error:
            self._warn(str(error))
            return
        self._written = _Written(path, skill.source, text, (node, new))
        self._follow_name(now, node, new)
        self._say(f"“{node}” is “{new}” now; {key_of('edit.undo')} takes it back")

    def _follow_name(self, now: Skill, old: str, new: str) -> None:
        """A node has another id in the file: so it has for all that is kept by its id."""
        points = self._driver.points
        for point in points.of(now).at(old):
            points.clear(now, old, point.when)
            points.set(now, replace(point, node=new))
        self._driver.reload(now, renamed=(old, new))
        if self._prompt is not None and self._prompt[0].path == now.path:
            skill, node, prompt = self._prompt
            self._prompt = skill, new if node == old else node, prompt
        view = self._screen.bench.view
        if view.selected == old:
            view.selected = new

    def take_lost(self, find: Callable[[Path], Skill | None]) -> Skill | None:
        """The skill that was shown when its file went, once that is back."""
        found = find(self._lost) if self._lost is not None else None
        if found is not None:
            self._lost = None
        return found

    # A new skill

    def start_new(self) -> None:
        """Ask what a new flow skill is to be, and make it."""
        from flowstudio.skill.starting import usual_folder
        from flowstudio.studio.wizard import Wizard

        work_dir = self._screen.library.work_dir
        folder = usual_folder(work_dir)

        def use(wish: Wish | None) -> None:
            if wish is None:
                return
            from flowstudio.skill import SkillError
            from flowstudio.skill.starting import start_skill

            try:
                path = start_skill(
                    folder, wish.name, wish.template, wish.language, wish.description
                )
            except SkillError as error:
                self._warn(str(error))
                return
            self._wanted = path
            self._say(f"wrote {path.parent.name}/{path.name}")

        self._screen.app.push_screen(Wizard(folder, work_dir), use)

    def take_wanted(self, find: Callable[[Path], Skill | None]) -> Skill | None:
        """The skill that was just made, once it is in the catalogue."""
        found = find(self._wanted) if self._wanted is not None else None
        if found is not None:
            self._wanted = None
        return found
