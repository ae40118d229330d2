"""Flights, worlds and records for decisions: valid by default, say only what matters."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from msgx.domain.flight import Flight, FlightState, Sharer, by_number
from msgx.domain.message import Adft, Flop, Record, Schedule, ScheduleKind
from services.processor.decide.adft import adft
from services.processor.decide.flop import flop
from services.processor.decide.world import Commit, Decision, Floor, World, Write

ZONE: Final = ZoneInfo("Asia/Shanghai")
NO_CUT: Final = timedelta()
DAY: Final = date(2026, 1, 5)
EARLIER: Final = datetime(2026, 1, 4, 1, tzinfo=UTC)
NOW: Final = datetime(2026, 1, 5, 1, tzinfo=UTC)
NOON: Final = datetime(2026, 1, 5, 12, tzinfo=ZONE)


def a_flight(
    flid: str = "700001",
    *,
    deleted: bool = False,
    version: int = 3,
    life: int = 1,
    day: date | None = DAY,
    **values: Any,
) -> Flight:
    """Return a stored flight."""
    return Flight(
        flid=flid,
        state=FlightState.DELETED if deleted else FlightState.ACTIVE,
        state_version=version,
        life=life,
        operation_day=day,
        updated_at=EARLIER,
        values=values,
    )


def a_world(*flights: Flight, floors: Mapping[str, Floor] | None = None) -> World:
    """Return a world that holds these flights, with what they share."""
    sharers: dict[str, list[Sharer]] = {}
    for flight in sorted(flights, key=lambda one: by_number(one.flid)):
        if flight.main_flid is not None and flight.state is FlightState.ACTIVE:
            sharer = Sharer(flight.flid, flight.values.get("FLNO"))  # type: ignore[arg-type]
            sharers.setdefault(flight.main_flid, []).append(sharer)
    return World(
        flights={flight.flid: flight for flight in flights},
        sharers={main: tuple(found) for main, found in sharers.items()},
        floors=floors or {},
    )


def told(flid: str = "700001", **values: Any) -> Record:
    """Return what a message says about one flight."""
    return Record(flid=flid, told=values)


def decided_flop(world: World, styp: str, *records: Record) -> Decision:
    """Return what a FLOP comes to."""
    return flop(Flop(styp, records), world, now=NOW)


def decided_adft(world: World, *records: Record, day_cut: timedelta = NO_CUT) -> Decision:
    """Return what an ADFT comes to."""
    return adft(Adft(records), world, zone=ZONE, day_cut=day_cut, now=NOW)


def package(*records: Record) -> Schedule:
    """Return a day plan."""
    return Schedule(kind=ScheduleKind.DNLD, declared=len(records), records=records)


def writes(decision: Decision | Iterable[Write]) -> dict[str, Write]:
    """Return the writes of a decision that must write, by FLID; one for each flight."""
    found = decision.writes if isinstance(decision, Commit) else decision
    assert not isinstance(found, Decision), found
    listed = list(found)
    by_flid = {write.flight.flid: write for write in listed}
    assert len(by_flid) == len(listed), "a flight is written once a message"
    return by_flid


def only(decision: Decision) -> Write:
    """Return the one write of a decision."""
    (write,) = writes(decision).values()
    return write
