"""The tool SetTodoList: what is to be done in this task, and how far it is."""

from __future__ import annotations

from typing import Literal, override

from kosong.tooling import ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.own_tool import OwnTool

_MARKS = {"pending": "[ ]", "in_progress": "[~]", "done": "[x]"}


class Todo(BaseModel):
    """One thing to do."""

    title: str = Field(min_length=1)
    status: Literal["pending", "in_progress", "done"] = "pending"


class SetTodoListParams(BaseModel):
    """Arguments of SetTodoList."""

    todos: list[Todo] = Field(max_length=100, description="The whole list, in order.")


class SetTodoList(OwnTool[SetTodoListParams]):
    """Keeps the list; the whole list is given each time."""

    name = "SetTodoList"
    description = (
        "Set the list of what is to be done, for work of several steps. Give the whole list each "
        "time, and keep one entry in_progress."
    )
    params = SetTodoListParams

    def __init__(self) -> None:
        super().__init__()
        self.todos: tuple[Todo, ...] = ()
        """The list as it stands."""

    @override
    async def __call__(self, params: SetTodoListParams) -> ToolReturnValue:
        self.todos = tuple(params.todos)
        done = sum(todo.status == "done" for todo in self.todos)
        rows = [f"{_MARKS[todo.status]} {todo.title}" for todo in self.todos]
        return ToolOk(
            output="\n".join(rows), message="The list is set.", brief=f"{done} of {len(rows)} done"
        )
