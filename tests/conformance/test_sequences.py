"""What holds after any messages in any order (R12, INV-13, INV-24, G-MAFL)."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msgx.domain.flight import FlightState, Sharer, encode, render
from msgx.domain.journal import fold
from services.processor.decide.writes import mafl
from tests.conformance.sequences import (
    FLIDS,
    OTHERS,
    Airport,
    Payload,
    messages,
    without_times,
)
from tests.support.flights import ZONE

SEQUENCES = st.lists(messages(), max_size=14)
_MANY = settings(max_examples=60)


def _taken(*sequence: Payload) -> Airport:
    airport = Airport()
    for message in sequence:
        airport.take(message)
    return airport


@pytest.mark.covers("R12", "INV-13", "R40", "INV-24")
@_MANY
@given(SEQUENCES)
def test_after_every_message_the_journal_folds_to_the_state(sequence: list[Payload]) -> None:
    airport = Airport()
    for message in sequence:
        before = dict(airport.flights)
        writes = airport.take(message)

        assert len({write.flight.flid for write in writes}) == len(writes)
        for write in writes:
            old = before.get(write.flight.flid)
            assert write.flight.state_version == (0 if old is None else old.state_version) + 1
            assert write.changes, "a write without a change"
        for flid, flight in airport.flights.items():
            folded = fold(flid, airport.journals[flid])
            assert folded.values == flight.values
            assert (folded.state, folded.operation_day) == (flight.state, flight.operation_day)
            assert (folded.state_version, folded.life) == (flight.state_version, flight.life)
            assert folded.mafl == mafl(airport.world, flight)


@pytest.mark.covers("R40", "INV-13")
@_MANY
@given(SEQUENCES, messages())
def test_the_same_message_again_changes_nothing(
    sequence: list[Payload], message: Payload
) -> None:
    airport = _taken(*sequence, message)
    before = dict(airport.flights)

    assert airport.take(message) == ()
    assert airport.flights == before


@pytest.mark.covers("INV-24", "R41", "R31", "R61", "INV-22")
@_MANY
@given(SEQUENCES)
def test_what_was_sent_leaves_the_shown_flights_and_no_other(sequence: list[Payload]) -> None:
    airport = _taken(*sequence)

    topic: dict[str, str] = {}
    for flid, change, state in airport.sent:
        if state is None:
            assert change is None
            assert flid in topic, "a tombstone for a key that has no record"
            del topic[flid]
        else:
            topic[flid] = state
    shown = {
        flid: encode(render(one, mafl(airport.world, one), ZONE))
        for flid, one in airport.flights.items()
        if one.state is FlightState.ACTIVE and one.values.get("MAID") in (None, flid)
    }
    assert topic == airport.redis == shown


@pytest.mark.covers("G-MAFL", "INV-22", "R60")
@_MANY
@given(SEQUENCES)
def test_mafl_is_what_a_derivation_from_nothing_gives(sequence: list[Payload]) -> None:
    airport = _taken(*sequence)

    for flid, main in airport.flights.items():
        shares = sorted(
            (
                Sharer(one.flid, _text(one.values.get("FLNO")))
                for one in airport.flights.values()
                if one.state is FlightState.ACTIVE
                and one.values.get("MAID") == flid
                and one.flid != flid
            ),
            key=lambda one: int(one.flid),
        )
        if main.shown:
            assert list(fold(flid, airport.journals[flid]).mafl) == shares


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


@pytest.mark.covers("INV-3", "US-04")
@_MANY
@given(
    st.lists(messages(FLIDS, plans=False), max_size=6),
    st.lists(messages(OTHERS, plans=False), max_size=6),
    st.randoms(use_true_random=False),
)
def test_two_orders_of_independent_flights_end_alike(
    ones: list[Payload], others: list[Payload], random: Random
) -> None:
    mixed: list[Payload] = []
    left, right = list(ones), list(others)
    while left or right:
        mixed.append((left if left and (not right or random.random() < 0.5) else right).pop(0))

    first, second = _taken(*ones, *others), _taken(*mixed)

    assert {flid: without_times(one) for flid, one in first.flights.items()} == {
        flid: without_times(one) for flid, one in second.flights.items()
    }
    assert first.redis.keys() == second.redis.keys()


@pytest.mark.covers("R30", "R28")
@_MANY
@given(SEQUENCES)
def test_the_same_order_gives_the_same_bytes(sequence: list[Payload]) -> None:
    first, second = _taken(*sequence), _taken(*sequence)

    assert first.sent == second.sent
    assert first.redis == second.redis
