"""SCHD-ADFT: create, restore or set; an absent tag keeps, an empty one clears (INV-29, R60)."""

from datetime import datetime, timedelta, tzinfo

from msgx.domain.flight import FlightState, merged
from msgx.domain.message import Adft
from services.processor.decide.merge import (
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
        known_day = None if flight is None else flight.operation_day
        if conflict := day_conflict(record.flid, known_day, day):
            return Reject(conflict)
        # a deleted flight starts from what it had
        kept = {} if flight is None else flight.values
        values = route_kept(record.told, merged(kept, record.told))
        drafts[record.flid] = Draft(FlightState.ACTIVE, known_day or day, values)
    return Commit(writes(world, drafts, now=now))
