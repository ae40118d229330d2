"""The journal as the event source: folding the entries of a flight gives its state back
(R12)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum, auto
from typing import Any

from msgx.domain.flight import EntryKind, FlightState, Sharer, Values, from_journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a flight."""

    kind: EntryKind
    state_version: int
    life: int
    msg_id: int
    at: datetime
    changes: Mapping[str, Sequence[Any]]  # name to (before, after), in journal form


class Told(Enum):
    """What topics and Redis got of an entry, under the flight's own key (R31, R41, R61)."""

    NOTHING = auto()
    UPSERT = auto()
    TOMBSTONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A flight as its journal tells it, and what each entry told the outside."""

    state: FlightState
    state_version: int
    life: int
    operation_day: date | None
    values: Values
    mafl: tuple[Sharer, ...]
    told: Mapping[int, Told] = field(default_factory=dict)  # by state version, of this life


class Unfoldable(ValueError):
    """The entries contradict each other; the text says where, never a value."""


def fold(flid: str, entries: Iterable[Entry]) -> Folded:
    """Return the state that the entries of one FLID, by version, lead to; of several lives the
    last (R45).

    Raises:
        Unfoldable: no entry, a gap in the versions, or an entry that does not follow from the
            one before.
    """
    forms: dict[str, Any] = {}
    told: dict[int, Told] = {}
    last: Entry | None = None
    for entry in entries:
        if last is None or entry.life != last.life:
            forms, told = {}, {}
            _begins(flid, entry, last)
        elif entry.state_version != last.state_version + 1:
            raise Unfoldable(f"FLID {flid}: version {last.state_version + 1} has no entry")
        was_shown = _shown(flid, forms)
        _apply(flid, entry, forms)
        told[entry.state_version] = _told(was_shown, _shown(flid, forms))
        last = entry
    if last is None:
        raise Unfoldable(f"FLID {flid} has no entry")
    return replace(_read(forms, last), told=told)


def _begins(flid: str, entry: Entry, last: Entry | None) -> None:
    if entry.kind is not EntryKind.CREATED or "STATE" not in entry.changes:
        raise Unfoldable(f"FLID {flid}: life {entry.life} begins with {entry.kind}")
    if last is not None and entry.state_version <= last.state_version:
        raise Unfoldable(f"FLID {flid}: life {entry.life} begins below an earlier one")
    if last is None and entry.life == 1 and entry.state_version != 1:
        raise Unfoldable(f"FLID {flid}: the first version is {entry.state_version}")


def _apply(flid: str, entry: Entry, forms: dict[str, Any]) -> None:
    for name, (before, after) in entry.changes.items():
        if forms.get(name, [] if name == "MAFL" else None) != before:
            raise Unfoldable(
                f"FLID {flid}: version {entry.state_version} does not follow in {name}"
            )
        forms[name] = after
    if not _shown(flid, forms):
        forms.pop("MAFL", None)  # derived: it goes with the view, without a word


def _shown(flid: str, forms: Mapping[str, Any]) -> bool:
    return forms.get("STATE") == FlightState.ACTIVE and forms.get("MAID") in (None, flid)


def _told(was_shown: bool, shown: bool) -> Told:
    if shown:
        return Told.UPSERT
    return Told.TOMBSTONE if was_shown else Told.NOTHING


def _read(forms: Mapping[str, Any], last: Entry) -> Folded:
    day = forms.get("OPERATION_DAY")
    values = {
        tag: value
        for tag, form in forms.items()
        if tag not in ("STATE", "OPERATION_DAY", "MAFL")
        and (value := from_journal(tag, form)) is not None
    }
    return Folded(
        state=FlightState(forms["STATE"]),
        state_version=last.state_version,
        life=last.life,
        operation_day=None if day is None else date.fromisoformat(day),
        values=values,
        mafl=tuple(Sharer(one["FLID"], one["FLNO"]) for one in forms.get("MAFL", ())),
    )
