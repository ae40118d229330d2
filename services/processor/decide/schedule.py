"""SCHD-DNLD and RESP: the whole truth about its days (INV-15b). Verdict first, then families,
then writes."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, TypeAlias

from msgx.domain.flight import FlightState, by_number, present
from msgx.domain.message import Record, Schedule
from services.processor.decide.merge import (
    day_at,
    day_conflict,
    operation_day,
    route_kept,
    sodt_of,
)
from services.processor.decide.world import Draft, Reject, World, Write
from services.processor.decide.writes import writes

Family: TypeAlias = tuple[str, ...]
"""Flights connected by old and new MAID: never split over transactions (R12, R17)."""


_DAY: Final = timedelta(days=1)
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a package must know of a stored flight before its first write."""

    state: FlightState
    operation_day: date | None
    main_flid: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The days that a package speaks for, and the ACTIVE flights of those days that it
    lacks."""

    days: tuple[date, ...]
    absent: tuple[str, ...]


def days_of(package: Schedule, zone: tzinfo, day_cut: timedelta) -> tuple[date, ...]:
    """Return the operation days that occur in the package, in order (R17)."""
    days = {operation_day(sodt_of(record), zone, day_cut) for record in package.records}
    return tuple(sorted(day for day in days if day is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The operation days of a request: those that it touches, and those that it covers from the
    first to the last minute."""

    first: date
    last: date
    whole: tuple[date, ...]


def asked(begin: datetime, end: datetime, zone: tzinfo, day_cut: timedelta) -> Asked:
    """Return the days of a request for the flights from `begin` to `end`, both included."""
    first, last = day_at(begin, zone, day_cut), day_at(end, zone, day_cut)
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    whole = (
        day
        for day in days
        if begin <= _beginning(day, zone, day_cut)
        and _beginning(day + _DAY, zone, day_cut) - _MINUTE <= end
    )
    return Asked(first=first, last=last, whole=tuple(whole))


def _beginning(day: date, zone: tzinfo, day_cut: timedelta) -> datetime:
    return (datetime.combine(day, time(), zone) + day_cut).astimezone(UTC)


def judge(
    package: Schedule,
    days: Sequence[date],
    known: Mapping[str, Known],
    *,
    zone: tzinfo,
    day_cut: timedelta,
    max_removal_ratio: float,
    approved: int | None = None,
    spared: Container[str] = (),
    begun: bool = False,
    asked: Asked | None = None,
) -> Scope | Reject:
    """Return the scope, or why the whole package is refused (INV-19, R18, R19).

    `known` holds the package's flights and every ACTIVE flight of `days`. A package of which a
    part is written has `begun`: it was judged then, and is not refused any more (R12).
    `approved` removals go before the ratio: exactly so many. Flights that are `spared` are not
    deleted. `asked` is what an answer was asked for: a flight of another day refuses it (R48).
    """
    if not package.records and asked is None:
        return Reject("an empty package names no operation day")
    named = set()
    for record in package.records:
        named.add(record.flid)
        stored = known.get(record.flid)
        day = operation_day(sodt_of(record), zone, day_cut)
        if begun or day is None:
            continue
        if asked is not None and not asked.first <= day <= asked.last:
            return Reject(f"FLID {record.flid} is of {day}, which was not asked for")
        stored_day = None if stored is None else stored.operation_day
        if conflict := day_conflict(record.flid, stored_day, day):
            return Reject(conflict)
    scope = [
        flid
        for flid, flight in known.items()
        if flight.state is FlightState.ACTIVE and flight.operation_day in set(days)
    ]
    lacking = (flid for flid in scope if flid not in named and flid not in spared)
    absent = sorted(lacking, key=by_number)
    told = f"the package would delete {len(absent)} of {len(scope)} flights of its days"
    if begun:
        pass
    elif approved is not None and len(absent) != approved:
        return Reject(f"{told}, not the {approved} that were approved")
    elif approved is None and len(absent) > max_removal_ratio * len(scope):
        return Reject(told)
    return Scope(days=tuple(days), absent=tuple(absent))


def families(
    records: Iterable[Record], absent: Iterable[str], known: Mapping[str, Known]
) -> tuple[list[Family], list[Family]]:
    """Return the families that lose nobody, and those that lose a member, in message order
    (R17)."""
    leader: dict[str, str] = {}

    def find(flid: str) -> str:
        while (above := leader.setdefault(flid, flid)) != flid:
            leader[flid] = leader.get(above, above)
            flid = above
        return flid

    members: list[str] = []
    for record in records:
        members.append(record.flid)
        find(record.flid)
        if isinstance(main := record.told.get("MAID"), str):
            leader[find(record.flid)] = find(main)
    lost = set(absent)
    members.extend(sorted(lost, key=by_number))
    for flid in members:
        stored = known.get(flid)
        if stored is not None and stored.main_flid is not None:
            leader[find(flid)] = find(stored.main_flid)
    groups: dict[str, list[str]] = {}
    for flid in members:
        groups.setdefault(find(flid), []).append(flid)
    whole = [tuple(group) for group in groups.values() if not lost.intersection(group)]
    losing = [tuple(group) for group in groups.values() if lost.intersection(group)]
    return whole, losing


def batches(families: Iterable[Family], size: int) -> list[tuple[str, ...]]:
    """Return the families packed into transactions of about `size` flights, none of them
    split."""
    packed: list[tuple[str, ...]] = []
    current: list[str] = []
    for family in families:
        if current and len(current) + len(family) > size:
            packed.append(tuple(current))
            current = []
        current.extend(family)
    return [*packed, tuple(current)] if current else packed


def plan(
    records: Sequence[Record],
    absent: Sequence[str],
    world: World,
    *,
    zone: tzinfo,
    day_cut: timedelta,
    now: datetime,
) -> tuple[Write, ...]:
    """Return the writes of one batch: told flights as told, absent scalars and collections
    cleared (C-6)."""
    drafts: dict[str, Draft] = {}
    for record in records:
        flight = world.flights.get(record.flid)
        known_day = None if flight is None else flight.operation_day
        day = known_day or operation_day(sodt_of(record), zone, day_cut)
        values = route_kept(record.told, present(record.told))
        drafts[record.flid] = Draft(FlightState.ACTIVE, day, values)
    for flid in absent:
        flight = world.flights.get(flid)
        if flight is not None and flight.state is FlightState.ACTIVE:
            drafts[flid] = Draft(FlightState.DELETED, flight.operation_day, flight.values)
    return writes(world, drafts, now=now)
