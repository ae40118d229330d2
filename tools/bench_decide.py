"""`make bench-decide`: how long one decision takes on the flights of a simulated day.

One JSON line, in microseconds: `flop_us` a FLOP of the day on its flight; `schd_flight_us` a
flight of the day plan that changed since, in a batch of the default size.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgx import clock
from msgx.codec.decode import Decoder
from msgx.domain.failure import Fault
from msgx.domain.flop import DEFAULT_GROUPS
from msgx.domain.message import Flop, Message, Record, Schedule, ScheduleKind
from msgx.settings import Airport, Schd
from services.processor.decide.flop import flop
from services.processor.decide.schedule import plan
from services.processor.decide.world import World, Write
from tests.aodb import build_day

SEED: Final = 1
FLIGHTS: Final = 300
ROUNDS: Final = 15
NOW: Final = datetime(2026, 1, 5, tzinfo=UTC)
_ZONE, _CUT = Airport().zone, timedelta()


def main() -> int:
    """Print the line."""
    messages = list(_decoded())
    plans = [one.payload for one in messages if _is_plan(one)]
    records = max((one.records for one in plans if isinstance(one, Schedule)), key=len)
    batch = records[: Schd().batch]
    empty = World()
    stored = _stored(_planned(batch, empty))
    flops = [
        one.payload
        for one in messages
        if isinstance(one.payload, Flop)
        and all(record.flid in stored.flights for record in one.payload.records)
    ]
    changed = [_delayed(record) for record in batch]
    result = {
        "flop_us": _each(lambda: [flop(one, stored, now=NOW) for one in flops], len(flops)),
        "schd_flight_us": _each(lambda: _planned(changed, stored), len(changed)),
    }
    print(json.dumps(result))
    return 0


def _decoded() -> Iterator[Message]:
    decoder = Decoder(zone=_ZONE, groups=DEFAULT_GROUPS, max_bytes=1 << 24)
    for planned in build_day(seed=SEED, flights=FLIGHTS, reference=False).messages:
        try:
            yield decoder.decode(planned.xml, year=NOW.year)
        except Fault:  # the day holds broken messages too
            continue


def _is_plan(message: Message) -> bool:
    payload = message.payload
    return isinstance(payload, Schedule) and payload.kind is ScheduleKind.DNLD


def _planned(records: Sequence[Record], world: World) -> tuple[Write, ...]:
    return plan(records, (), world, zone=_ZONE, day_cut=_CUT, now=NOW)


def _stored(writes: Sequence[Write]) -> World:
    return World(
        flights={write.flight.flid: write.flight for write in writes},
        sharers={write.flight.flid: write.mafl for write in writes if write.mafl},
    )


def _delayed(record: Record) -> Record:
    return replace(record, told={**record.told, "ESTT": NOW, "REMC": "later"})


def _each(work: Callable[[], object], count: int) -> float:
    """Return the microseconds of one of `count` decisions, in the best of some rounds."""
    spans = []
    for _ in range(ROUNDS):
        began = clock.ticks()
        work()
        spans.append(clock.ticks() - began)
    return round(min(spans) / count * 1_000_000, 1)


if __name__ == "__main__":
    sys.exit(main())
