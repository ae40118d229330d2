"""Requeue, discard and pause as they reach the topics; the service as a process with its
token."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import psycopg
import pytest

from msgx.domain.delivery import Target
from msgx.rpc.v1 import delivery_pb2 as pb
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.wake import Wake
from tests.support.calls import TOKEN
from tests.support.control import Caller
from tests.support.dispatcher import (
    add,
    changed,
    consume,
    nothing_pending,
    relaying,
    settle,
    states,
    step,
    versions,
)
from tests.support.dispatcher_process import lines, running, started
from tests.support.operator import ALL, Operator, operating
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.kafka]
REPLACED = """
    UPDATE msg_event
       SET event_id = nextval('event_id_seq'), state_version = %s, state = 'PENDING',
           sent_at = NULL
     WHERE target = 'KAFKA:schd' AND partition_key = '1'
"""
LISTENS = """
    SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'msgx-dispatcher-wake'
       AND query LIKE 'LISTEN%' AND state = 'idle'
"""
LONG = '"' + "x" * 60_000 + '"'


@pytest.mark.covers("B01", "R29", "R55")
def test_what_waits_behind_a_dead_event_follows_it_when_it_is_requeued(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    small = changed(given, max_message_bytes=50_000)
    dead = add(pg, "7", 1, payload=LONG)
    behind = [add(pg, "7", version) for version in (2, 3)]
    with operating(given) as (operator, leadership):
        with relaying(small, leadership=leadership) as relay:
            settle(relay, lambda: states(pg)[dead] == "DEAD", "dead")
            step(relay)
        assert [one.events_behind for one in operator.held()] == [2]

        with relaying(given, leadership=leadership) as relay:  # the limit was raised
            assert operator.requeue(filter=ALL, limit=10) == 1
            settle(relay, lambda: set(states(pg).values()) == {"SENT"}, "all sent")
        assert operator.held() == []

    assert [one.event_id for one in consume(given)] == [dead, *behind]


@pytest.mark.covers("B01", "R29", "R55")
def test_what_waits_behind_a_dead_event_goes_when_it_is_discarded(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    small = changed(given, max_message_bytes=50_000)
    first, dead = add(pg, "7", 1), add(pg, "7", 2, payload=LONG)
    behind = add(pg, "7", 3)
    with (
        operating(given) as (operator, leadership),
        relaying(small, leadership=leadership) as relay,
    ):
        settle(relay, lambda: states(pg)[dead] == "DEAD", "dead")
        step(relay)
        assert states(pg)[behind] == "PENDING"

        assert operator.discard(filter=ALL, limit=10) == 1
        settle(relay, lambda: states(pg)[behind] == "SENT", "the one behind sent")

    assert states(pg) == {first: "SENT", dead: "DISCARDED", behind: "SENT"}
    assert versions(consume(given), "7") == [1, 3]


@pytest.mark.covers("B03", "R29", "R55")
def test_under_continue_what_is_requeued_goes_before_what_was_refused_behind_it(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    given = changed(given, after_dead="continue")
    dead, waits = add(pg, "7", 1, state="DEAD"), add(pg, "7", 2, attempts=2)
    with operating(given) as (operator, leadership):
        assert operator.requeue(filter=ALL, limit=10) == 1
        with relaying(given, leadership=leadership) as relay:
            settle(relay, nothing_pending(pg), "both sent")

    assert [one.event_id for one in consume(given)] == [dead, waits]


@pytest.mark.covers("R29", "R55")
def test_a_dead_state_is_revived_by_the_next_generation_without_anybody(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    from msgx.store import attempt
    from msgx.store.outbox import Event

    def commit(version: int, state: str) -> None:
        event = Event(flid="7", state_version=version, change="{}", state=state)
        with pg.transaction():
            now = pg.execute("SELECT msgx_now()").fetchone()
            assert now is not None
            attempt.write(pg, [], [event], msg_id=version, now=now[0], traceparent=None)
        pg.execute("UPDATE msg_event SET released_at = msgx_now()")

    small = changed(given, max_message_bytes=50_000)
    commit(1, LONG)
    with (
        operating(given) as (operator, leadership),
        relaying(small, Target.SCHD, leadership=leadership) as relay,
    ):
        settle(relay, lambda: "DEAD" in states(pg).values(), "dead")
        (old,) = operator.dead()
        commit(2, '{"FLID": "7"}')

        assert operator.requeue(event=old.key) == 0
        assert operator.dead() == []
        settle(relay, lambda: len(consume(given, Target.SCHD)) == 1, "the second generation")

    assert versions(consume(given, Target.SCHD), "7") == [2]
    assert pg.execute(
        "SELECT attempts, failed_at, error_class FROM msg_event WHERE target = 'KAFKA:schd'"
    ).fetchone() == (0, None, None)


@pytest.mark.covers("R29", "R55")
def test_a_pause_in_a_wave_that_is_over_at_once_swaps_nothing(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    refused_before, behind = add(pg, "7", 1, attempts=1), add(pg, "7", 2)
    told = iter([True])  # at the part of the first event, and at no other

    with relaying(given, stopping=lambda: next(told, False)) as relay:
        settle(relay, lambda: set(states(pg).values()) == {"SENT"}, "all sent")

    assert [one.event_id for one in consume(given)] == [refused_before, behind]


@pytest.mark.system
@pytest.mark.covers("R55", "R14")
def test_a_paused_topic_rests_over_a_restart_and_the_other_one_flows(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    with (
        running(given, tmp_path / "first", MSGX_ADMIN__TOKEN=TOKEN),
        calling(tmp_path / "first") as caller,
    ):
        until(lambda: caller.health() == "SERVING", "it serves")
        assert caller.pause("msg")
        until(lambda: caller.state("msg") == "PAUSED", "the topic rests")
        event, state = add(pg, "7", 1), add(pg, "7", 1, target=Target.SCHD)
        until(lambda: states(pg)[state] == "SENT", "schd sent")
    with (
        running(given, tmp_path / "again", MSGX_ADMIN__TOKEN=TOKEN),
        calling(tmp_path / "again") as caller,
    ):
        until(lambda: caller.health() == "SERVING", "it serves, the topic at rest")
        assert states(pg) == {event: "PENDING", state: "SENT"}

        assert caller.resume("msg")
        until(lambda: states(pg)[event] == "SENT", "msg sent")

    assert versions(consume(given), "7") == [1]


@pytest.mark.system
@pytest.mark.covers("R29", "R37", "US-08")
def test_states_go_by_the_period_full_pages_at_once_and_only_the_latest_of_each_flight(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    first = [add(pg, str(flid), 1, target=Target.SCHD) for flid in range(1, 6)]
    slow = {"MSGX_SCHD__FLUSH_PERIOD": "PT1H", "MSGX_SCHD__FLUSH_LIMIT": "2"}
    with (
        running(given, tmp_path / "log", MSGX_ADMIN__TOKEN=TOKEN, **slow),
        calling(tmp_path / "log") as caller,
    ):
        until(nothing_pending(pg), "the pages sent")
        until(lambda: pg.execute(LISTENS).fetchone(), "topic msg waits for what is released")
        for version in (2, 3):
            pg.execute(REPLACED, (version,))
            event = add(pg, "9", version)
            until(partial(is_sent, pg, event), "a change sent meanwhile")
        state = [event for event, told in states(pg).items() if told == "PENDING"]
        assert len(state) == 1

        caller.wake("schd")
        until(lambda: len(waves(tmp_path / "log", "schd")) >= 4, "the latest state sent")

    assert versions(consume(given, Target.SCHD), "1") == [1, 3]
    assert waves(tmp_path / "log", "schd") == [
        [2, first[1]], [2, first[3]], [1, first[4]], [1, *state],
    ]  # fmt: skip


@pytest.mark.covers("R29", "US-08")
def test_what_is_released_ends_the_wait_for_it(
    pg: "psycopg.Connection[Any]", topicless: DispatcherSettings
) -> None:
    with closing(Wake(topicless.database)) as wake, ThreadPoolExecutor() as pool:
        waiting = pool.submit(wake.wait, timedelta(hours=1))
        until(lambda: pg.execute(LISTENS).fetchone(), "it listens")
        pg.execute("SELECT pg_notify('msgx_released', '')")  # as the end of a message does

        assert waiting.result(30) == timedelta()


def is_sent(pg: "psycopg.Connection[Any]", event: int) -> bool:
    return states(pg)[event] == "SENT"


def waves(log: Path, topic: str) -> list[list[int]]:
    """Return the last event of each wave of a topic, and how many it had, by the log."""
    told = [json.loads(line) for line in lines(log) if line.startswith("{")]
    return [
        [line["events"], line["last_event_id"]]
        for line in told
        if line["event"] == "delivered" and line["topic"].endswith(topic)
    ]


@contextmanager
def calling(log: Path) -> Iterator[Caller]:
    """Yield an operator of the service that writes this log."""
    with grpc.insecure_channel(f"127.0.0.1:{started(log)['port']}") as channel:
        yield Caller(channel)


@pytest.mark.system
@pytest.mark.covers("R55", "R35")
def test_the_service_answers_operators_if_it_has_a_token_and_else_has_no_such_service(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    dead = add(pg, "7", 1, state="DEAD")
    with running(given, tmp_path / "with", MSGX_ADMIN__TOKEN=TOKEN):
        operator = Operator(started(tmp_path / "with")["port"])
        until(lambda: "leads" in "\n".join(lines(tmp_path / "with")), "it leads")
        assert operator.requeue(filter=ALL, limit=1) == 1
        until(lambda: states(pg)[dead] == "SENT", "the event sent")
        operator.close()
    with running(given, tmp_path / "without"):
        stranger = Operator(started(tmp_path / "without")["port"])
        assert stranger.refusal("ListDead", pb.ListDeadRequest())[0] == "UNIMPLEMENTED"
        stranger.close()

    assert TOKEN not in (tmp_path / "with").read_text()


@pytest.mark.system
@pytest.mark.covers("B62", "R37")
def test_the_service_deletes_what_was_delivered_long_ago(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    old, young = add(pg, "7", 1, state="SENT"), add(pg, "7", 2, state="SENT")
    pg.execute(
        "UPDATE msg_event SET sent_at = sent_at - interval '25 hours' WHERE event_id = %s",
        (old,),
    )
    with running(given, tmp_path / "log", MSGX_PIPELINE__EVENT_RETENTION="P1D"):
        until(lambda: old not in states(pg), "the old one deleted")

    assert states(pg) == {young: "SENT"}
