"""The dispatcher's pure decisions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from msgx.domain.delivery import EventType, Target
from msgx.domain.event import Event
from msgx.domain.failure import ErrorClass, Fault
from services.dispatcher.decide.record import Record, record
from services.dispatcher.decide.wave import halves, parts, wait_after, without

EVENT = Event(
    event_id=31,
    partition_key="7",
    event_type=EventType.UPSERT,
    payload_version=1,
    payload='{"FLID": "7"}',
    size=13,
    state_version=4,
    msg_id=9,
    created_at=datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC),
    attempts=0,
    traceparent=None,
)


def made(event: Event, target: Target = Target.MSG) -> Record:
    return record(event, target, environment="test", max_bytes=100)


@pytest.mark.covers("R28", "R61")
@pytest.mark.parametrize(
    ("target", "event_type", "told"),
    [
        (Target.MSG, EventType.UPSERT, "msgx.flight.changed.v1"),
        (Target.SCHD, EventType.UPSERT, "msgx.flight.state.v1"),
        (Target.MSG, EventType.TOMBSTONE, "msgx.flight.deleted.v1"),
        (Target.SCHD, EventType.TOMBSTONE, "msgx.flight.deleted.v1"),
    ],
)
def test_the_type_says_what_happened_on_which_topic(
    target: Target, event_type: EventType, told: str
) -> None:
    payload = None if event_type is EventType.TOMBSTONE else EVENT.payload

    sent = made(replace(EVENT, event_type=event_type, payload=payload), target)

    assert ("ce_type", told.encode()) in sent.headers
    assert (sent.value is None) == (event_type is EventType.TOMBSTONE)


@pytest.mark.parametrize(
    ("changed", "error_class"),
    [
        pytest.param({"payload_version": 2}, ErrorClass.CODEC_ERROR, id="newer form (B28)"),
        pytest.param({"payload_version": 0}, ErrorClass.CODEC_ERROR, id="older form (B28)"),
        pytest.param({"size": 101}, ErrorClass.TOO_LARGE, id="too large (B74)"),
        pytest.param({"partition_key": " "}, ErrorClass.SERIALISATION, id="no key (B69)"),
    ],
)
def test_what_can_never_be_sent_is_a_fault(
    changed: dict[str, object], error_class: ErrorClass
) -> None:
    event = replace(EVENT, **changed)  # type: ignore[arg-type]

    with pytest.raises(Fault) as raised:
        made(event)

    assert raised.value.error_class is error_class


@pytest.mark.covers("B74")
def test_a_value_of_the_exact_limit_is_sent() -> None:
    assert made(replace(EVENT, size=100)).event.size == 100


def wave(*rows: tuple[str, int]) -> list[Record]:
    return [
        made(replace(EVENT, event_id=number, partition_key=flid, attempts=attempts))
        for number, (flid, attempts) in enumerate(rows)
    ]


def ids(records: object) -> list[int]:
    assert isinstance(records, list)
    return [one.event.event_id for one in records]


@pytest.mark.covers("B01", "R29")
def test_events_refused_before_go_first_and_alone() -> None:
    given = wave(("1", 0), ("2", 3), ("2", 0), ("3", 1), ("4", 0))

    assert [ids(part) for part in parts(given)] == [[1], [3], [0, 2, 4]]
    assert [ids(part) for part in parts(given[1:2])] == [[1]]


@pytest.mark.covers("R29", "B03")
def test_an_event_refused_before_stays_behind_an_earlier_one_of_its_flight() -> None:
    # Under `continue` an operator has requeued the earlier one meanwhile.
    given = wave(("1", 0), ("2", 0), ("2", 3), ("3", 1), ("3", 1))

    assert [ids(part) for part in parts(given)] == [[3], [0, 1, 2, 4]]


@pytest.mark.covers("R29")
def test_a_refused_wave_is_halved_in_order_and_nothing_is_lost() -> None:
    given = wave(*[(str(flid), 0) for flid in range(5)])

    first, second = halves(given)

    assert [*first, *second] == given
    assert first
    assert second


@pytest.mark.covers("B01")
def test_a_held_unit_leaves_the_rest_of_its_wave() -> None:
    given = wave(("1", 0), ("2", 0), ("1", 0), ("3", 0))

    assert ids(without(given, {b"1"})) == [1, 3]


@pytest.mark.covers("B24")
def test_every_refusal_but_the_last_has_its_rung() -> None:
    ladder = [timedelta(seconds=1), timedelta(seconds=2)]

    waits = [wait_after(attempts, ladder, 3) for attempts in (1, 2, 3, 4)]

    assert waits == [*ladder, None, None]
