"""SCHD-ADFT: creates, restores, sets; never clears by absence."""

from datetime import UTC, date, datetime, timedelta

import pytest

from msgx.domain.flight import EntryKind, FlightState
from services.processor.decide.merge import operation_day
from services.processor.decide.world import Commit, Emission, Floor, Reject
from tests.support.flights import (
    DAY,
    NOON,
    ZONE,
    a_flight,
    a_world,
    decided_adft,
    only,
    told,
    writes,
)


@pytest.mark.covers("INV-29", "INV-13", "R48")
def test_an_unknown_flight_is_created_with_the_day_of_its_schedule() -> None:
    write = only(decided_adft(a_world(), told(FLNO="CA1", SODT=NOON, ESTT=None, GTDT=())))

    assert write.kind is EntryKind.CREATED
    assert write.flight.state_version == 1
    assert write.flight.life == 1
    assert write.flight.operation_day == DAY
    assert write.flight.values == {"FLNO": "CA1", "SODT": NOON}
    assert write.emission is Emission.UPSERT
    assert write.changes["STATE"] == (None, "ACTIVE")
    assert write.changes["OPERATION_DAY"] == (None, "2026-01-05")
    assert write.changed == {"FLNO": "CA1", "SODT": NOON}


@pytest.mark.covers("INV-29", "R60", "C-6")
def test_absent_keeps_and_empty_clears() -> None:
    world = a_world(a_flight(STND="101", ESTT=NOON, GTDT=({"GTNO": "1"},)))

    write = only(decided_adft(world, told(STND=None, GTDT=())))

    assert write.flight.values == {"ESTT": NOON}


@pytest.mark.covers("INV-29", "R60")
def test_a_deleted_flight_returns_with_what_it_had() -> None:
    world = a_world(a_flight(deleted=True, STND="101", FLNO="CA1"))

    write = only(decided_adft(world, told(FLNO="CA2")))

    assert write.kind is EntryKind.RESTORED
    assert write.flight.state is FlightState.ACTIVE
    assert write.flight.values == {"STND": "101", "FLNO": "CA2"}
    assert write.flight.state_version == 4
    assert write.emission is Emission.UPSERT


@pytest.mark.covers("R40")
def test_an_update_without_news_writes_nothing() -> None:
    world = a_world(a_flight(STND="101", SODT=NOON))

    assert decided_adft(world, told(STND="101", SODT=NOON)) == Commit(())


@pytest.mark.covers("INV-12", "R19", "R48")
def test_another_operation_day_is_refused_with_both_days() -> None:
    world = a_world(a_flight("1"), a_flight("2"))
    tomorrow = NOON + timedelta(days=1)

    decision = decided_adft(world, told("1", STND="7"), told("2", SODT=tomorrow))

    assert isinstance(decision, Reject)
    for part in ("operation-day-conflict", "FLID 2", "2026-01-05", "2026-01-06"):
        assert part in decision.text


@pytest.mark.covers("R48")
def test_a_missing_operation_day_may_be_filled() -> None:
    write = only(decided_adft(a_world(a_flight(day=None)), told(SODT=NOON)))

    assert write.flight.operation_day == DAY


@pytest.mark.covers("INV-12")
def test_a_cleared_schedule_keeps_the_operation_day() -> None:
    write = only(decided_adft(a_world(a_flight(SODT=NOON)), told(SODT=None)))

    assert write.flight.operation_day == DAY
    assert "SODT" not in write.flight.values


@pytest.mark.covers("R48")
@pytest.mark.parametrize(
    ("utc_hour", "cut", "expected"),
    [
        (15, timedelta(), date(2026, 1, 5)),  # 23:00 at the airport
        (16, timedelta(), date(2026, 1, 6)),  # 00:00
        (16, timedelta(hours=4), date(2026, 1, 5)),
        (20, timedelta(hours=4), date(2026, 1, 6)),
    ],
)
def test_the_operation_day_is_local_and_begins_at_the_cut(
    utc_hour: int, cut: timedelta, expected: date
) -> None:
    sodt = datetime(2026, 1, 5, utc_hour, tzinfo=UTC)

    assert operation_day(sodt, ZONE, cut) == expected


@pytest.mark.covers("R45", "INV-13")
def test_a_returning_flid_starts_above_what_its_former_life_left() -> None:
    floors = {"1": Floor(state_version=41, life=2)}

    write = only(decided_adft(a_world(floors=floors), told("1", FLNO="CA1")))

    assert write.flight.state_version == 42
    assert write.flight.life == 3
    assert write.kind is EntryKind.CREATED


@pytest.mark.covers("INV-29")
def test_a_message_about_several_flights_writes_each_that_changes() -> None:
    world = a_world(a_flight("1", STND="7"), a_flight("2", STND="7"))

    found = writes(decided_adft(world, told("1", STND="7"), told("2", STND="8"), told("3")))

    assert set(found) == {"2", "3"}
