"""FLOP and FDEL: set, clear, delete; what differs between subtypes is the rule table (R21)."""

from datetime import datetime

from msgx.domain.flight import FlightState, merged
from msgx.domain.flop import RULE, Side
from msgx.domain.message import Fdel, Flop, Told
from services.processor.decide.merge import route_kept
from services.processor.decide.world import Commit, Decision, Draft, Skip, World
from services.processor.decide.writes import writes


def flop(message: Flop, world: World, *, now: datetime) -> Decision:
    """Return what `message` makes of its flights: all siblings or none (R20, R60)."""
    drafts: dict[str, Draft] = {}
    for record in message.records:
        flight = world.flights.get(record.flid)
        if flight is None:
            return Skip(f"no-flight:{record.flid}")
        if flight.state is FlightState.DELETED:
            return Skip(f"flight-deleted:{record.flid}")
        before = drafts[record.flid].values if record.flid in drafts else flight.values
        told = _told(message.styp, record.told)
        values = route_kept(told, merged(before, told))
        drafts[record.flid] = Draft(flight.state, flight.operation_day, values)
    return Commit(writes(world, drafts, now=now))


def fdel(message: Fdel, world: World, *, now: datetime) -> Decision:
    """Return the deletion of the named flights; unknown and deleted ones are no change (R03,
    R20)."""
    drafts = {
        flid: Draft(FlightState.DELETED, flight.operation_day, flight.values)
        for flid in message.flids
        if (flight := world.flights.get(flid)) is not None
        and flight.state is FlightState.ACTIVE
    }
    return Commit(writes(world, drafts, now=now))


def _told(styp: str, told: Told) -> Told:
    rule = RULE[styp]
    if rule.side is Side.LINK and any(value is None for value in told.values()):
        return dict.fromkeys(rule.tags)
    return told
