"""The simulator as the AODB that is asked: its answers, and what the oracle then expects."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from msgx.codec.encode import encode
from msgx.domain.requests import Wish
from tests.aodb.answers import FLIGHTS_A_DAY, Answerer
from tests.unit.codec.test_encode import AT, FORM, PLAN

NOW = datetime.fromisoformat("2026-06-15T12:06")
NOON = datetime(2026, 6, 15, 4, tzinfo=UTC)


def asked(wish: Wish) -> str:
    return encode(wish, FORM, seqn="000042", at=AT)


@pytest.mark.covers("US-09")
def test_a_day_plan_is_answered_whole_and_expected_to_succeed() -> None:
    answerer = Answerer(1)

    answer = answerer.answer(asked(PLAN), NOW)

    assert "<STYP>RESP</STYP>" in answer.text
    assert f"<RECS>{FLIGHTS_A_DAY}</RECS>" in answer.text
    assert answer.expected.state == "SUCCEEDED"
    assert {one["OPERATION_DAY"] for one in answerer.flights.values()} == {"2026-06-15"}
    assert Answerer(1).answer(asked(PLAN), NOW) == answer


@pytest.mark.covers("US-09", "R17")
def test_of_days_that_are_asked_in_part_every_flight_is_told_and_none_is_missed() -> None:
    answerer = Answerer(1)
    answerer.answer(asked(PLAN), NOW)
    first = answerer.flights
    noon = replace(PLAN, begin=NOON, end=NOON + timedelta(hours=23, minutes=59))

    answer = answerer.answer(asked(noon), NOW)

    assert answer.expected.state == "SUCCEEDED"
    told = {flid: one for flid, one in answerer.flights.items() if flid not in first}
    assert {one["OPERATION_DAY"] for one in told.values()} == {"2026-06-16"}
    kept = {one["STATE"] for flid, one in answerer.flights.items() if flid in first}
    assert kept == {"ACTIVE"}


@pytest.mark.covers("US-09")
@pytest.mark.parametrize(
    ("wish", "keys"),
    [
        (Wish.reference("TLST"), ["T2", "T3", "T5"]),
        (Wish.reference("RSTA", "GATE"), ["GATE:01", "GATE:02"]),
        (Wish.reference("RSTA"), ["BELT:03", "CNTR:A01", "GATE:01", "GATE:02", "STND:011"]),
    ],
)
def test_reference_data_is_answered_with_what_was_asked(wish: Wish, keys: list[str]) -> None:
    answerer = Answerer(1)

    answer = answerer.answer(asked(wish), NOW)

    assert answer.expected.state == "SUCCEEDED"
    assert sorted(answerer.reference) == [(wish.styp, key) for key in keys]


@pytest.mark.parametrize(
    "text",
    [
        "<MSG",
        "<MSG/>",
        asked(PLAN).replace("RQFD", "FLOP"),
        asked(PLAN).replace("15JUN260000", "2026-06-15"),
        asked(PLAN).replace("15JUN260000", "15JUL260000"),
    ],
)
def test_what_is_no_request_is_not_answered(text: str) -> None:
    with pytest.raises(ValueError, match=r"request|span|well-formed"):
        Answerer(1).answer(text, NOW)
