"""The comparison: silent when all agree, one sentence for each difference, never endless."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache

import pytest

from tests.aodb import Day, Played, build_day
from tests.aodb.verify import (
    MOST_SENTENCES,
    Row,
    compare_flights,
    compare_messages,
    compare_reference,
    shown_flights,
)


@cache
def day() -> Day:
    return build_day(seed=4, flights=20)


@cache
def played() -> Played:
    return Played({message.index: 1000 + 2 * message.index for message in day().messages}, 1.0)


def obedient() -> Iterator[Row]:
    """The rows of a system that does everything right."""
    for message in day().messages:
        wanted = message.expected
        other = "" if wanted.other is None else str(played().ids[wanted.other])
        reason = f"{wanted.reason_prefix or ''}{other}"
        if wanted.state == "DEAD":
            reason = f"conflicts-with:{other}" if other else "because"
        error_class = wanted.reason_prefix if wanted.state == "DEAD" else None
        yield played().ids[message.index], wanted.state, error_class, reason or None


def test_a_system_that_does_everything_right_draws_no_sentence() -> None:
    assert compare_messages(day(), played(), obedient()) == []
    assert compare_flights(day(), day().flights) == []
    assert compare_flights(day(), shown_flights(day()), shown_only=True) == []
    assert compare_reference(day(), day().reference) == []


@pytest.mark.covers("INV-26")
def test_every_wrong_record_of_reference_data_is_told() -> None:
    found = deepcopy(dict(day().reference))
    gone, changed = ("AIRL", "MU"), ("ARPT", "PEK")
    del found[gone]
    found[changed] |= {"COUC": 1, "MORE": None}
    found["COUL", "ZZ"] = {}

    told = compare_reference(day(), found)

    wanted = day().reference[changed]["COUC"]
    assert told == [
        "record AIRL MU is missing",
        f"record ARPT PEK: COUC is 1, expected {wanted!r}",
        "record ARPT PEK: MORE is None, expected 'absent'",
        "record COUL ZZ should not be there",
    ]


@pytest.mark.parametrize(
    ("state", "change", "sentence"),
    [
        ("SUCCEEDED", ("PENDING", None, None), "expected SUCCEEDED"),
        ("SUCCEEDED", ("SUCCEEDED", None, "no-change"), "it changed a value"),
        ("SKIPPED", ("SKIPPED", None, "operator"), "expected "),
        ("DEAD", ("DEAD", "CODEC_ERROR", "x"), "expected class"),
    ],
)
def test_a_wrong_end_is_told(
    state: str, change: tuple[str, str | None, str | None], sentence: str
) -> None:
    rows = list(obedient())
    place = next(
        n
        for n, message in enumerate(day().messages)
        if message.expected.state == state
        and (state != "SUCCEEDED" or message.expected.reason_prefix is None)
    )
    rows[place] = (rows[place][0], *change)

    (told,) = compare_messages(day(), played(), rows)

    assert f"message {rows[place][0]} " in told
    assert sentence in told


@pytest.mark.covers("R01")
@pytest.mark.parametrize("state", ["SKIPPED", "DEAD"])
def test_a_repeat_must_name_the_row_it_repeats(state: str) -> None:
    rows = list(obedient())
    place = next(
        n
        for n, message in enumerate(day().messages)
        if message.expected.other is not None and message.expected.state == state
    )
    msg_id, _, error_class, _ = rows[place]
    rows[place] = (msg_id, state, error_class, "duplicate-of:1")

    (told,) = compare_messages(day(), played(), rows)

    assert "expected duplicate-of:" in told or "expected conflicts-with:" in told


def test_missing_and_surplus_records_are_told() -> None:
    rows = [*list(obedient())[1:], (1001, "SUCCEEDED", None, None)]

    told = compare_messages(day(), played(), rows)

    assert len(told) == 2
    assert "has no record" in told[0]
    assert "message 1001 has a record but was never committed" in told[1]


def test_flights_that_differ_lack_or_exceed_are_told() -> None:
    found = deepcopy(dict(day().flights))
    first, second = list(shown_flights(day()))[:2]
    found[first]["STND"] = "nowhere"
    del found[second]
    found["999"] = {"FLID": "999", "STATE": "ACTIVE"}

    told = compare_flights(day(), found)

    assert len(told) == 3
    assert any(f"flight {first}: STND is 'nowhere'" in sentence for sentence in told)
    assert f"flight {second} is missing" in told
    assert "flight 999 should not be there" in told


def test_version_and_time_of_change_are_not_compared() -> None:
    found = {
        flid: flight | {"STATE_VERSION": 9, "UPDATED_AT": "now"}
        for flid, flight in day().flights.items()
    }

    assert compare_flights(day(), found) == []


def test_the_list_of_sentences_has_an_end() -> None:
    told = compare_messages(day(), played(), [])

    assert len(told) == MOST_SENTENCES + 1
    assert told[-1] == f"… and {len(day().messages) - MOST_SENTENCES} more"
