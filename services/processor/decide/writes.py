"""From drafts to writes: versions, journal entries, emissions, and the MAFL of every main that
they touch.

The one place where a state version grows (INV-13) and where MAFL is derived (G-MAFL, INV-22,
R41, R60).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgx.domain.flight import (
    EntryKind,
    Flight,
    FlightState,
    Sharer,
    by_number,
    changes,
    journal_form,
)
from services.processor.decide.world import Draft, Emission, Floor, World, Write


def writes(world: World, drafts: Mapping[str, Draft], *, now: datetime) -> tuple[Write, ...]:
    """Return the writes that bring every draft about; a draft that changes nothing is none
    (R40)."""
    drafted = {
        flid: _drafted(world, flid, _spared(world, flid, draft), now)
        for flid, draft in drafts.items()
        if flid in world.flights or flid not in world.spared  # gone, and not to come back
    }
    mains = {
        main
        for flid, after in drafted.items()
        for main in (after.main_flid, _main_of(world.flights.get(flid)))
        if main is not None and main not in drafted and main in world.flights
    }
    after_all = drafted | {flid: world.flights[flid] for flid in sorted(mains, key=by_number)}
    changed = (_write(world, flid, after, drafted, now) for flid, after in after_all.items())
    return tuple(write for write in changed if write is not None)


def mafl(world: World, main: Flight) -> tuple[Sharer, ...]:
    """Return what `main` shows as MAFL now: nothing unless it is shown itself."""
    return world.sharers.get(main.flid, ()) if main.shown else ()


def _main_of(flight: Flight | None) -> str | None:
    return None if flight is None else flight.main_flid


def _spared(world: World, flid: str, draft: Draft) -> Draft:
    """Return `draft` without what the decision must leave alone: tags that newer messages have
    set; and a flight that one has deleted or that `draft` would delete, as a whole."""
    tags, before = world.spared.get(flid), world.flights.get(flid)
    if not tags or before is None:
        return draft
    stays_deleted = before.state is FlightState.DELETED and "STATE" in tags
    if stays_deleted or draft.state is FlightState.DELETED:
        return Draft(before.state, before.operation_day, before.values)
    values = {tag: value for tag, value in draft.values.items() if tag not in tags}
    values |= {tag: before.values[tag] for tag in tags if tag in before.values}
    dated = tags.isdisjoint({"OPERATION_DAY", "SODT"})
    return Draft(draft.state, draft.operation_day if dated else before.operation_day, values)


def _drafted(world: World, flid: str, draft: Draft, now: datetime) -> Flight:
    before = world.flights.get(flid)
    floor = world.floors.get(flid, Floor(state_version=0, life=0))
    return Flight(
        flid=flid,
        state=draft.state,
        state_version=before.state_version if before is not None else floor.state_version,
        life=before.life if before is not None else floor.life + 1,
        operation_day=draft.operation_day,
        updated_at=now,
        values=draft.values,
    )


def _write(
    world: World, flid: str, after: Flight, drafted: Mapping[str, Flight], now: datetime
) -> Write | None:
    before = world.flights.get(flid)
    own = _own_changes(before, after)
    sharers_before = mafl(world, before) if before is not None else ()
    sharers_after = _mafl_after(world, after, drafted)
    mafl_changed = sharers_before != sharers_after
    # A flight that leaves the view loses its MAFL with it: that alone is no change of its own.
    mafl_told = mafl_changed and after.shown
    if not own and not mafl_told:
        return None
    changed = {
        tag: after.values.get(tag)
        for tag in own
        if tag in after.values or (before is not None and tag in before.values)
    }
    if mafl_told:
        own["MAFL"] = (_journal(sharers_before), _journal(sharers_after))
    return Write(
        flight=Flight(
            flid=flid,
            state=after.state,
            state_version=after.state_version + 1,
            life=after.life,
            operation_day=after.operation_day,
            updated_at=now,
            values=after.values,
        ),
        kind=_kind(before, after, only_mafl=list(own) == ["MAFL"]),
        changes=own,
        changed=changed,
        mafl=sharers_after,
        mafl_changed=mafl_told,
        emission=_emission(before, after),
    )


def _own_changes(before: Flight | None, after: Flight) -> dict[str, tuple[Any, Any]]:
    own: dict[str, tuple[Any, Any]] = {}
    state = None if before is None else before.state.value
    if state != after.state.value:
        own["STATE"] = (state, after.state.value)
    day = None if before is None else before.operation_day
    if day != after.operation_day:
        own["OPERATION_DAY"] = (_day(day), _day(after.operation_day))
    return own | changes({} if before is None else before.values, after.values)


def _day(day: Any) -> str | None:
    return None if day is None else day.isoformat()


def _mafl_after(
    world: World, main: Flight, drafted: Mapping[str, Flight]
) -> tuple[Sharer, ...]:
    if not main.shown:
        return ()
    stay = [sharer for sharer in world.sharers.get(main.flid, ()) if sharer.flid not in drafted]
    come = [
        Sharer(flid, _flno(flight))
        for flid, flight in drafted.items()
        if flight.state is FlightState.ACTIVE and flight.main_flid == main.flid
    ]
    return tuple(sorted([*stay, *come], key=lambda sharer: by_number(sharer.flid)))


def _flno(flight: Flight) -> str | None:
    flno = flight.values.get("FLNO")
    return flno if isinstance(flno, str) else None


def _journal(sharers: tuple[Sharer, ...]) -> list[Any]:
    return [{"FLID": sharer.flid, "FLNO": journal_form(sharer.flno)} for sharer in sharers]


def _kind(before: Flight | None, after: Flight, *, only_mafl: bool) -> EntryKind:
    if before is None:
        return EntryKind.CREATED
    if before.state is not after.state:
        return EntryKind.DELETED if after.state is FlightState.DELETED else EntryKind.RESTORED
    return EntryKind.SHARED if only_mafl else EntryKind.CHANGED


def _emission(before: Flight | None, after: Flight) -> Emission:
    if after.shown:
        return Emission.UPSERT
    return Emission.TOMBSTONE if before is not None and before.shown else Emission.NOTHING
