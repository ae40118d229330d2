"""SCHD-ADFT: create, restore or set; an absent tag keeps, an empty one clears (INV-29, R60)."""

from datetime import datetime, timedelta, tzinfo

from msgx.domain.flight import FlightState, merged
from msgx.domain.message import Adft
from services.processor.decide.merge import (
    conflict_text,
    day_conflict,
    operation_day,
    route_kept,
    sodt_of,
)
from services.processor.decide.world import Commit, Decision, Draft, Reject, World
from services.processor.decide.writes import writes


def adft(
    message: Adft, world: World, *, zone: tzinfo, day_cut: timedelta, now: datetime
) -> Decision:
    """Return what `message` makes of its flights; a NULL operation day may be filled (R48)."""
    drafts: dict[str, Draft] = {}
    for record in message.records:
        flight = world.flights.get(record.flid)
        day = operation_day(sodt_of(record), zone, day_cut)
        if flight is not None and day_conflict(flight, day):
            return Reject(conflict_text(record.flid, flight, day))
        # a deleted flight starts from what it had
        kept = {} if flight is None else flight.values
        values = route_kept(record.told, merged(kept, record.told))
        known_day = None if flight is None else flight.operation_day
        drafts[record.flid] = Draft(FlightState.ACTIVE, known_day or day, values)
    return Commit(writes(world, drafts, now=now))
