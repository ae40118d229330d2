"""A flight's current state, how two states differ, and the one JSON that Redis, Kafka and HTTP
show."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from enum import StrEnum
from typing import Any, Final, TypeAlias

from msgx.domain.fields import COLLECTION, MARK, SCALAR, TAGS, Kind, PartField
from msgx.domain.message import Element, Part, Value

Values: TypeAlias = Mapping[str, Value]
"""What a flight has: tag to value, tags without a value absent, no empty collection
(INV-14b)."""

Changes: TypeAlias = Mapping[str, tuple[Any, Any]]
"""What a write changed: name to (before, after) in journal form; None: no value."""


class FlightState(StrEnum):
    """`flight_schd.state`. Deletion is a mark (C-5)."""

    ACTIVE = "ACTIVE"
    DELETED = "DELETED"


class EntryKind(StrEnum):
    """`flight_journal.kind`: what a write did to its flight."""

    CREATED = "CREATED"
    CHANGED = "CHANGED"
    DELETED = "DELETED"
    RESTORED = "RESTORED"
    SHARED = "SHARED"  # only the derived MAFL changed (G-MAFL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """The current state of one FLID. The version grows once per real change (INV-13)."""

    flid: str
    state: FlightState
    state_version: int
    life: int  # grows when a FLID returns after its physical deletion (R45)
    operation_day: date | None  # never changed once set (INV-12)
    updated_at: datetime
    values: Values

    @property
    def main_flid(self) -> str | None:
        """Return the FLID of the main flight, or None for a main flight (R31: itself is
        none)."""
        main = self.values.get("MAID")
        return main if isinstance(main, str) and main != self.flid else None

    @property
    def shown(self) -> bool:
        """Tell whether the flight stands in Redis and topics: ACTIVE and no codeshare (R30,
        R41)."""
        return self.state is FlightState.ACTIVE and self.main_flid is None


@dataclass(frozen=True, slots=True)
class Sharer:
    """A codeshare as its main shows it in MAFL."""

    flid: str
    flno: str | None


def by_number(flid: str) -> tuple[int, str]:
    """Return the sort key of a FLID as a number (R60): it has no leading zeros."""
    return len(flid), flid


def merged(values: Values, told: Mapping[str, Value | None]) -> Values:
    """Return `values` with what `told` says: a value sets, empty clears, absent keeps."""
    kept = dict(values)
    for tag, value in told.items():
        if value is None or value == ():
            kept.pop(tag, None)
        else:
            kept[tag] = value
    return kept


def present(told: Mapping[str, Value | None]) -> Values:
    """Return only what has a value: how a snapshot tells a whole flight (C-6)."""
    return merged({}, told)


def changes(before: Values, after: Values) -> dict[str, tuple[Any, Any]]:
    """Return the tags that differ, in the registry's order, in journal form."""
    return {
        tag: (journal_form(before.get(tag)), journal_form(after.get(tag)))
        for tag in TAGS
        if before.get(tag) != after.get(tag)
    }


def journal_form(value: Value | None) -> Any:
    """Return `value` as plain JSON: instants in UTC, so that it folds back exactly."""
    match value:
        case None | str() | int():
            return value
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case tuple():
            return [journal_form(element) for element in value]
        case _:
            return {name: journal_form(part) for name, part in value.items()}


def from_journal(tag: str, form: Any) -> Value | None:
    """Return the value of `tag` that `journal_form` wrote."""
    if form is None:
        return None
    if (scalar := SCALAR.get(tag)) is not None:
        return _part(scalar.kind, form)
    if (mark := MARK.get(tag)) is not None:
        return _element(mark.parts, form)
    parts = COLLECTION[tag].parts
    return tuple(_element(parts, element) for element in form)


def _element(parts: Iterable[PartField], form: Mapping[str, Any]) -> Element:
    kinds = {part.name: part.kind for part in parts}
    return {name: _part(kinds[name], value) for name, value in form.items()}


def _part(kind: Kind, form: Any) -> Part:
    read: Part = datetime.fromisoformat(form) if kind is Kind.TIME else form
    return read


LAST_CALL: Final = "LAST_CALL"
BOARDING: Final = "BOARDING"


def boarding_status(values: Values) -> str | None:
    """Return the derived boarding status (R22)."""
    if "LACL" in values:
        return LAST_CALL
    return BOARDING if "BOTM" in values else None


def render(flight: Flight, mafl: Iterable[Sharer], zone: tzinfo) -> dict[str, Any]:
    """Return the whole flight as plain JSON: the value of Redis, of `schd`, of `/all/flights`
    (R28, R30).

    Keys stand in the registry's order, so the same state gives the same bytes.
    """
    shown: dict[str, Any] = {
        "FLID": flight.flid,
        "STATE": flight.state.value,
        "STATE_VERSION": flight.state_version,
        "UPDATED_AT": _show(flight.updated_at, zone),
    }
    if flight.operation_day is not None:
        shown["OPERATION_DAY"] = flight.operation_day.isoformat()
    for tag in TAGS:
        if (value := flight.values.get(tag)) is not None:
            shown[tag] = _show(value, zone)
    if (status := boarding_status(flight.values)) is not None:
        shown["BOARDING_STATUS"] = status
    if sharers := [_shown_sharer(sharer) for sharer in mafl]:
        shown["MAFL"] = sharers
    return shown


def _shown_sharer(sharer: Sharer) -> dict[str, str]:
    return {"FLID": sharer.flid} | ({"FLNO": sharer.flno} if sharer.flno is not None else {})


def _show(value: Value, zone: tzinfo) -> Any:
    match value:
        case str() | int():
            return value
        case datetime():
            return value.astimezone(zone).isoformat()
        case tuple():
            return [_show(element, zone) for element in value]
        case _:
            return {name: _show(part, zone) for name, part in value.items()}


def render_change(
    flight: Flight,
    kind: EntryKind,
    changed: Mapping[str, Value | None],
    mafl: Iterable[Sharer] | None,
    *,
    styp: str,
    zone: tzinfo,
) -> dict[str, Any]:
    """Return the value of a `msg` event: what changed, with the new values; null: cleared
    (R28)."""
    new: dict[str, Any] = {
        tag: None if value is None else _show(value, zone) for tag, value in changed.items()
    }
    if mafl is not None:
        new["MAFL"] = [_shown_sharer(sharer) for sharer in mafl]
    return {
        "FLID": flight.flid,
        "STATE_VERSION": flight.state_version,
        "UPDATED_AT": _show(flight.updated_at, zone),
        "KIND": kind.value,
        "STYP": styp,
        "CHANGES": new,
    }


def encode(shown: Mapping[str, Any]) -> str:
    """Return the compact JSON text of a rendered value."""
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
