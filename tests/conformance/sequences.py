"""Random messages over a few flights, as typed payloads, and an airport that takes them by the
pure decisions alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from msgx.domain.fields import COLLECTIONS, MARKS, SCALARS, TAGS, Kind, PartField
from msgx.domain.flight import Flight, encode, render, render_change
from msgx.domain.flop import RULES, Side
from msgx.domain.journal import Entry
from msgx.domain.message import Adft, Fdel, Flop, Record, Schedule, ScheduleKind
from services.processor.decide.adft import adft
from services.processor.decide.flop import fdel, flop
from services.processor.decide.schedule import Known, days_of, judge, plan
from services.processor.decide.world import Commit, Emission, Reject, Skip, World, Write
from tests.support.flights import NO_CUT, NOON, NOW, ZONE, a_world

FLIDS: Final = ("9", "10", "11", "100")
OTHERS: Final = ("20", "21", "200")
Payload: TypeAlias = Flop | Fdel | Adft | Schedule

_TEXT: Final = st.sampled_from(["1", "007", "备注𠜎", "null", "'; --"])
_TIMES: Final = st.integers(0, 3).map(lambda hours: NOON + timedelta(hours=hours))
_SODT: Final = st.integers(-1, 1).map(lambda days: NOON + timedelta(days=days))
_VALUES: Final[Mapping[Kind, st.SearchStrategy[Any]]] = {
    Kind.TEXT: _TEXT,
    Kind.TIME: _TIMES,
    Kind.COUNT: st.integers(0, 999),
    Kind.KEY: _TEXT,  # but MAID: see `_told`
    Kind.MOVEMENT: st.sampled_from("AD"),
    Kind.NATURE: st.sampled_from("DIM"),
    Kind.DURATION: st.just("0130"),
}


def messages(flids: Sequence[str] = FLIDS, *, plans: bool = True) -> st.SearchStrategy[Payload]:
    """Return any FLOP, FDEL, ADFT or day plan over `flids` and their codeshares."""
    told = _told(flids)
    sharing = _records(flids, told, _SHARING)
    flop_of_any = st.sampled_from(
        [one for one in RULES if one.side is not Side.DELETE]
    ).flatmap(
        lambda rule: st.builds(
            Flop, st.just(rule.styp), _records(flids, told, rule.tags, least=1)
        )
    )
    kinds: list[st.SearchStrategy[Payload]] = [
        st.builds(Adft, _records(flids, told, TAGS)),
        st.builds(Adft, sharing),
        st.builds(Adft, _records(flids, told, ("MAID", "FLNO"), least=2)),
        st.builds(Fdel, st.lists(st.sampled_from(flids), min_size=1, max_size=2).map(tuple)),
        flop_of_any,
        flop_of_any,
    ]
    if plans:
        kinds += [st.builds(_plan, _records(flids, told, TAGS)), st.builds(_plan, sharing)]
    return st.one_of(kinds)


_SHARING: Final = ("MAID", "FLNO", "SODT", "STND", "GTDT", "MVIN", "ROUT")


def _told(flids: Sequence[str]) -> Mapping[str, st.SearchStrategy[Any]]:
    return {
        **{one.tag: st.none() | _VALUES[one.kind] for one in SCALARS},
        **{one.tag: st.none() | _element(one.parts).filter(bool) for one in MARKS},
        **{
            one.tag: st.lists(_element(one.parts), max_size=2).map(tuple) for one in COLLECTIONS
        },
        "MAID": st.none() | st.sampled_from((*flids, "77")),
        "SODT": st.none() | _SODT,
    }


def _element(parts: Iterable[PartField]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={part.name: _VALUES[part.kind] for part in parts})


def _records(
    flids: Sequence[str],
    told: Mapping[str, st.SearchStrategy[Any]],
    tags: Sequence[str],
    *,
    least: int = 0,
) -> st.SearchStrategy[tuple[Record, ...]]:
    some = st.lists(st.sampled_from(tags), unique=True, min_size=least, max_size=6)
    values = some.flatmap(lambda chosen: st.fixed_dictionaries({t: told[t] for t in chosen}))
    record = st.builds(Record, flid=st.sampled_from(flids), told=values)
    return st.lists(record, min_size=1, max_size=4, unique_by=lambda one: one.flid).map(tuple)


def _plan(records: tuple[Record, ...]) -> Schedule:
    return Schedule(kind=ScheduleKind.DNLD, declared=len(records), records=records)


@dataclass(slots=True)
class Airport:
    """What stands after the messages taken so far: flights, journals, and all that was sent."""

    flights: dict[str, Flight] = field(default_factory=dict)
    journals: dict[str, list[Entry]] = field(default_factory=dict)
    redis: dict[str, str] = field(default_factory=dict)
    sent: list[tuple[str, str | None, str | None]] = field(
        default_factory=list
    )  # FLID, msg, schd
    taken: int = 0

    @property
    def world(self) -> World:
        """Return everything, as a decision sees it."""
        return a_world(*self.flights.values())

    def take(self, message: Payload) -> tuple[Write, ...]:
        """Take one message as the processor does, and return what it wrote."""
        self.taken += 1
        at = NOW + timedelta(seconds=self.taken)
        writes = _writes(message, self.world, at)
        for write in writes:
            flid = write.flight.flid
            self.flights[flid] = write.flight
            entry = Entry(
                kind=write.kind,
                state_version=write.flight.state_version,
                life=write.flight.life,
                msg_id=self.taken,
                at=at,
                changes=write.changes,
            )
            self.journals.setdefault(flid, []).append(entry)
            self._send(write)
        return writes

    def _send(self, write: Write) -> None:
        flid = write.flight.flid
        match write.emission:
            case Emission.UPSERT:
                state = encode(render(write.flight, write.mafl, ZONE))
                mafl = write.mafl if write.mafl_changed else None
                change = render_change(
                    write.flight, write.kind, write.changed, mafl, styp="ANY", zone=ZONE
                )
                self.redis[flid] = state
                self.sent.append((flid, encode(change), state))
            case Emission.TOMBSTONE:
                self.redis.pop(flid, None)
                self.sent.append((flid, None, None))
            case Emission.NOTHING:
                pass


def _writes(message: Payload, world: World, at: datetime) -> tuple[Write, ...]:
    match message:
        case Flop():
            decision = flop(message, world, now=at)
        case Fdel():
            decision = fdel(message, world, now=at)
        case Adft():
            decision = adft(message, world, zone=ZONE, day_cut=NO_CUT, now=at)
        case Schedule():
            return _planned(message, world, at)
    match decision:
        case Commit(writes=writes):
            return writes
        case Skip() | Reject():
            return ()


def _planned(message: Schedule, world: World, at: datetime) -> tuple[Write, ...]:
    days = days_of(message, ZONE, NO_CUT)
    known = {
        flid: Known(state=one.state, operation_day=one.operation_day, main_flid=one.main_flid)
        for flid, one in world.flights.items()
    }
    scope = judge(message, days, known, zone=ZONE, day_cut=NO_CUT, max_removal_ratio=1.0)
    if isinstance(scope, Reject):
        return ()
    return plan(message.records, scope.absent, world, zone=ZONE, day_cut=NO_CUT, now=at)


def without_times(flight: Flight) -> Flight:
    """Return a flight without the time of its last write."""
    return replace(flight, updated_at=NOW)
