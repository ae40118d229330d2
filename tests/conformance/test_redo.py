"""A redo under other parameters: what is written stays written, and is shown (R12, R42)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tests.conformance.bench import Bench, text_of
from tests.conformance.cell import Crash, Place, Text
from tests.conformance.checking import shown_states
from tests.conformance.flop import ALL_GROUPS
from tests.conformance.parts import PLAN, adft, dnld, flop, fltr

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

EACH_ALONE = {"schd": {"batch": 1}}


def _shown(bench: Bench, place: Place) -> set[str]:
    return {letter for letter, flid in place.flids.items() if flid in bench.shown()}


@pytest.mark.covers("R12", "R42", "R21", "INV-23")
def test_a_committed_flop_succeeds_though_its_group_is_off_now(bench: Bench) -> None:
    place = Place(2001)
    bench.wear(ALL_GROUPS)
    bench.run(text_of(adft(fltr("A")), place))
    text = text_of(flop("EXSS", "<EXSC>E1</EXSC>"), place)

    msg_id = bench.run_crashing(text, place, Crash(at="finish"), then={})

    assert bench.end(msg_id) == ("SUCCEEDED", None, None)
    assert shown_states(bench, place) == {"A": place.state(PLAN | {"EXSC": "E1"})}
    assert bench.shown()[place.flids["A"]]["EXSC"] == "E1"


@pytest.mark.covers("R12", "R19", "R18", "B102")
@pytest.mark.parametrize(
    ("number", "then"),
    [
        (2011, {"airport": {"day_cut": timedelta(hours=13)}}),
        (2012, {"schd": {"max_removal_ratio": 0.0}}),
    ],
)
def test_a_half_written_plan_is_not_refused_by_other_parameters(
    bench: Bench, number: int, then: Mapping[str, Mapping[str, Any]]
) -> None:
    place = Place(number)
    bench.wear(EACH_ALONE)
    bench.run(text_of(adft(fltr("C"), fltr("D")), place))
    text = text_of(dnld(fltr("A"), fltr("B", "<STND>7</STND>")), place)
    versions = {"A": 1, "B": 1}

    msg_id = bench.run_crashing(text, place, Crash(at="B"), then=then)

    assert bench.end(msg_id) == ("SUCCEEDED", None, None)
    world = {letter: bench.flight(place.flids[letter]) for letter in versions}
    assert {letter: one.state_version for letter, one in world.items()} == versions
    assert world["A"].operation_day == place.day
    assert world["B"].values["STND"] == "7"
    assert _shown(bench, place) >= {"A", "B"}


@pytest.mark.covers("R42", "R12")
@pytest.mark.parametrize(
    ("number", "text", "end"),
    [
        (2021, flop("ESTT", "<ESTT>x</ESTT>"), ("SUCCEEDED", None)),
        (2022, adft(fltr("A", "<ESTT>x</ESTT>")), ("SUCCEEDED", None)),
        (2023, dnld(fltr("A", "<ESTT>x</ESTT>")), ("DEAD", "PROTOCOL")),
        (2024, flop("WHAT", "<WHAT/>"), ("SUCCEEDED", None)),
    ],
)
def test_what_a_message_has_written_is_shown_though_it_cannot_be_read_any_more(
    bench: Bench, number: int, text: Text, end: tuple[str, str | None]
) -> None:
    place = Place(number)
    bench.wear({})
    (first,) = bench.run(text_of(adft(fltr("A")), place))
    bench.pg.execute(
        "UPDATE flight_journal SET msg_id = %s WHERE msg_id = %s", (first + 1, first)
    )
    bench.redis.hdel(bench.keys.flights, place.flids["A"])
    bench.redis.hdel(bench.keys.versions, place.flids["A"])

    (msg_id,) = bench.run(text_of(text, place))

    assert msg_id == first + 1
    assert bench.end(msg_id)[:2] == end
    assert _shown(bench, place) == {"A"}
