"""FLOP and FDEL: what a message names is set or cleared, and nothing else moves."""

from typing import Any

import pytest

from msgx.domain.flight import EntryKind, FlightState, boarding_status
from msgx.domain.flop import RULES, Side
from msgx.domain.message import Fdel
from services.processor.decide.flop import fdel
from services.processor.decide.world import Commit, Decision, Emission, Skip, World
from tests.support.flights import (
    NOON,
    NOW,
    a_flight,
    a_world,
    decided_flop,
    only,
    told,
    writes,
)

LINK: dict[str, Any] = {"TAOP": "CA", "TAFL": "CA1235", "TAID": "700002"}


def deleted(world: World, *flids: str) -> Decision:
    return fdel(Fdel(flids), world, now=NOW)


@pytest.mark.covers("INV-14b", "INV-13", "US-04")
def test_a_value_sets_its_tag_and_leaves_every_other() -> None:
    world = a_world(a_flight(ESTT=NOON, STND="101"))

    write = only(decided_flop(world, "STND", told(STND="102")))

    assert write.flight.values == {"ESTT": NOON, "STND": "102"}
    assert write.flight.state_version == 4
    assert write.flight.updated_at == NOW
    assert write.kind is EntryKind.CHANGED
    assert write.changes == {"STND": ("101", "102")}
    assert write.changed == {"STND": "102"}
    assert write.emission is Emission.UPSERT


@pytest.mark.covers("C-6", "INV-14b")
def test_an_empty_tag_clears_and_says_so() -> None:
    world = a_world(a_flight(ESTT=NOON, STND="101"))

    write = only(decided_flop(world, "STND", told(STND=None)))

    assert write.flight.values == {"ESTT": NOON}
    assert write.changed == {"STND": None}


@pytest.mark.covers("R40")
@pytest.mark.parametrize("value", [None, ()])
def test_clearing_what_is_not_there_writes_nothing(value: Any) -> None:
    assert decided_flop(a_world(a_flight()), "GTDT", told(GTDT=value)) == Commit(())


@pytest.mark.covers("R40")
def test_the_same_value_writes_nothing() -> None:
    gates = ({"GTNO": "1", "GATE": "12", "GOTM": NOON},)
    world = a_world(a_flight(GTDT=gates, STND="101"))

    assert decided_flop(world, "GTDT", told(GTDT=gates)) == Commit(())


@pytest.mark.covers("INV-14b", "R60")
def test_a_collection_is_replaced_as_a_whole_and_keeps_doubles() -> None:
    world = a_world(a_flight(GTDT=({"GTNO": "1", "GATE": "12"}, {"GTNO": "2", "GATE": "14"})))
    twice = ({"GTNO": "1", "GATE": "9"}, {"GTNO": "1", "GATE": "9"})

    write = only(decided_flop(world, "GTDT", told(GTDT=twice)))

    assert write.flight.values["GTDT"] == twice


@pytest.mark.covers("R22")
def test_clearing_the_last_call_falls_back_to_boarding() -> None:
    world = a_world(a_flight(BOTM=NOON, LACL=NOON))

    write = only(decided_flop(world, "LACL", told(LACL=None)))

    assert boarding_status(world.flights["700001"].values) == "LAST_CALL"
    assert boarding_status(write.flight.values) == "BOARDING"


@pytest.mark.covers("R21", "R60")
@pytest.mark.parametrize("empty", [("TAOP",), ("TAFL",), ("TAID",), ("TAOP", "TAFL", "TAID")])
def test_any_empty_tag_breaks_the_whole_turnaround_link(empty: tuple[str, ...]) -> None:
    world = a_world(a_flight(**LINK, STND="101"))
    values: dict[str, Any] = {**LINK, **dict.fromkeys(empty)}

    write = only(decided_flop(world, "TAOP", told(**values)))

    assert write.flight.values == {"STND": "101"}
    assert write.changed == dict.fromkeys(LINK)


@pytest.mark.covers("R21")
def test_a_link_that_tells_a_part_keeps_the_rest() -> None:
    world = a_world(a_flight(**LINK))

    write = only(decided_flop(world, "TAOP", told(TAFL="CA9")))

    assert write.flight.values == {**LINK, "TAFL": "CA9"}


