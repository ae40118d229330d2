"""What a single change leads to, given what is stored; and, for a replay, given what newer
messages have set (R35). It reads and writes nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from msgx.domain.message import Adft, Fdel, Flop
from msgx.domain.replay import NewerSource, Order
from msgx.store import flight_journal
from msgx.store.connect import Connection
from services.processor.decide.adft import adft
from services.processor.decide.flop import fdel, flop
from services.processor.decide.stale import overwritten, refusal, sparing
from services.processor.decide.world import Commit, Decision, World
from services.processor.examine import read_world


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A change, what it meets, and how it was put back, if it was."""

    msg_id: int
    change: Flop | Fdel | Adft
    world: World
    order: Order | None
    zone: tzinfo
    day_cut: timedelta
    now: datetime


@dataclass(frozen=True, slots=True)
class Judged:
    """The decision, and what newer messages have set of what it would have changed."""

    decision: Decision
    newer: tuple[NewerSource, ...] = ()


def judge(conn: Connection, asked: Asked) -> Judged:
    """Return what the change leads to. A replay overwrites nothing newer: it is refused, or
    leaves that alone if its order allows (R35)."""
    decision = _decide(conn, asked)
    if asked.order is None or not isinstance(decision, Commit):
        return Judged(decision)
    flids = [write.flight.flid for write in decision.writes]
    newer = flight_journal.newer(conn, asked.msg_id, flids) if flids else {}
    sources = overwritten(decision.writes, newer)
    if not sources:
        return Judged(decision)
    if not asked.order.allow_stale:
        return Judged(refusal(sources), sources)
    return Judged(_decide(conn, replace(asked, world=sparing(asked.world, newer))), sources)


def _decide(conn: Connection, asked: Asked) -> Decision:
    world, now = asked.world, asked.now
    match asked.change:
        case Flop() as change:  # no FLOP touches MAID or FLNO: no main is concerned
            return flop(change, world, now=now)
        case Fdel() as change:
            return fdel(change, _with_mains(conn, world, ()), now=now)
        case Adft(records=records) as change:
            mains = (record.told.get("MAID") for record in records)
            told = [main for main in mains if isinstance(main, str)]
            world = _with_mains(conn, world, told)
            return adft(change, world, zone=asked.zone, day_cut=asked.day_cut, now=now)


def _with_mains(conn: Connection, world: World, told: Sequence[str]) -> World:
    """Return `world` with the main flights that its flights have or are told, and their
    codeshares."""
    stored = {flight.main_flid for flight in world.flights.values()} - {None}
    missing = {str(main) for main in stored.union(told)}.difference(world.flights)
    if not missing:
        return world
    mains = read_world(conn, sorted(missing))
    return replace(
        world,
        flights={**world.flights, **mains.flights},
        sharers={**world.sharers, **mains.sharers},
        floors={**mains.floors, **world.floors},
    )
