"""What a message leaves for the topics: unreleased until it is finished, only forward."""

import json
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from msgx.domain.processing import Trigger
from msgx.store import attempt, flight_journal
from msgx.store.outbox import Event
from msgx.store.proc_state import Outcome, StaleState
from tests.support.messages import adft, fdel, fltr, stand
from tests.support.processor import Line
from tests.support.relay import relayed

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

DONE = Outcome(trigger=Trigger.SUCCEED)


def add(line: Line, *events: Event, msg_id: int = 900) -> None:
    now = line.one("SELECT msgx_now()")
    with line.pg.transaction():
        attempt.write(line.pg, [], events, msg_id=msg_id, now=now, traceparent="00-a-b-01")


def latest(line: Line) -> dict[str, Any]:
    (row,) = line.events("KAFKA:schd")
    return row


@pytest.mark.covers("R06", "US-03", "INV-23")
def test_events_are_released_by_the_end_of_their_message_and_not_before(line: Line) -> None:
    with relayed(line.places.redis) as (relay, url):
        line.start(redis_url=url, epoch_check=timedelta(hours=1))
        line.run(adft(fltr("1")))
        line.worker.step()
        relay.cut()
        head = line.land(stand("7", "1"))
        line.worker.step()
        assert line.events()[-1]["msg_id"] == head
        assert line.events()[-1]["released_at"] is None
        assert latest(line)["released_at"] is None

        relay.restore()
        line.release_head()
        line.run()

    finished = line.row(head)["finished_at"]
    assert line.events()[-1]["released_at"] == finished
    assert latest(line)["released_at"] == finished


@pytest.mark.covers("R29", "US-08")
def test_the_end_of_a_message_that_released_events_wakes_the_dispatcher(line: Line) -> None:
    line.pg.execute("LISTEN msgx_released")

    line.run(adft(fltr("1")))

    assert list(line.pg.notifies(timeout=10, stop_after=1))


@pytest.mark.covers("R28", "R40", "B04")
def test_a_change_says_what_changed_and_the_state_says_all(line: Line) -> None:
    line.pg.execute("UPDATE proc_state SET traceparent = '00-1-2-01'")
    line.run(adft(fltr("1", "<FLNO>CA1</FLNO><STND>7</STND>")), stand("8", "1"))
    line.run(adft(fltr("1", "<STND/>"), fltr("2", "<MAID>1</MAID><FLNO>ZH2</FLNO>")))

    told = [json.loads(event["payload"]) for event in line.events()]

    assert [(one["KIND"], one["STYP"], one["STATE_VERSION"]) for one in told] == [
        ("CREATED", "ADFT", 1),
        ("CHANGED", "STND", 2),
        ("CHANGED", "ADFT", 3),
    ]
    assert told[1]["CHANGES"] == {"STND": "8"}
    assert told[2]["CHANGES"] == {"STND": None, "MAFL": [{"FLID": "2", "FLNO": "ZH2"}]}
    state = json.loads(latest(line)["payload"])
    assert (state["STATE_VERSION"], state["FLNO"]) == (3, "CA1")
    assert "STND" not in state
    ids = [event["event_id"] for event in line.events()]
    assert ids == sorted(ids)
    assert latest(line)["event_id"] > ids[-1]


@pytest.mark.covers("R61", "INV-21", "R31", "US-06")
def test_a_deletion_is_a_null_on_both_topics_once(line: Line) -> None:
    line.run(adft(fltr("1")), fdel("1"), fdel("1"))

    last = line.events()[-1]

    assert len(line.events()) == 2
    for row in (last, latest(line)):
        assert (row["event_type"], row["payload"], row["state_version"]) == (
            "TOMBSTONE",
            None,
            2,
        )


