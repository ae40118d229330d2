"""FLIGHT_SCHD and its details: what is written is what is read, tag by tag."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest

from msgx.domain.fields import COLLECTIONS, MARKS, SCALARS, TAGS, Collection, Kind, PartField
from msgx.domain.flight import EntryKind, Flight, FlightState, Sharer
from msgx.domain.message import Occurrence
from msgx.store import attempt, flight
from msgx.store.connect import Connection
from services.processor.examine import read_world
from tests.support.flights import DAY, NOW, a_flight

pytestmark = [pytest.mark.pg]

AT: Final = datetime(2026, 1, 5, 4, 30, tzinfo=UTC)
SAMPLE: Final[dict[Kind, Any]] = {
    Kind.TEXT: "007 备注𠜎 '\"\\ %s {}",
    Kind.TIME: AT,
    Kind.COUNT: 2**53 + 1,
    Kind.KEY: "9999999999999999999",
    Kind.MOVEMENT: "A",
    Kind.NATURE: "M",
    Kind.DURATION: "0130",
}


def element(
    parts: tuple[PartField, ...], kept: tuple[str, ...] | None = None
) -> dict[str, Any]:
    return {part.name: SAMPLE[part.kind] for part in parts if kept is None or part.name in kept}


def filled(collection: Collection) -> tuple[dict[str, Any], ...]:
    """Two equal elements, one with nothing but its first part, in this order."""
    whole = element(collection.parts, collection.kept)
    return (whole, dict(list(whole.items())[:1]), whole)


FULL: Final[dict[str, Any]] = {
    **{scalar.tag: SAMPLE[scalar.kind] for scalar in SCALARS},
    **{mark.tag: element(mark.parts) for mark in MARKS},
    **{one.tag: filled(one) for one in COLLECTIONS},
}


def put(conn: Connection, *flights: Flight, changed: tuple[str, ...] = TAGS) -> None:
    write(conn, flights, changed, msg_id=7)


def write(
    conn: Connection, flights: Sequence[Flight], changed: Sequence[str], *, msg_id: int
) -> None:
    """Write the flights as a message does, which needs no entry for what it writes."""
    changes = {tag: (None, None) for tag in changed}
    writes = [(one, EntryKind.CHANGED, changes) for one in flights]
    attempt.write(conn, writes, [], msg_id=msg_id, now=NOW, traceparent=None)
    conn.execute("DELETE FROM flight_journal")


def stored(conn: Connection, flid: str = "700001") -> Flight:
    return read_world(conn, [flid]).flights[flid]


@pytest.mark.covers("G-FLOP-UNMAPPED", "INV-14b", "R12")
@pytest.mark.parametrize("tag", TAGS)
def test_each_tag_comes_back_as_it_was_written(db: Connection, tag: str) -> None:
    one = a_flight(**{tag: FULL[tag]})

    put(db, one)

    assert stored(db) == one


@pytest.mark.covers("INV-14b")
def test_a_full_flight_comes_back_and_can_be_emptied(db: Connection) -> None:
    full = a_flight(**FULL)
    put(db, full)
    assert stored(db) == full
    assert list(stored(db).values) == list(TAGS), "the same state gives the same bytes"

    empty = replace(full, state_version=4, values={})
    put(db, empty)

    assert stored(db) == empty


@pytest.mark.covers("R57", "US-04")
def test_only_the_named_collections_are_written(db: Connection) -> None:
    before = a_flight(GTDT=({"GTNO": "1"},), CKDT=({"CKNO": "1"},))
    put(db, before)
    after = replace(
        before, state_version=4, values={"GTDT": ({"GTNO": "2"},), "CKDT": ({"CKNO": "2"},)}
    )

    put(db, after, changed=("GTDT", "STND"))

    assert stored(db).values == {"GTDT": ({"GTNO": "2"},), "CKDT": ({"CKNO": "1"},)}


@pytest.mark.covers("INV-31")
def test_many_flights_are_written_and_read_at_once(db: Connection) -> None:
    flights = {
        str(flid): a_flight(str(flid), GTDT=({"GTNO": str(flid)},)) for flid in range(1, 301)
    }

    put(db, *flights.values())

    assert read_world(db, [*flights, "404"]).flights == flights


@pytest.mark.covers("G-MAFL", "R31", "R60", "R45")
def test_a_world_tells_sharers_in_number_order_and_floors(db: Connection) -> None:
    put(
        db,
        a_flight("1"),
        a_flight("9", MAID="1", FLNO="B"),
        a_flight("100", MAID="1", FLNO="C"),
        a_flight("20", MAID="1"),
        a_flight("3", MAID="1", deleted=True),
        a_flight("4", MAID="4"),
        a_flight("5", MAID="404"),
    )
    db.execute("INSERT INTO flight_version_floor VALUES ('77', 41, 2)")

    world = read_world(db, ["1", "4", "404", "77"])

    assert set(world.flights) == {"1", "4"}
    assert world.sharers == {
        "1": (Sharer("9", "B"), Sharer("20", None), Sharer("100", "C")),
        "404": (Sharer("5", None),),
    }
    assert {flid: (one.state_version, one.life) for flid, one in world.floors.items()} == {
        "77": (41, 2)
    }


@pytest.mark.covers("R17", "R41", "R15")
def test_known_shown_and_versions_select_by_state_day_and_main(db: Connection) -> None:
    tomorrow = DAY + timedelta(days=1)
    put(
        db,
        a_flight("1"),
        a_flight("2", MAID="1"),
        a_flight("3", deleted=True),
        a_flight("4", day=tomorrow, version=9),
        a_flight("5", day=None, MAID="5"),
    )

    known = {row[0]: row[1:] for row in flight.known(db, ["3", "5", "404"], [DAY])}

    active, deleted = FlightState.ACTIVE, FlightState.DELETED
    days: date = DAY
    assert known == {
        "1": (active, days, None),
        "2": (active, days, "1"),
        "3": (deleted, days, None),
        "5": (active, None, "5"),
    }
    assert flight.shown(db) == ["1", "4", "5"]
    assert flight.versions(db) == {"1": 3, "2": 3, "3": 3, "4": 9, "5": 3}


@pytest.mark.covers("R47", "G-SRVT-VIPF")
def test_occurrences_are_written_once(db: Connection) -> None:
    told = (Occurrence("SRVT", "<SRVT/>"), Occurrence("VIPF", "<VIPF/>"))
    flight.occurred(db, "1", 7, told)

    flight.occurred(db, "1", 7, (Occurrence("SRVT", "<other/>"),))
    flight.occurred(db, "1", 8, told)

    rows = db.execute("SELECT msg_id, ordinal, raw FROM flight_srvt ORDER BY msg_id").fetchall()
    assert rows == [(7, 1, "<SRVT/>"), (8, 1, "<SRVT/>")]


@pytest.mark.covers("INV-13")
def test_created_at_and_last_message_follow_the_writes(db: Connection) -> None:
    put(db, a_flight())

    write(db, [replace(a_flight(version=4), updated_at=NOW)], (), msg_id=8)

    row = db.execute("SELECT created_at, updated_at, last_msg_id FROM flight_schd").fetchone()
    assert row == (a_flight().updated_at, NOW, 8)
