"""What a replay may still write of a message that newer ones have overtaken (R35)."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx.domain.failure import ErrorClass
from msgx.domain.flight import EntryKind, FlightState
from msgx.domain.message import Fdel, Flop
from msgx.domain.replay import NewerSource
from services.processor.decide.flop import fdel, flop
from services.processor.decide.schedule import plan
from services.processor.decide.stale import Newer, overwritten, refusal, sparing
from services.processor.decide.world import Commit, World
from tests.support.flights import (
    DAY,
    NO_CUT,
    NOON,
    NOW,
    ZONE,
    a_flight,
    a_world,
    decided_adft,
    told,
    writes,
)

TAGS = ("STND", "FLNO", "RENO", "ACFT")
VALUES = st.dictionaries(st.sampled_from(TAGS), st.sampled_from("abc"))


def sources(world: World, newer: Newer, **values: str) -> tuple[NewerSource, ...]:
    decision = decided_adft(world, told("1", **values))
    assert isinstance(decision, Commit)
    return overwritten(decision.writes, newer)


@pytest.mark.covers("R35", "B30")
def test_a_tag_that_would_change_and_that_something_newer_has_set_names_its_source() -> None:
    world = a_world(a_flight("1", STND="1", RENO="A"))

    found = sources(world, {"1": {"STND": 6, "FLNO": 9}}, STND="2", RENO="B")

    assert found == (NewerSource(flid="1", tags=("STND",), msg_id=6),)
    refused = refusal(found)
    assert refused.error_class is ErrorClass.PROCESSING
    assert refused.text == "newer values stand: FLID 1 STND by 6"


@pytest.mark.covers("R35", "R40")
def test_the_value_that_stands_already_overwrites_nothing() -> None:
    world = a_world(a_flight("1", STND="2"))

    assert sources(world, {"1": {"STND": 6}}, STND="2", RENO="B") == ()


@pytest.mark.covers("R35", "INV-21")
def test_a_deletion_overwrites_whatever_is_newer() -> None:
    world = a_world(a_flight("1", STND="2"), a_flight("2"))
    decision = fdel(Fdel(("1", "2")), world, now=NOW)
    assert isinstance(decision, Commit)

    found = overwritten(decision.writes, {"1": {"STND": 6, "RENO": 7}})
    spared = fdel(Fdel(("1", "2")), sparing(world, {"1": {"STND": 6}}), now=NOW)

    assert found == (NewerSource(flid="1", tags=("RENO", "STND"), msg_id=7),)
    assert set(writes(spared)) == {"2"}


@pytest.mark.covers("R35")
@given(stored=VALUES, said=VALUES, newer=st.sets(st.sampled_from(TAGS)))
def test_what_is_newer_stays_and_everything_else_is_as_it_would_be(
    stored: Mapping[str, str], said: Mapping[str, str], newer: set[str]
) -> None:
    world = a_world(a_flight("1", **dict[str, Any](stored)))
    sparing_them = sparing(world, {"1": dict.fromkeys(newer, 9)} if newer else {})

    plainly, carefully = (
        writes(decided_adft(one, told("1", **said))) for one in (world, sparing_them)
    )

    free = plainly["1"].flight.values if plainly else dict(stored)
    result = carefully["1"].flight.values if carefully else dict(stored)
    assert result == {
        tag: value
        for tag in TAGS
        if (value := (stored if tag in newer else free).get(tag)) is not None
    }


@pytest.mark.covers("R35")
def test_a_link_that_is_cleared_as_a_whole_leaves_what_is_newer() -> None:
    world = a_world(a_flight("1", TAOP="CA", TAFL="CA1235", TAID="700002"))

    decision = flop(
        Flop("TAOP", (told("1", TAOP=None),)), sparing(world, {"1": {"TAFL": 8}}), now=NOW
    )

    assert writes(decision)["1"].flight.values == {"TAFL": "CA1235"}


@pytest.mark.covers("R35", "INV-29")
def test_a_flight_that_something_newer_deleted_is_neither_restored_nor_changed() -> None:
    world = a_world(a_flight("1", deleted=True, STND="1"))

    spared = decided_adft(sparing(world, {"1": {"STATE": 8}}), told("1", STND="2"))

    assert writes(spared) == {}


@pytest.mark.covers("R35", "R45")
def test_a_flight_that_came_and_went_since_is_not_made_again() -> None:
    spared = decided_adft(sparing(World(), {"1": {"STATE": 8}}), told("1", SODT=NOON))

    assert writes(spared) == {}


@pytest.mark.covers("R35", "INV-15b", "C-6")
def test_an_old_day_plan_clears_and_deletes_nothing_newer() -> None:
    world = a_world(a_flight("1", STND="1", RENO="A"), a_flight("2"), a_flight("3"))
    newer = {"1": {"RENO": 8}, "2": {"STND": 8}}

    found = writes(
        plan(
            [told("1", SODT=NOON)],
            ["2", "3"],
            sparing(world, newer),
            zone=ZONE,
            day_cut=NO_CUT,
            now=NOW,
        )
    )

    assert set(found) == {"1", "3"}
    assert "STND" not in found["1"].flight.values
    assert found["1"].flight.values["RENO"] == "A"
    assert found["3"].kind is EntryKind.DELETED


@pytest.mark.covers("R35", "INV-12")
def test_a_newer_schedule_time_keeps_its_operation_day() -> None:
    world = a_world(a_flight("1", day=None))

    spared = decided_adft(sparing(world, {"1": {"SODT": 8}}), told("1", SODT=NOON, STND="2"))
    plainly = decided_adft(world, told("1", SODT=NOON, STND="2"))

    assert writes(plainly)["1"].flight.operation_day == DAY
    assert writes(spared)["1"].flight.operation_day is None
    assert writes(spared)["1"].flight.state is FlightState.ACTIVE
