"""What a reference message does to its category (INV-26, R23, R54, R62)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from msgx.domain.message import Reference
from msgx.domain.refdata import WHOLE, Action, Category, Told

Records: TypeAlias = Mapping[str, Mapping[str, Told]]
"""Payloads by key."""


@dataclass(frozen=True, slots=True)
class Replace:
    """The records are the whole category: what they lack goes."""

    records: Records


@dataclass(frozen=True, slots=True)
class Put:
    """Each record replaces the one of its key, or is new; the others stay."""

    records: Records


@dataclass(frozen=True, slots=True)
class Remove:
    """The records of these keys go; one that is not there is no fault."""

    keys: tuple[str, ...]


Change: TypeAlias = Replace | Put | Remove


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
