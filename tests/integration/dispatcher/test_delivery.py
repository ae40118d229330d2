"""From the outbox to the topics, on a real broker, step by step."""

import random
import threading
from collections.abc import Callable, Container
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import psycopg
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from msgx.domain.delivery import Target
from msgx.domain.failure import Away
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.topics import topic_name
from tests.support.dispatcher import (
    add,
    attempts,
    changed,
    consume,
    leading,
    make_topics,
    nothing_pending,
    once,
    relaying,
    settings,
    settle,
    states,
    step,
    versions,
)
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = [pytest.mark.pg, pytest.mark.kafka]
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
LONG = "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=60_000))


@pytest.mark.covers("B03", "R29", "INV-10", "US-08")
def test_versions_of_a_flight_strictly_increase_and_nothing_is_missing(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    draw = random.Random(3)
    flights = ["100", *(str(flid) for flid in range(200, 240))]
    last = dict.fromkeys(flights, 0)
    for flid in draw.sample(["100"] * 200 + flights[1:] * 5, 400):
        last[flid] += 1
        add(pg, flid, last[flid])

    with relaying(changed(given, batch=70)) as relay:
        settle(relay, nothing_pending(pg), "all events sent")

    seen = consume(given)
    assert len(seen) == 400
    assert {flid: versions(seen, flid) for flid in flights} == {
        flid: list(range(1, last[flid] + 1)) for flid in flights
    }
    assert set(states(pg).values()) == {"SENT"}


@pytest.mark.covers("R28")
def test_an_event_carries_its_key_its_value_and_complete_headers(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    event = add(pg, "7", 3, payload='{"名": "航班"}', msg_id=12, traceparent=TRACE)
    silent = add(pg, "8", 1, msg_id=None)
    pg.execute(
        "UPDATE msg_event SET created_at = %s", (datetime(2026, 3, 4, 5, 6, 7, 8900, UTC),)
    )

    with relaying(given) as relay:
        settle(relay, nothing_pending(pg), "both events sent")

    seen = {one.event_id: one for one in consume(given)}
    assert seen[event].key == "7"
    assert seen[event].value == '{"名": "航班"}'.encode()
    assert seen[event].headers == {
        "ce_specversion": "1.0",
        "ce_id": str(event),
        "ce_type": "msgx.flight.changed.v1",
        "ce_source": "/msgx/test",
        "ce_subject": "7",
        "ce_time": "2026-03-04T05:06:07.008Z",
        "content-type": "application/json",
        "traceparent": TRACE,
        "msgx-state-version": "3",
        "msgx-source-msg-id": "12",
    }
    assert {"traceparent", "msgx-source-msg-id"}.isdisjoint(seen[silent].headers)


@pytest.mark.covers("R28", "R61", "B71")
def test_a_deletion_is_a_null_value_on_both_topics(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    add(pg, "7", 1)
    add(pg, "7", 2, tombstone=True)
    add(pg, "7", 2, target=Target.SCHD, tombstone=True)
    add(pg, "8", 1, target=Target.SCHD)

    with leading(given) as leadership:
        for target in Target:
            with relaying(given, target, leadership=leadership) as relay:
                step(relay)

    said = [(one.key, one.value is None, one.headers["ce_type"]) for one in consume(given)]
    assert said == [
        ("7", False, "msgx.flight.changed.v1"),
        ("7", True, "msgx.flight.deleted.v1"),
    ]
    assert sorted(
        (one.key, one.value is None, one.headers["ce_type"])
        for one in consume(given, Target.SCHD)
    ) == [("7", True, "msgx.flight.deleted.v1"), ("8", False, "msgx.flight.state.v1")]
    assert set(states(pg).values()) == {"SENT"}


def test_what_goes_over_the_wire_is_compressed(
    pg: "psycopg.Connection[Any]", topicless: DispatcherSettings
) -> None:
    make_topics(topicless, max_message_bytes="20000")
    add(pg, "7", 1, payload='"' + "x" * 60_000 + '"')

    with relaying(topicless) as relay:
        settle(relay, nothing_pending(pg), "the event sent")

    assert versions(consume(topicless), "7") == [1]


@pytest.mark.covers("B71", "B65", "US-08")
def test_after_a_crash_behind_the_first_event_of_a_message_the_others_follow_on_both_topics(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    # Flight 7 has become a codeshare of 8.
    added = [
        add(pg, "8", 5, msg_id=12),
        add(pg, "7", 3, msg_id=12, tombstone=True),
        add(pg, "8", 5, msg_id=12, target=Target.SCHD),
        add(pg, "7", 3, msg_id=12, target=Target.SCHD, tombstone=True),
    ]
    with relaying(changed(given, batch=1)) as relay:
        settle(relay, lambda: "SENT" in states(pg).values(), "the first one sent")
    assert list(states(pg).values()).count("SENT") == 1

    with leading(given) as leadership:
        for target in Target:
            with relaying(given, target, leadership=leadership) as relay:
                step(relay)

    assert set(states(pg).values()) == {"SENT"}
    seen = [*consume(given), *consume(given, Target.SCHD)]
    assert sorted(one.event_id for one in seen) == added
    assert {one.key for one in seen if one.value is None} == {"7"}


@pytest.mark.covers("B01", "B74", "R29")
@pytest.mark.parametrize("after_dead", ["hold", "continue"])
def test_an_event_too_large_dies_unsent_and_holds_its_flight_or_not(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, after_dead: str
) -> None:
    given = changed(given, max_message_bytes=50_000, after_dead=after_dead)
    first = add(pg, "7", 1)
    large = add(pg, "7", 2, payload=f'"{LONG}"')
    behind = add(pg, "7", 3)
    others = [add(pg, "8", version) for version in (1, 2, 3)]

    with relaying(given) as relay:
        settle(relay, lambda: states(pg)[first] == "SENT", "the wave sent")
        step(relay)

    assert states(pg) == {
        first: "SENT",
        large: "DEAD",
        behind: "PENDING" if after_dead == "hold" else "SENT",
        **dict.fromkeys(others, "SENT"),
    }
    assert versions(consume(given), "7") == ([1] if after_dead == "hold" else [1, 3])
    assert pg.execute(
        "SELECT error_class, attempts FROM msg_event WHERE event_id = %s", (large,)
    ).fetchone() == ("TOO_LARGE", 0)


@pytest.mark.covers("B28")
def test_an_unknown_payload_version_dies_and_others_continue(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    unknown = add(pg, "7", 1, payload_version=2)
    other = add(pg, "8", 1)

    with relaying(given) as relay:
        settle(relay, nothing_pending(pg), "both events settled")

    assert states(pg) == {unknown: "DEAD", other: "SENT"}
    assert [one.key for one in consume(given)] == ["8"]
    row = pg.execute(
        "SELECT error_class, last_error FROM msg_event WHERE event_id = %s", (unknown,)
    ).fetchone()
    assert row == ("CODEC_ERROR", "payload version 2 is not known")


@pytest.mark.covers("B75", "B12")
def test_without_its_topic_an_event_waits_and_no_try_is_counted(
    pg: "psycopg.Connection[Any]", pg_dsn: str, kafka_bootstrap: str, kafka_prefix: str
) -> None:
    given = settings(pg_dsn, kafka_bootstrap, kafka_prefix, produce_timeout=1)
    event = add(pg, "7", 1)

    with relaying(given) as relay:
        until_away(relay.step, "does not exist")
        assert states(pg) == {event: "PENDING"}
        assert attempts(pg) == 0
        make_topics(given)
        settle(relay, nothing_pending(pg), "the event sent")

    assert once(consume(given), "7") == [1]


@pytest.mark.covers("B75")
def test_a_topic_made_anew_while_running_gets_what_waited(
    pg: "psycopg.Connection[Any]", pg_dsn: str, kafka_bootstrap: str, kafka_prefix: str
) -> None:
    given = settings(pg_dsn, kafka_bootstrap, kafka_prefix, produce_timeout=1)
    make_topics(given)
    add(pg, "7", 1)
    topic = topic_name(given.kafka, Target.MSG)

    with AdminClient({"bootstrap.servers": kafka_bootstrap}) as admin, relaying(given) as relay:
        settle(relay, nothing_pending(pg), "the first event sent")
        admin.delete_topics([topic])[topic].result(timeout=PATIENCE_SECONDS)
        until(lambda: topic not in known(admin), "the topic gone")
        add(pg, "7", 2)
        until_away(relay.step, "does not exist")
        make_topics(given)
        settle(relay, nothing_pending(pg), "the second event sent")

    assert once(consume(given), "7") == [2]


def known(admin: AdminClient) -> Container[str]:
    """Return the topics that the broker knows."""
    return admin.list_topics(timeout=PATIENCE_SECONDS).topics


@pytest.mark.covers("R13", "R29")
def test_a_fenced_producer_makes_nothing_visible_and_marks_nothing(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    with leading(given) as leadership, relaying(given, leadership=leadership) as old:
        step(old)
        with relaying(given, leadership=leadership) as new:
            step(new)
            event = add(pg, "7", 1)

            with pytest.raises(Away):
                old.step()

            assert states(pg) == {event: "PENDING"}
            assert consume(given) == []


class Paused(Producer):
    """The real producer; once, something happens right before it commits."""

    before_commit: ClassVar[list[Callable[[], None]]] = []

    def commit_transaction(self, *given: Any) -> None:
        """Commit, after what was to happen."""
        if self.before_commit:
            self.before_commit.pop()()
        super().commit_transaction(*given)


@pytest.mark.covers("R13", "R29")
def test_what_a_fenced_producer_had_handed_over_never_becomes_visible(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.dispatcher.kafka.Producer", Paused)
    with (
        leading(given) as leadership,
        relaying(given, leadership=leadership) as old,
        relaying(given, leadership=leadership) as new,
    ):
        step(old)
        first = add(pg, "7", 1)

        def take_over() -> None:
            settle(new, nothing_pending(pg), "the first event sent by the new one")
            add(pg, "7", 2)
            settle(new, nothing_pending(pg), "the second one too")

        monkeypatch.setattr(Paused, "before_commit", [take_over])
        with pytest.raises(Away):
            old.step()

    assert set(states(pg).values()) == {"SENT"}
    seen = consume(given)
    assert versions(seen, "7") == [1, 2]
    assert seen[0].event_id == first


@pytest.mark.covers("R13")
def test_a_deposed_instance_marks_nothing_and_steps_down(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    from msgx.runtime.leadership import Standby

    event = add(pg, "7", 1)
    with leading(given) as leadership, relaying(given, leadership=leadership) as relay:
        pg.execute("UPDATE service_term SET term = term + 1 WHERE service = 'dispatcher'")

        def deposed() -> bool:
            try:
                relay.step()
            except Standby:
                return True
            except Away:
                return False
            raise AssertionError("it went on")

        until(deposed, "the end of the term noticed")
        assert deposed()  # and not tried again under the old term
        assert states(pg) == {event: "PENDING"}

    assert [one.event_id for one in consume(given)] == [event]


@pytest.mark.covers("B11")
def test_a_state_replaced_while_its_acknowledgement_is_on_the_way_is_sent_again(
    pg: "psycopg.Connection[Any]", pg_dsn: str, given: DispatcherSettings
) -> None:
    old = add(pg, "7", 4, target=Target.SCHD)
    with relaying(given, Target.SCHD) as relay, psycopg.connect(pg_dsn) as holder:
        holder.execute("SELECT FROM service_term WHERE service = 'dispatcher' FOR UPDATE")
        marking = threading.Thread(target=step, args=(relay,))
        marking.start()
        until(lambda: len(consume(given, Target.SCHD)) == 1, "the first generation committed")
        pg.execute("UPDATE msg_event SET event_id = nextval('event_id_seq'), state_version = 5")
        holder.commit()
        marking.join()
        assert list(states(pg).values()) == ["PENDING"]

        settle(relay, nothing_pending(pg), "the second generation sent")

    seen = consume(given, Target.SCHD)
    assert [one.version for one in seen] == [4, 5]
    assert [one.event_id for one in seen] == [old, *states(pg)]


@pytest.mark.covers("B12", "B65", "R29")
def test_a_full_wave_that_could_not_be_marked_rests_before_it_goes_again(
    pg: "psycopg.Connection[Any]", pg_dsn: str, given: DispatcherSettings
) -> None:
    given = changed(given, batch=2)
    added = [add(pg, "7", 1), add(pg, "8", 1)]
    pace = timedelta(seconds=7)
    rests: list[timedelta] = []
    with relaying(given, pace=pace) as relay, psycopg.connect(pg_dsn) as holder:
        holder.execute("SELECT FROM msg_event FOR UPDATE")
        settle(relay, lambda: len(consume(given)) == 2, "both committed", rests)
        assert set(states(pg).values()) == {"PENDING"}
        holder.rollback()
        settle(relay, nothing_pending(pg), "both marked", rests)

    assert rests == [pace, timedelta()]
    assert sorted(one.event_id for one in consume(given)) == sorted(added * 2)


def until_away(step: Callable[[], object], reason: str) -> None:
    """Step until the broker is said to be away for `reason`."""

    def told() -> bool:
        try:
            step()
        except Away as away:
            assert away.rest is not None
            return reason in away.text
        return False

    until(told, reason)
