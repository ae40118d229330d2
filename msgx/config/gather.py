"""What was given: the environment, a file beside it, and files that hold secrets.

The environment wins over the file. A name that nobody knows is a fault, and so is a secret that
is given twice in one place. Faults name names, never a value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from msgx.config.document import Unreadable, document, text_of
from msgx.config.parameters import PREFIX, Parameter, nested

CONFIG: Final = f"{PREFIX}CONFIG"
"""The variable that names the file."""

FOREIGN: Final = ("MSGX_TEST_", "MSGX_LOCAL_", "MSGX_MIGRATE__")
"""Variables of tests, launcher and migrations: not a service's, so not unknown either."""

IN_FILE: Final = " (in the file)"
_SECRET_BYTES: Final = 64 * 1024
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,80}")
_LIKENESS: Final = 0.75

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to give a parameter: itself, or a file that holds the secret."""

    parameter: Parameter
    by_file: bool = False

    @property
    def variable(self) -> str:
        """Return the name in the environment."""
        return self.parameter.variable + ("_FILE" if self.by_file else "")

    @property
    def key(self) -> str:
        """Return the name in the file."""
        return self.parameter.key + ("-file" if self.by_file else "")


@dataclass(slots=True)
class Given:
    """The values by path, the name under which each was given, and what is wrong."""

    values: dict[Path, Any] = field(default_factory=dict)
    names: dict[Path, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    refused: set[Path] = field(default_factory=set)  # its fault is known: say nothing more

    def tree(self) -> dict[str, Any]:
        """Return the values as nested groups."""
        return nested(self.values)


Found: TypeAlias = tuple[Spelling, str, Any]
"""How, under which name, and what."""


def gather(
    known: Iterable[Parameter],
    mine: Iterable[str],
    environment: Mapping[str, str],
    file: str | None = None,
) -> Given:
    """Return what was given for the groups and parameters `mine`; every name is judged by
    `known`, since one environment and one file may serve several services."""
    spellings = list(_spellings(known))
    given = Given()
    found_in_file: list[Found] = []
    place = file or environment.get(CONFIG)
    if place:
        try:
            content = document(place)
        except Unreadable as why:
            given.faults.append(f"{'--file' if file else CONFIG}: {why}")
        else:
            found_in_file = list(_from_file(spellings, content, given.faults))
    groups = set(mine)
    _take(_from_environment(spellings, environment, given.faults), groups, given)
    _take(found_in_file, groups, given)
    return given


def _spellings(known: Iterable[Parameter]) -> Iterator[Spelling]:
    for one in known:
        yield Spelling(one)
        if one.is_secret:
            yield Spelling(one, by_file=True)


def _from_environment(
    spellings: Iterable[Spelling], environment: Mapping[str, str], faults: list[str]
) -> Iterator[Found]:
    names = {one.variable: one for one in spellings}
    for name in sorted(environment):
        if not name.upper().startswith(PREFIX) or name.startswith(FOREIGN) or name == CONFIG:
            continue
        if name in names:
            yield names[name], name, environment[name]
        else:
            faults.append(_unknown(name, [*names, CONFIG]))


def _from_file(
    spellings: Iterable[Spelling], content: Any, faults: list[str]
) -> Iterator[Found]:
    names = {one.key: one for one in spellings}
    groups = {key.rpartition(".")[0] for key in names}
    pending = [("", content)] if content else []
    while pending:
        above, part = pending.pop()
        if not isinstance(part, Mapping):
            faults.append(f"{above or 'the file'}{IN_FILE}: must be a group of parameters")
            continue
        for word, value in part.items():
            key = f"{above}.{word}" if above else str(word)
            if key in names and not isinstance(value, Mapping):
                yield names[key], key + IN_FILE, value
            elif key in names:
                faults.append(f"{key}{IN_FILE}: must be a value, not a group")
            elif key not in groups:
                faults.append(_unknown(key, [*names, *groups], IN_FILE))
            elif value != "":  # a group without anything in it
                pending.append((key, value))


def _unknown(name: str, known: Iterable[str], where: str = "") -> str:
    if not _NAME.fullmatch(name):  # it may be anything, a value too
        return f"a name that is no name{where}: unknown"
    form = name.upper() if name.upper().startswith(PREFIX) else name.lower().replace("_", "-")
    near = get_close_matches(form, known, n=1, cutoff=_LIKENESS)
    return f"{name}{where}: unknown" + (f"; did you mean {near[0]}?" if near else "")


def _take(found: Iterable[Found], mine: set[str], given: Given) -> None:
    """Take the values of one place; those taken before win."""
    seen: dict[Path, str] = {}
    for spelling, name, value in found:
        path = spelling.parameter.path
        if path in seen:
            given.faults.append(f"{seen[path]} and {name} are both given: give one of them")
            continue
        seen[path] = name
        if path[0] not in mine or path in given.names:
            continue
        given.names[path] = name
        given.values[path] = value
        if spelling.by_file:
            try:
                secret = text_of(str(value), most=_SECRET_BYTES).strip()
                if not secret:
                    raise Unreadable("names a file that is empty")
                given.values[path] = secret
            except Unreadable as why:
                given.faults.append(f"{name}: {why}")
                given.refused.add(path)
