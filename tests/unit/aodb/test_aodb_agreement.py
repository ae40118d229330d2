"""Two readings of the interface agree: the decoder with the pure decisions, and the oracle.

No server takes part: what is stored between the messages is a dictionary.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from msgx.codec.decode import Decoder
from msgx.domain.failure import Fault
from msgx.domain.flight import Flight, Sharer, by_number, render
from msgx.domain.flop import DEFAULT_GROUPS
from msgx.domain.message import (
    Adft,
    Fdel,
    Flop,
    Message,
    Reference,
    Refused,
    Schedule,
    ScheduleKind,
)
from msgx.domain.refdata import Action, Reading
from services.processor.decide.adft import adft
from services.processor.decide.flop import fdel, flop
from services.processor.decide.schedule import Known, days_of, judge, plan
from services.processor.decide.world import Commit, Decision, Reject, Skip, World
from services.processor.decide.writes import mafl
from services.refdata import decide as refdata
from tests.aodb import Day, Played, build_day
from tests.aodb.verify import Row, compare_flights, compare_messages, compare_reference

ZONE: Final = ZoneInfo("Asia/Shanghai")
NOW: Final = datetime(2026, 6, 15, 12, tzinfo=UTC)
NO_CUT: Final = timedelta()


class Memory:
    """The decoder and the decisions around a dictionary of flights."""

    def __init__(self) -> None:
        self.flights: dict[str, Flight] = {}
        self._world: World | None = None
        self._bound: dict[str, tuple[int, bytes]] = {}
        self.reference: dict[tuple[str, str], dict[str, Any]] = {}
        self._decoder = Decoder(
            zone=ZONE,
            groups=DEFAULT_GROUPS,
            max_bytes=16 * 1024 * 1024,
            reference=Reading(begin_tag="BGTM", end_tag="EDTM"),
        )

    def world(self) -> World:
        """What is stored now; only a write that can move a codeshare makes it anew."""
        if self._world is None:
            self._world = World(flights=self.flights, sharers=self._sharers())
        return self._world

    def _sharers(self) -> dict[str, tuple[Sharer, ...]]:
        sharers: dict[str, list[Sharer]] = {}
        for flid in sorted(self.flights, key=by_number):
            flight = self.flights[flid]
            if flight.main_flid is not None and flight.state.value == "ACTIVE":
                flno = flight.values.get("FLNO")
                sharer = Sharer(flid, flno if isinstance(flno, str) else None)
                sharers.setdefault(flight.main_flid, []).append(sharer)
        return {main: tuple(found) for main, found in sharers.items()}

    def process(self, msg_id: int, text: str) -> Row:
        try:
            message = self._decoder.decode(text, year=2026)
        except Fault as fault:
            return msg_id, "DEAD", fault.error_class.value, fault.text
        identity = message.meta.identity
        holder, digest = self._bound.setdefault(identity, (msg_id, message.body_digest))
        if holder != msg_id and digest == message.body_digest:
            return msg_id, "SKIPPED", None, f"duplicate-of:{holder}"
        if holder != msg_id:
            return msg_id, "DEAD", "IDENTITY_CONFLICT", f"conflicts-with:{holder}"
        if isinstance(message.payload, Refused):
            return msg_id, "DEAD", message.payload.error_class.value, message.payload.text
        if isinstance(message.payload, Reference):
            return self._kept(msg_id, message.payload)
        row = self._applied(msg_id, self._decided(message))
        if not isinstance(message.payload, Flop):
            self._world = None
        return row

    def _kept(self, msg_id: int, reference: Reference) -> Row:
        category, rows = reference.category.value, self.reference
        if reference.action is Action.RESP:  # nobody asks here
            return msg_id, "SKIPPED", None, "no-open-request"
        match refdata.decide(reference):
            case refdata.Remove(keys=keys):
                for key in keys:
                    rows.pop((category, key), None)
            case refdata.Replace(records=records) | refdata.Put(records=records) as change:
                if isinstance(change, refdata.Replace):
                    for at in [at for at in rows if at[0] == category]:
                        del rows[at]
                for key, payload in records.items():
                    rows[category, key] = json.loads(json.dumps(payload))
        return msg_id, "SUCCEEDED", None, None

    def _applied(self, msg_id: int, decision: Decision) -> Row:
        match decision:
            case Skip(reason=reason):
                return msg_id, "SKIPPED", None, reason
            case Reject(text=text):
                return msg_id, "DEAD", "PROTOCOL", text
            case Commit(writes=writes):
                self.flights.update((write.flight.flid, write.flight) for write in writes)
                return msg_id, "SUCCEEDED", None, None if writes else "no-change"

    def _decided(self, message: Message) -> Decision:
        world = self.world()
        match message.payload:
            case Flop() as change:
                return flop(change, world, now=NOW)
            case Fdel() as deletion:
                return fdel(deletion, world, now=NOW)
            case Adft() as update:
                return adft(update, world, zone=ZONE, day_cut=NO_CUT, now=NOW)
            case Schedule(kind=ScheduleKind.DNLD) as package:
                return self._snapshot(package, world)
            case Schedule():
                return Skip("no-open-request")
            case _:
                return Skip("unsupported")

    def _snapshot(self, package: Schedule, world: World) -> Decision:
        known = {
            flid: Known(
                state=flight.state,
                operation_day=flight.operation_day,
                main_flid=flight.main_flid,
            )
            for flid, flight in world.flights.items()
        }
        days = days_of(package, ZONE, NO_CUT)
        scope = judge(package, days, known, zone=ZONE, day_cut=NO_CUT, max_removal_ratio=1.0)
        if isinstance(scope, Reject):
            return scope
        return Commit(
            plan(package.records, scope.absent, world, zone=ZONE, day_cut=NO_CUT, now=NOW)
        )


@pytest.mark.covers("INV-11b", "INV-26", "INV-27", "R23", "R58", "R60", "G-MAFL")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_decoder_and_decisions_agree_with_the_oracle(seed: int) -> None:
    agree(build_day(seed=seed, flights=80))


@pytest.mark.covers("INV-26", "INV-27", "US-13")
def test_they_agree_over_many_small_days_of_reference_data() -> None:
    for seed in range(100, 112):
        agree(build_day(seed=seed, flights=12, messages_per_flight=1))


def agree(day: Day) -> None:
    """Run a day through the memory; all that it leads to is what the oracle says."""
    memory = Memory()

    rows = [memory.process(message.index + 1, message.xml) for message in day.messages]

    ids = {message.index: message.index + 1 for message in day.messages}
    assert compare_messages(day, Played(ids, 0.0), rows) == []
    world = memory.world()
    shown = {
        flid: render(flight, mafl(world, flight), ZONE)
        for flid, flight in world.flights.items()
    }
    assert compare_flights(day, shown) == []
    assert compare_reference(day, memory.reference) == []
