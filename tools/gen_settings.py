"""Write docs/settings.md and .env.example from the settings' models."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pydantic import BaseModel, SecretStr, TypeAdapter
from pydantic.fields import FieldInfo

from msgx.settings import PREFIX, AllSettings
from services.api.settings import ApiSettings
from services.dispatcher.settings import Settings as DispatcherSettings
from services.intake.settings import IntakeSettings
from services.processor.settings import ProcessorSettings
from tools.page import notice, publish, table
from tools.remarks import remarks, sentence

PAGE, EXAMPLE = "docs/settings.md", ".env.example"
READERS: dict[str, type[BaseModel]] = {
    "intake": IntakeSettings,
    "processor": ProcessorSettings,
    "dispatcher": DispatcherSettings,
    "api": ApiSettings,
}
EXAMPLES = {
    "MSGX_ENVIRONMENT": "dev",
    "MSGX_DATABASE__DSN": "postgresql://msgx_intake:secret@127.0.0.1:5432/msgx",
    "MSGX_MAILBOX__URL": "mysql://msgx:secret@127.0.0.1:3306/mailbox",
    "MSGX_KAFKA__BOOTSTRAP": "127.0.0.1:9092",
    "MSGX_REDIS__URL": "redis://127.0.0.1:6379/0",
}
_DURATION = TypeAdapter(timedelta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One parameter, as the pages show it."""

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
        if not _is_group(field)
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
            _variable(f"{PREFIX}{name.upper()}", field, said.get(name, ""))
            for name, field in plain.items()
        ),
    )
    for name, field in AllSettings.model_fields.items():
        if _is_group(field):
            yield _group(name, field)


def _group(name: str, field: FieldInfo) -> Group:
    kind: type[BaseModel] = field.annotation  # type: ignore[assignment]
    said = remarks(kind)
    return Group(
        title=f"`msgx.{name}`",
        about=sentence(kind),
        readers=tuple(one for one, model in READERS.items() if name in model.model_fields),
        variables=tuple(
            _variable(f"{PREFIX}{name.upper()}__{part.upper()}", inner, said.get(part, ""))
            for part, inner in kind.model_fields.items()
        ),
    )


def _is_group(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def _variable(name: str, field: FieldInfo, meaning: str) -> Variable:
    if not meaning:
        raise SystemExit(f"{name} has no meaning: give it a comment in msgx/settings.py")
    default = None if field.is_required() else _shown(field.default)
    return Variable(name=name, form=_form(field), default=default, meaning=meaning)


_SET = "texts, separated by commas"


def _form(field: FieldInfo) -> str:
    """Return how a value is written, by the annotation."""
    kind = _plain(field.annotation)
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    if get_origin(kind) is tuple:
        return "durations, ISO 8601, separated by commas"
    if get_origin(kind) is frozenset:
        (of,) = get_args(kind)
        return _SET if of is str else f"any of, separated by commas: {', '.join(of)}"
    if isinstance(kind, type) and issubclass(kind, ZoneInfo):
        return "time zone"
    return {
        bool: "true or false",
        int: "whole number",
        float: "number from 0 to 1",
        timedelta: "duration, ISO 8601",
        SecretStr: "text, secret",
        str: "text",
    }[kind]


def _plain(kind: Any) -> Any:
    """Return the annotation without what only bounds it, or lets it be missing."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        (only,) = (one for one in get_args(kind) if one is not NoneType)
        return _plain(only)
    return kind


def _shown(value: Any) -> str:
    """Return a default as the variable would hold it."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case timedelta():
            return str(_DURATION.dump_python(value, mode="json"))
        case tuple():
            return ",".join(_shown(one) for one in value)
        case frozenset():
            return ",".join(sorted(value))
        case _:
            return str(value)


def _page(groups: list[Group]) -> str:
    text = "# Settings\n\n" + notice("gen_settings")
    text += (
        "Every setting is an environment variable. `msgx.pipeline.claim-batch` in a document is"
        " `MSGX_PIPELINE__CLAIM_BATCH` here. A service refuses to start and names every"
        " variable that is missing, wrong, or unknown; it never prints a value. One environment"
        " may serve several services: each reads its own groups. `MSGX_TEST_*`,"
        " `MSGX_LOCAL_*` and `MSGX_MIGRATE__DSN` belong to tests, launcher and migrations.\n"
    )
    for group in groups:
        text += f"\n## {group.title}\n\n{group.about}"
        readers = ", ".join(group.readers) or "no service yet"
        text += f" Read by: {readers}.\n\n"
        text += table(
            ["variable", "form", "default", "meaning"],
            (
                [f"`{one.name}`", one.form, _default(one), one.meaning]
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