@pytest.mark.covers("R47")
@pytest.mark.parametrize(("mvin", "kept"), [("D", "ABCD"), ("A", "CDEF"), (None, "ABCD")])
def test_a_route_keeps_the_first_four_points_of_a_departure_the_last_four_of_an_arrival(
    mvin: str | None, kept: str
) -> None:
    movement: dict[str, Any] = {} if mvin is None else {"MVIN": mvin}
    world = a_world(a_flight(**movement))
    points = tuple({"RTNO": str(at), "APCD": name} for at, name in enumerate("ABCDEF", 1))

    write = only(decided_flop(world, "ROUT", told(ROUT=points)))

    route: Any = write.flight.values["ROUT"]
    assert "".join(point["APCD"] for point in route) == kept


@pytest.mark.covers("R20", "US-04")
def test_an_unknown_flight_is_skipped_and_named() -> None:
    assert decided_flop(a_world(), "STND", told("9", STND="1")) == Skip("no-flight:9")


@pytest.mark.covers("R20", "C-5")
def test_a_deleted_flight_is_skipped_and_named() -> None:
    world = a_world(a_flight(deleted=True))

    assert decided_flop(world, "STND", told(STND="1")) == Skip("flight-deleted:700001")


@pytest.mark.covers("R60")
@pytest.mark.parametrize("order", [("1", "9"), ("9", "1")])
def test_siblings_are_applied_all_or_none(order: tuple[str, str]) -> None:
    world = a_world(a_flight("1"))

    decision = decided_flop(world, "STND", *(told(flid, STND="7") for flid in order))

    assert decision == Skip("no-flight:9")


@pytest.mark.covers("R60", "R12")
def test_siblings_of_one_flight_become_one_write() -> None:
    world = a_world(a_flight())

    write = only(decided_flop(world, "STND", told(STND="7"), told(STND="8")))

    assert write.changes == {"STND": (None, "8")}
    assert write.flight.state_version == 4


@pytest.mark.covers("R41", "INV-24")
def test_a_codeshare_changes_without_a_word_under_its_own_key() -> None:
    world = a_world(a_flight("1"), a_flight("2", MAID="1", FLNO="ZH2"))

    write = only(decided_flop(world, "STND", told("2", STND="7")))

    assert write.emission is Emission.NOTHING


@pytest.mark.covers("G-FLOP-UNMAPPED")
def test_no_flop_touches_what_connects_flights() -> None:
    tags = {tag for rule in RULES for tag in rule.tags}

    assert not tags & {"MAID", "FLNO", "SODT", "MVIN"}
    assert {rule.styp for rule in RULES if rule.side is Side.DELETE} == {"FDEL"}


@pytest.mark.covers("INV-21", "C-5", "R61")
def test_fdel_marks_the_flight_and_keeps_its_values() -> None:
    world = a_world(a_flight(STND="101"))

    write = only(deleted(world, "700001"))

    assert write.flight.state is FlightState.DELETED
    assert write.flight.values == {"STND": "101"}
    assert write.kind is EntryKind.DELETED
    assert write.changes == {"STATE": ("ACTIVE", "DELETED")}
    assert write.emission is Emission.TOMBSTONE


@pytest.mark.covers("R20")
def test_fdel_of_an_unknown_or_deleted_flight_is_no_change() -> None:
    assert deleted(a_world(a_flight("1", deleted=True)), "1", "2") == Commit(())


@pytest.mark.covers("R03", "INV-21")
def test_fdel_of_a_main_flight_leaves_its_codeshares_alone() -> None:
    world = a_world(a_flight("1"), a_flight("2", MAID="1"))

    assert list(writes(deleted(world, "1"))) == ["1"]


@pytest.mark.covers("R03", "R61", "G-MAFL")
def test_fdel_of_a_codeshare_tells_its_main_and_sends_no_tombstone() -> None:
    world = a_world(a_flight("1"), a_flight("2", MAID="1", FLNO="ZH2"))

    found = writes(deleted(world, "2"))

    assert found["2"].emission is Emission.NOTHING
    assert found["1"].kind is EntryKind.SHARED
    assert found["1"].mafl == ()
    assert found["1"].changes == {"MAFL": ([{"FLID": "2", "FLNO": "ZH2"}], [])}
    assert found["1"].emission is Emission.UPSERT
