"""Write docs/settings.md and .env.example from the settings' models."""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal, get_args, get_origin
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from msgx.config.gather import CONFIG
from msgx.config.parameters import Parameter, Unit, is_group, plain, shown
from msgx.settings import AllSettings
from tools.page import notice, publish, table
from tools.remarks import remarks, sentence

PAGE, EXAMPLE = "docs/settings.md", ".env.example"
READERS: dict[str, type[BaseModel]] = {
    name: importlib.import_module(f"services.{name}.settings").SETTINGS
    for name in ("intake", "processor", "refdata", "dispatcher", "api")
}
_ABOUT = f"""\
A parameter has one name, `msgx.pipeline.claim-batch`. It is given as an environment variable,
`MSGX_PIPELINE__CLAIM_BATCH`, or in a YAML file that `{CONFIG}` names; the environment wins:

```yaml
msgx:
  pipeline:
    claim-batch: 200
    ladder: [PT5S, PT30S, PT2M, PT10M]
```

A secret may stand in a file of its own, whose text without surrounding blanks is the value:
`MSGX_DATABASE__DSN_FILE`, or `dsn-file` in the YAML file, instead of the secret itself.
Durations are ISO 8601: `PT0.2S`, `PT5M`, `P7D`.

A service refuses to start and names everything that is missing, wrong, unknown or misspelt; it
never prints a value ([does not start](runbook/does-not-start.md)). The command
`python -m msgx config check` says the same without starting, `python -m msgx config show` every
value and where it is from.
One environment and one file may serve several services: each reads its own groups.
`MSGX_TEST_*`, `MSGX_LOCAL_*` and `MSGX_MIGRATE__DSN` belong to tests, launcher and migrations.
"""
EXAMPLES = {
    "MSGX_ENVIRONMENT": "dev",
    "MSGX_DATABASE__DSN": "postgresql://msgx_intake:secret@127.0.0.1:5432/msgx",
    "MSGX_MAILBOX__URL": "mysql://msgx:secret@127.0.0.1:3306/mailbox",
    "MSGX_KAFKA__BOOTSTRAP": "127.0.0.1:9092",
    "MSGX_REDIS__URL": "redis://127.0.0.1:6379/0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One parameter, as the pages show it."""

    key: str
    name: str
    form: str
    default: str | None  # None: must be set
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of parameters."""

    title: str
    about: str
    readers: tuple[str, ...]
    variables: tuple[Variable, ...]


def pages() -> dict[str, str]:
    """Return the page and the example."""
    groups = list(_groups())
    return {PAGE: _page(groups), EXAMPLE: _example(groups)}


def _groups() -> Iterator[Group]:
    plain = {
        name: field
        for owner in reversed(AllSettings.__mro__)
        if issubclass(owner, BaseModel)
        for name, field in owner.model_fields.items()
        if not is_group(field.annotation)
    }
    said = {
        name: text
        for owner in AllSettings.__mro__
        if issubclass(owner, BaseModel) and owner.__module__ == AllSettings.__module__
        for name, text in remarks(owner).items()
    }
    yield Group(
        title="Every service",
        about="What every process reads.",
        readers=tuple(READERS),
        variables=tuple(
            _variable((name,), field, said.get(name, "")) for name, field in plain.items()
        ),
    )
    for name, field in AllSettings.model_fields.items():
        if is_group(field.annotation):
            yield _group(name, field)


def _group(name: str, field: FieldInfo) -> Group:
    kind: type[BaseModel] = field.annotation  # type: ignore[assignment]
    said = remarks(kind)
    return Group(
        title=f"`msgx.{name}`",
        about=sentence(kind),
        readers=tuple(one for one, model in READERS.items() if name in model.model_fields),
        variables=tuple(
            _variable((name, part), inner, said.get(part, ""))
            for part, inner in kind.model_fields.items()
        ),
    )


def _variable(path: tuple[str, ...], field: FieldInfo, meaning: str) -> Variable:
    one = Parameter(path, is_secret=plain(field.annotation) is SecretStr)
    if not meaning:
        raise SystemExit(f"{one.key} has no meaning: give it a comment in msgx/settings.py")
    return Variable(
        key=one.key,
        name=one.variable,
        form=_form(one.key, field),
        default=None if field.is_required() else shown(field.default),
        meaning=meaning,
    )


_SET = "texts, separated by commas"


def _form(key: str, field: FieldInfo) -> str:
    """Return how a value is written, and its unit, by the annotation."""
    kind = plain(field.annotation)
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    if get_origin(kind) is tuple:
        return "durations, ISO 8601, separated by commas"
    if get_origin(kind) is frozenset:
        (of,) = get_args(kind)
        return _SET if of is str else f"any of, separated by commas: {', '.join(of)}"
    if isinstance(kind, type) and issubclass(kind, ZoneInfo):
        return "time zone"
    if kind is int:
        units = [one.name for one in field.metadata if isinstance(one, Unit)]
        if not units:
            raise SystemExit(f"{key} has no unit: see Unit in msgx/config/parameters.py")
        return f"whole number of {units[0]}"
    return {
        bool: "true or false",
        float: "number from 0 to 1",
        timedelta: "duration, ISO 8601",
        Path: "path of a file",
        SecretStr: "text, secret",
        str: "text",
    }[kind]


def _page(groups: list[Group]) -> str:
    text = "# Settings\n\n" + notice("gen_settings")
    text += _ABOUT
    for group in groups:
        text += f"\n## {group.title}\n\n{group.about}"
        readers = ", ".join(group.readers) or "no service yet"
        text += f" Read by: {readers}.\n\n"
        text += table(
            ["parameter", "variable", "form and unit", "default", "effect"],
            (
                [f"`{one.key}`", f"`{one.name}`", one.form, _default(one), one.meaning]
                for one in group.variables
            ),
        )
    return text


def _default(one: Variable) -> str:
    if one.default is None:
        return "must be set"
    return f"`{one.default}`" if one.default else "empty"


def _example(groups: list[Group]) -> str:
    text = "# Generated by tools/gen_settings.py: every variable, with its default. Copy what\n"
    text += "# you need; the ones without a leading # must be set.\n"
    for group in groups:
        text += f"\n# {group.title.strip('`')}: {group.about}\n"
        for one in group.variables:
            text += f"# {one.meaning} ({one.form})\n"
            if one.default is None:
                text += f"{one.name}={EXAMPLES[one.name]}\n"
            else:
                text += f"#{one.name}={one.default}\n"
    return text


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
