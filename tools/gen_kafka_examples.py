"""Fill the examples of docs/kafka.md by the code that renders events."""

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgx.domain.delivery import EventType, Target
from msgx.domain.event import Event
from msgx.domain.flight import (
    EntryKind,
    Flight,
    FlightState,
    Sharer,
    encode,
    render,
    render_change,
)
from services.dispatcher.decide.record import record
from tools.page import ROOT, publish

PAGE = "docs/kafka.md"
_ZONE: Final = ZoneInfo("Asia/Shanghai")
_COMMITTED: Final = datetime(2026, 5, 3, 1, 12, 40, 512000, tzinfo=UTC)
_FLIGHT: Final = Flight(
    flid="104711",
    state=FlightState.ACTIVE,
    state_version=7,
    life=1,
    operation_day=datetime(2026, 5, 3, tzinfo=UTC).date(),
    updated_at=_COMMITTED,
    values={
        "FLNO": "MU5101",
        "MVIN": "D",
        "SODT": datetime(2026, 5, 3, 2, 0, tzinfo=UTC),
        "ESTT": datetime(2026, 5, 3, 2, 25, tzinfo=UTC),
        "BOTM": datetime(2026, 5, 3, 1, 40, tzinfo=UTC),
        "GTDT": ({"GTNO": "1", "GATE": "B07"},),
        "ROUT": ({"RTNO": "1", "APCD": "PEK"},),
    },
)
_SHARERS: Final = (Sharer("104712", "MF8101"),)


def pages() -> dict[str, str]:
    """Return the page with its examples."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    change = render_change(
        _FLIGHT,
        EntryKind.CHANGED,
        {"ESTT": _FLIGHT.values["ESTT"], "LACL": None},
        None,
        styp="ADFT",
        zone=_ZONE,
    )
    examples = {
        "change": _json(change),
        "state": _json(render(_FLIGHT, _SHARERS, _ZONE)),
        "headers": _headers(encode(change)),
    }
    for name, example in examples.items():
        text = _filled(text, name, example)
    return {PAGE: text}


def _filled(text: str, name: str, example: str) -> str:
    place = re.compile(rf"(<!-- example: {name} -->\n```\w+\n).*?(```\n)", re.DOTALL)
    found = place.search(text)
    if found is None:
        raise SystemExit(f"{PAGE} has no place for the example {name}")
    return text[: found.start()] + found[1] + example + found[2] + text[found.end() :]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _headers(payload: str) -> str:
    event = Event(
        event_id=90211,
        partition_key=_FLIGHT.flid,
        event_type=EventType.UPSERT,
        payload_version=1,
        payload=payload,
        size=len(payload.encode()),
        state_version=_FLIGHT.state_version,
        msg_id=30117,
        created_at=_COMMITTED,
        attempts=0,
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    )
    sent = record(event, Target.MSG, environment="prod", max_bytes=len(payload.encode()))
    return "".join(f"{name}: {value.decode()}\n" for name, value in sent.headers)


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
