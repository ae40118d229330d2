"""What a reference message does to its category (INV-26, R23, R54, R62)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgx.domain.message import Reference
from msgx.domain.refdata import WHOLE, Action, Category, Told

Records: TypeAlias = Mapping[str, Mapping[str, Told]]
"""Payloads by key."""


@dataclass(frozen=True, slots=True)
class Replace:
    """The records are the whole category: what they lack goes, but for `spared`."""

    records: Records
    spared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Put:
    """Each record replaces the one of its key, or is new; the others stay."""

    records: Records


@dataclass(frozen=True, slots=True)
class Remove:
    """The records of these keys go; one that is not there is no fault."""

    keys: tuple[str, ...]


Change: TypeAlias = Replace | Put | Remove

Newer: TypeAlias = Mapping[str, int]
"""Key to the message that said its record, and that is newer than the one at work."""

_NAMED: Final = 5


def decide(reference: Reference) -> Change:
    """Return what `reference` does; of a RESP, once it was found to answer a request. A package
    of RSTA holds events: nothing is deleted by absence."""
    if reference.action is Action.DEL:
        return Remove(tuple(record.key for record in reference.records))
    records = {
        record.key: record.payload
        for record in reference.records
        if record.payload is not None  # only of DEL
    }
    if reference.action in WHOLE and reference.category is not Category.RSTA:
        return Replace(records)
    return Put(records)


def lacking(change: Change, newer: Newer, whole: int | None) -> Newer:
    """Return `newer` with the records that `change` would bring back although `whole`, a newer
    package of the whole category, lacks them."""
    match change:
        case Replace(records=records) | Put(records=records) if whole is not None:
            return dict.fromkeys(records, whole) | dict(newer)
        case _:
            return newer


def overwritten(change: Change, newer: Newer) -> Newer:
    """Return the newer records that `change` would replace or remove (R35)."""
    match change:
        case Replace():
            return newer
        case Put(records=records):
            return {key: by for key, by in newer.items() if key in records}
        case Remove(keys=keys):
            return {key: by for key, by in newer.items() if key in keys}


def sparing(change: Change, newer: Newer) -> Change:
    """Return what `change` does beside the newer records, which it leaves alone (R35)."""
    match change:
        case Replace(records=records):
            return Replace(_without(records, newer), spared=frozenset(newer))
        case Put(records=records):
            return Put(_without(records, newer))
        case Remove(keys=keys):
            return Remove(tuple(key for key in keys if key not in newer))


def told(newer: Newer) -> str:
    """Return the newer records and their messages in a line."""
    named = [f"{key} by {by}" for key, by in sorted(newer.items())]
    more = f" and {len(named) - _NAMED} more records" if len(named) > _NAMED else ""
    return "; ".join(named[:_NAMED]) + more


def _without(records: Records, newer: Newer) -> Records:
    return {key: payload for key, payload in records.items() if key not in newer}
