"""Day plans: the verdict before the first write, families that stay together, absence."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx.domain.flight import EntryKind, FlightState, Sharer
from msgx.domain.message import Record
from services.processor.decide.schedule import (
    Asked,
    Known,
    Scope,
    asked,
    batches,
    days_of,
    families,
    judge,
    plan,
)
from services.processor.decide.world import Emission, Reject, World, Write
from tests.support.flights import (
    DAY,
    NO_CUT,
    NOON,
    NOW,
    ZONE,
    a_flight,
    a_world,
    package,
    told,
    writes,
)

NEXT_NOON = NOON + timedelta(days=1)
NEXT_DAY = DAY + timedelta(days=1)


def known(deleted: bool = False, day: date | None = DAY, main: str | None = None) -> Known:
    state = FlightState.DELETED if deleted else FlightState.ACTIVE
    return Known(state=state, operation_day=day, main_flid=main)


def judged(
    records: list[Record], stored: Mapping[str, Known], *, ratio: float = 1.0, **more: Any
) -> Scope | Reject:
    whole = package(*records)
    days = days_of(whole, ZONE, NO_CUT)
    return judge(
        whole, days, stored, zone=ZONE, day_cut=NO_CUT, max_removal_ratio=ratio, **more
    )


def asked_days(begin: str, end: str, *, zone: ZoneInfo = ZONE, cut: int = 0) -> Asked:
    first, last = (datetime.fromisoformat(at).replace(tzinfo=zone) for at in (begin, end))
    return asked(first.astimezone(UTC), last.astimezone(UTC), zone, timedelta(hours=cut))


@pytest.mark.covers("R17", "US-09")
@pytest.mark.parametrize(
    ("begin", "end", "touched", "whole"),
    [
        ("2026-06-15T00:00", "2026-06-15T23:59", (15, 15), [15]),
        ("2026-06-15T00:00", "2026-06-15T23:58", (15, 15), []),
        ("2026-06-15T00:01", "2026-06-15T23:59", (15, 15), []),
        ("2026-06-15T00:00", "2026-06-16T00:00", (15, 16), [15]),
        ("2026-06-15T12:00", "2026-06-17T12:00", (15, 17), [16]),
        ("2026-06-15T00:00", "2026-06-17T23:59:59", (15, 17), [15, 16, 17]),
    ],
)
def test_a_request_touches_days_and_covers_some_of_them_whole(
    begin: str, end: str, touched: tuple[int, int], whole: list[int]
) -> None:
    days = asked_days(begin, end)

    assert (days.first.day, days.last.day) == touched
    assert [day.day for day in days.whole] == whole


@pytest.mark.covers("R17", "R25")
def test_a_day_that_begins_late_or_has_23_hours_is_covered_by_its_own_minutes() -> None:
    late = asked_days("2026-01-05T04:00", "2026-01-06T03:59", cut=4)
    short = asked_days("2026-03-29T00:00", "2026-03-29T23:59", zone=ZoneInfo("Europe/Berlin"))

    assert late == Asked(first=DAY, last=DAY, whole=(DAY,))
    assert [day.isoformat() for day in short.whole] == ["2026-03-29"]


@pytest.mark.covers("R17", "R48", "US-09")
def test_an_answer_speaks_for_what_was_asked_and_for_nothing_else() -> None:
    stored = {"1": known(), "2": known(), "3": known(day=NEXT_DAY)}
    days = Asked(first=DAY, last=DAY, whole=(DAY,))

    found = judge(
        package(told("1", SODT=NOON)), days.whole, stored,
        zone=ZONE, day_cut=NO_CUT, max_removal_ratio=1.0, asked=days,
    )  # fmt: skip
    strayed = judged([told("4", SODT=NEXT_NOON)], stored, asked=days)

    assert found == Scope(days=(DAY,), absent=("2",))
    assert isinstance(strayed, Reject)
    assert "not asked for" in strayed.text


def planned(world: World, *records: Record, absent: tuple[str, ...] = ()) -> dict[str, Write]:
    return writes(plan(records, absent, world, zone=ZONE, day_cut=NO_CUT, now=NOW))


@pytest.mark.covers("R17", "INV-15b")
def test_the_days_of_a_package_are_those_of_its_flights() -> None:
    whole = package(told("1", SODT=NEXT_NOON), told("2", SODT=NOON), told("3", SODT=NOON))

    assert days_of(whole, ZONE, NO_CUT) == (DAY, NEXT_DAY)
    assert days_of(whole, ZONE, timedelta(hours=13)) == (DAY - timedelta(days=1), DAY)


@pytest.mark.covers("R18", "INV-19")
def test_an_empty_package_is_refused() -> None:
    assert isinstance(judged([], {"1": known()}), Reject)


@pytest.mark.covers("R17", "INV-15b")
def test_active_flights_of_its_days_that_it_lacks_are_absent() -> None:
    stored = {
        "1": known(),
        "20": known(),
        "3": known(),
        "4": known(deleted=True),
        "5": known(day=None),
        "6": known(day=NEXT_DAY),
    }

    assert judged([told("1", SODT=NOON)], stored) == Scope(days=(DAY,), absent=("3", "20"))


@pytest.mark.covers("R19", "INV-12", "INV-19")
def test_one_flight_on_another_day_refuses_the_whole_package() -> None:
    records = [told("1", SODT=NOON), told("2", SODT=NEXT_NOON)]

    scope = judged(records, {"1": known(), "2": known()})

    assert isinstance(scope, Reject)
    assert "FLID 2 has 2026-01-05, SODT gives 2026-01-06" in scope.text


@pytest.mark.covers("R48")
def test_a_day_that_was_unknown_is_no_conflict() -> None:
    scope = judged([told("1", SODT=NOON), told("2")], {"1": known(day=None), "2": known()})

    assert scope == Scope(days=(DAY,), absent=())


@pytest.mark.covers("R18")
@pytest.mark.parametrize(("ratio", "refused"), [(0.49, True), (0.5, False), (1.0, False)])
def test_a_package_that_deletes_too_much_of_its_days_is_refused_with_the_counts(
    ratio: float, refused: bool
) -> None:
    stored = {flid: known() for flid in "1234"}

    scope = judged([told("1", SODT=NOON), told("2", SODT=NOON)], stored, ratio=ratio)

    assert isinstance(scope, Reject) is refused
    if isinstance(scope, Reject):
        assert "2 of 4" in scope.text


@pytest.mark.covers("R18", "R35")
@pytest.mark.parametrize(
    ("approved", "spared", "refused"),
    [(2, "", False), (1, "", True), (3, "", True), (1, "3", False), (2, "3", True)],
)
def test_a_package_may_delete_exactly_as_many_as_were_approved(
    approved: int, spared: str, refused: bool
) -> None:
    stored = {flid: known() for flid in "1234"}
    records = [told("1", SODT=NOON), told("2", SODT=NOON)]

    scope = judged(records, stored, ratio=0.1, approved=approved, spared=spared)
    begun = judged(records, stored, ratio=0.1, approved=approved, spared=spared, begun=True)

    assert isinstance(scope, Reject) is refused
    assert not isinstance(begun, Reject)
    if isinstance(scope, Reject):
        assert f"not the {approved} that were approved" in scope.text


@pytest.mark.covers("R17")
def test_old_and_new_main_connect_a_family() -> None:
    records = [told("1", MAID="9"), told("2"), told("3", MAID="8")]
    stored = {"2": known(main="9"), "3": known(main="7")}

    whole, losing = families(records, [], stored)

    assert whole == [("1", "2"), ("3",)]
    assert losing == []


@pytest.mark.covers("R17", "B101")
def test_families_that_lose_a_member_come_last_and_whole() -> None:
    records = [told("1"), told("2", MAID="1"), told("3")]
    stored = {"4": known(main="1"), "5": known()}

    whole, losing = families(records, ["4", "5"], stored)

    assert whole == [("3",)]
    assert losing == [("1", "2", "4"), ("5",)]


_SMALL = st.integers(1, 12).map(str)


@pytest.mark.covers("R17", "R12")
@given(
    told_mains=st.dictionaries(_SMALL, st.none() | _SMALL, max_size=10),
    old_mains=st.dictionaries(_SMALL, st.none() | _SMALL, max_size=10),
    size=st.integers(1, 5),
)
def test_no_transaction_splits_a_family(
    told_mains: dict[str, str | None], old_mains: dict[str, str | None], size: int
) -> None:
    records = [told(flid, MAID=main) for flid, main in told_mains.items()]
    stored = {flid: known(main=main) for flid, main in old_mains.items()}
    absent = [flid for flid in stored if flid not in told_mains]

    whole, losing = families(records, absent, stored)
    packed = [*batches(whole, size), *batches(losing, size)]

    place = {flid: at for at, batch in enumerate(packed) for flid in batch}
    assert sorted(place) == sorted({*told_mains, *absent})
    assert sum(map(len, packed)) == len(place), "nobody stands twice"
    touched: dict[str, set[int]] = {}
    for flid, at in place.items():
        for main in (told_mains.get(flid), old_mains.get(flid), flid):
            if main is not None:
                touched.setdefault(main, set()).add(at)
    assert all(len(places) == 1 for places in touched.values()), "a flight has one transaction"
    lost_from = min((place[flid] for flid in absent), default=len(packed))
    assert all(place[flid] < lost_from for family in whole for flid in family)


@pytest.mark.covers("R17", "INV-31")
def test_batches_are_about_as_large_as_asked() -> None:
    singles = [(str(flid),) for flid in range(1, 8)]

    assert [len(batch) for batch in batches(singles, 3)] == [3, 3, 1]
    assert batches([("1", "2", "3", "4"), ("5",)], 3) == [("1", "2", "3", "4"), ("5",)]
    assert batches([], 3) == []


@pytest.mark.covers("C-6", "R60", "INV-15b")
def test_a_snapshot_clears_absent_scalars_marks_and_collections() -> None:
    stored: dict[str, Any] = {
        "STND": "101",
        "FDIV": {"DDES": "ZGGG"},
        "GTDT": ({"GTNO": "1"},),
        "BDPB": "Y",
    }
    world = a_world(a_flight("1", FLNO="CA1", **stored))

    write = planned(world, told("1", FLNO="CA1", SODT=NOON))["1"]

    assert write.flight.values == {"FLNO": "CA1", "SODT": NOON}
    assert set(write.changed) == {"SODT", *stored}


@pytest.mark.covers("R40")
def test_a_flight_as_it_is_stored_is_not_written() -> None:
    world = a_world(a_flight("1", FLNO="CA1", SODT=NOON))

    assert planned(world, told("1", FLNO="CA1", SODT=NOON, STND=None, GTDT=())) == {}


@pytest.mark.covers("R48", "INV-29")
def test_a_deleted_flight_in_the_package_becomes_active_as_told() -> None:
    world = a_world(a_flight("1", deleted=True, STND="101", FLNO="CA1"))

    write = planned(world, told("1", FLNO="CA1", SODT=NOON))["1"]

    assert write.kind is EntryKind.RESTORED
    assert write.flight.values == {"FLNO": "CA1", "SODT": NOON}


@pytest.mark.covers("INV-12")
def test_a_flight_told_without_schedule_keeps_its_day() -> None:
    write = planned(a_world(a_flight("1", SODT=NOON)), told("1", FLNO="CA1"))["1"]

    assert write.flight.operation_day == DAY


@pytest.mark.covers("INV-15b", "R61", "R17")
def test_an_absent_codeshare_is_deleted_with_the_new_mafl_of_its_main() -> None:
    world = a_world(a_flight("1", SODT=NOON), a_flight("2", MAID="1", FLNO="ZH2"))

    found = planned(world, told("1", SODT=NOON), absent=("2",))

    assert found["2"].flight.state is FlightState.DELETED
    assert found["2"].emission is Emission.NOTHING
    assert found["1"].mafl == ()
    assert found["1"].kind is EntryKind.SHARED


@pytest.mark.covers("INV-15b", "C-5")
def test_an_absent_flight_keeps_its_values_and_leaves_a_tombstone() -> None:
    write = planned(a_world(a_flight("1", STND="7")), absent=("1",))["1"]

    assert write.flight.values == {"STND": "7"}
    assert write.emission is Emission.TOMBSTONE


@pytest.mark.covers("R12", "B102")
def test_an_absent_flight_that_is_deleted_already_is_not_written_again() -> None:
    assert planned(a_world(a_flight("1", deleted=True)), absent=("1", "404")) == {}


@pytest.mark.covers("G-MAFL")
def test_main_and_codeshare_of_one_package_are_written_once_each() -> None:
    found = planned(a_world(), told("2", SODT=NOON, MAID="1", FLNO="ZH2"), told("1", SODT=NOON))

    assert found["1"].mafl == (Sharer("2", "ZH2"),)
    assert found["1"].flight.state_version == 1


@pytest.mark.covers("R47")
def test_the_route_of_a_package_keeps_four_points() -> None:
    points = tuple({"RTNO": str(at)} for at in range(1, 7))

    write = planned(a_world(), told("1", SODT=NOON, MVIN="A", ROUT=points))["1"]

    assert write.flight.values["ROUT"] == points[-4:]