@pytest.mark.covers("R41", "R61")
def test_a_codeshare_has_no_event_in_its_whole_life(line: Line) -> None:
    line.run(adft(fltr("2", "<MAID>1</MAID>")), stand("7", "2"), fdel("2"))

    assert line.flight("2").state_version == 3
    assert line.events() == []
    assert line.events("KAFKA:schd") == []


@pytest.mark.covers("R29", "B11")
def test_the_latest_state_is_replaced_in_place_and_only_forward(line: Line) -> None:
    add(line, Event(flid="1", state_version=5, change="c5", state="s5"))
    first = latest(line)["event_id"]
    add(line, Event(flid="1", state_version=7, change="c7", state="s7"), msg_id=901)
    seventh = latest(line)

    add(line, Event(flid="1", state_version=6, change="c6", state="s6"), msg_id=902)

    assert latest(line) == seventh
    assert seventh["event_id"] > first
    assert (seventh["payload"], seventh["msg_id"]) == ("s7", 901)
    assert [event["payload"] for event in line.events()] == ["c5", "c7", "c6"]


@pytest.mark.covers("R29")
def test_a_new_generation_revives_a_dead_latest_state(line: Line) -> None:
    add(line, Event(flid="1", state_version=5, change="c5", state="s5"))
    line.pg.execute(
        "UPDATE msg_event SET state = 'DEAD', attempts = 8, error_class = 'TOO_LARGE',"
        " last_error = 'too large', released_at = now() WHERE target = 'KAFKA:schd'"
    )

    add(line, Event(flid="1", state_version=6, change="c6", state="s6"), msg_id=901)

    row = latest(line)
    assert (row["state"], row["attempts"], row["released_at"]) == ("PENDING", 0, None)
    assert (row["error_class"], row["last_error"]) == (None, None)


@pytest.mark.covers("R06")
def test_a_release_frees_the_events_of_one_message_only(line: Line) -> None:
    line.register(901)
    add(line, Event(flid="1", state_version=1, change="c", state="s"), msg_id=901)
    add(line, Event(flid="2", state_version=1, change="c", state="s"), msg_id=902)

    attempt.end(line.pg, 901, DONE, term=line.term())

    free = {event["partition_key"]: event["released_at"] is not None for event in line.events()}
    assert free == {"1": True, "2": False}


@pytest.mark.covers("INV-3", "B31", "INV-20b")
def test_two_writers_cannot_both_finish_one_message(line: Line) -> None:
    line.register(5)
    with psycopg.connect(line.places.dsn, autocommit=True) as other:
        attempt.end(other, 5, DONE, term=line.term())

        late = Outcome(trigger=Trigger.SKIP, reason="late")
        with pytest.raises(StaleState):
            attempt.end(line.pg, 5, late, term=line.term())
        with pytest.raises(StaleState):
            attempt.end(line.pg, 6, DONE, term=line.term())

    assert line.end(5) == ("SUCCEEDED", None, None)


@pytest.mark.covers("R12", "INV-13")
def test_a_message_has_one_entry_for_a_flight_and_a_version_is_taken_once(line: Line) -> None:
    (done,) = line.run(adft(fltr("1")))
    one = line.flight("1")
    kind = flight_journal.entries(line.pg, done)["1"]
    now = line.one("SELECT msgx_now()")

    for msg_id in (done, done + 1):
        with pytest.raises(psycopg.errors.UniqueViolation):
            attempt.write(
                line.pg, [(one, kind, {})], [], msg_id=msg_id, now=now, traceparent=None
            )

    assert line.one("SELECT count(*) FROM flight_journal") == 1


@pytest.mark.covers("INV-12", "INV-13")
def test_the_database_keeps_day_and_version_by_itself(line: Line) -> None:
    line.run(adft(fltr("1")), stand("7", "1"))

    for change in ("operation_day = '2026-01-06'", "operation_day = NULL", "state_version = 1"):
        with pytest.raises(psycopg.errors.CheckViolation):
            line.pg.execute(f"UPDATE flight_schd SET {change}")
