"""The dispatcher for tests: outbox rows, relays stepped by hand, and what a consumer sees."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

import psycopg
from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its stubs do not re-export
    AdminClient,
    NewTopic,
    OffsetSpec,
)
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from msgx import clock
from msgx.domain.delivery import EventType, Target
from msgx.domain.failure import Away
from msgx.runtime.leadership import Leadership
from msgx.settings import Dispatch, Kafka, Mailbox
from msgx.store.service_term import Service
from msgx.telemetry.board import Board
from services.dispatcher.relay import Relay
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.topics import Topics, topic_name, wanted
from tests.support import patient
from tests.support.patient import PATIENT
from tests.support.waiting import PATIENCE_SECONDS, until

ENVIRONMENT: Final = "test"
NO_MAILBOX: Final = "mysql://nobody:nothing@127.0.0.1:9/none"

_ADD: Final = """
    INSERT INTO msg_event (target, partition_key, event_type, payload, payload_version,
                           state_version, msg_id, state, attempts, next_attempt_at, created_at,
                           released_at, sent_at, traceparent)
    VALUES (%(target)s, %(flid)s, %(event_type)s, %(payload)s, %(payload_version)s, %(version)s,
            %(msg_id)s, %(state)s, %(attempts)s, msgx_now() + %(due_in)s::interval, msgx_now(),
            CASE WHEN %(released)s THEN msgx_now() END,
            CASE WHEN %(state)s = 'SENT' THEN msgx_now() END, %(traceparent)s)
 RETURNING event_id
"""
_STOP_CLOCK: Final = """
    DO $do$ BEGIN
        EXECUTE format('CREATE OR REPLACE FUNCTION msgx_now() RETURNS timestamptz'
                       ' LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT %L::timestamptz $$',
                       now());
    END $do$
"""


def add(
    pg: "psycopg.Connection[Any]",
    flid: str,
    version: int,
    *,
    target: Target = Target.MSG,
    payload: str | None = None,
    tombstone: bool = False,
    payload_version: int = 1,
    msg_id: int | None = 1,
    state: str = "PENDING",
    attempts: int = 0,
    due_in: timedelta | None = None,
    released: bool = True,
    traceparent: str | None = None,
) -> int:
    """Insert one event and return its id."""
    text = f'{{"FLID": "{flid}", "STATE_VERSION": {version}}}' if payload is None else payload
    row = pg.execute(
        _ADD,
        {
            "target": target,
            "flid": flid,
            "event_type": EventType.TOMBSTONE if tombstone else EventType.UPSERT,
            "payload": None if tombstone else text,
            "payload_version": payload_version,
            "version": version,
            "msg_id": msg_id,
            "state": state,
            "attempts": attempts,
            "due_in": due_in,
            "released": released,
            "traceparent": traceparent,
        },
    ).fetchone()
    assert row is not None
    return int(row[0])


def stop_clock(pg: "psycopg.Connection[Any]") -> None:
    """Let every service's time stand still, so that an age is exact (R36)."""
    pg.execute(_STOP_CLOCK)


def states(pg: "psycopg.Connection[Any]") -> dict[int, str]:
    """Return the state of every event."""
    return dict(pg.execute("SELECT event_id, state FROM msg_event").fetchall())


def nothing_pending(pg: "psycopg.Connection[Any]") -> Callable[[], bool]:
    """Return the question whether nothing waits to be sent."""
    return lambda: "PENDING" not in states(pg).values()


def attempts(pg: "psycopg.Connection[Any]") -> int:
    """Return the most tries that an event has had."""
    row = pg.execute("SELECT max(attempts) FROM msg_event").fetchone()
    assert row is not None
    return int(row[0])


def ours(dsn: str) -> str:
    """Return the connection string of the role that the service runs as."""
    return make_conninfo(dsn, user="msgx_dispatcher")


def settings(
    dsn: str,
    bootstrap: str,
    prefix: str,
    *,
    produce_timeout: float = 30.0,
    mailbox: str = NO_MAILBOX,
    **dispatch: Any,
) -> DispatcherSettings:
    """Return production settings, as the service's own role, with patience: a commit that is
    given up too early is done twice."""
    return DispatcherSettings(
        environment=ENVIRONMENT,
        database=patient.database(ours(dsn)),
        leadership=patient.LEADERSHIP,
        dispatch=Dispatch(**dispatch),
        mailbox=Mailbox(url=SecretStr(mailbox)),
        kafka=Kafka(
            bootstrap=bootstrap,
            prefix=prefix,
            produce_timeout=timedelta(seconds=produce_timeout),
        ),
    )


def changed(given: DispatcherSettings, **dispatch: Any) -> DispatcherSettings:
    """Return `given` with other parameters of the group `dispatch`."""
    return given.model_copy(update={"dispatch": given.dispatch.model_copy(update=dispatch)})


def make_topics(given: DispatcherSettings, **of_msg: str) -> None:
    """Create both topics, the one of `msg` with further settings from its birth on: a change
    right after it may not reach the new log."""
    broker = Topics(given.kafka.model_copy(update={"produce_timeout": PATIENT}))
    if of_msg:
        name = topic_name(given.kafka, Target.MSG)
        config = {key.replace("_", "."): value for key, value in of_msg.items()}
        new = NewTopic(name, given.kafka.partitions, 1, config=config)
        with AdminClient({"bootstrap.servers": given.kafka.bootstrap}) as admin:
            admin.create_topics([new])[name].result(timeout=PATIENCE_SECONDS)
    for target in Target:
        broker.create(wanted(given.kafka, given.dispatch, target))
        ends(given, target)


@contextmanager
def leading(given: DispatcherSettings) -> Iterator[Leadership]:
    """Lead with the production session."""
    leadership = Leadership(
        given.database,
        given.leadership,
        Service.DISPATCHER,
        environment=given.environment,
    )
    leadership.hold()
    try:
        yield leadership
    finally:
        leadership.lose()


@contextmanager
def relaying(
    given: DispatcherSettings,
    target: Target = Target.MSG,
    *,
    leadership: Leadership | None = None,
    board: Board | None = None,
    stopping: Callable[[], bool] = lambda: False,
    pace: timedelta = timedelta(),
) -> Iterator[Relay]:
    """Yield a relay whose steps the test makes, on the production connections."""
    if leadership is None:
        with (
            leading(given) as own,
            relaying(
                given, target, leadership=own, board=board, stopping=stopping, pace=pace
            ) as relay,
        ):
            yield relay
        return
    relay = Relay(
        given,
        leadership,
        target,
        limit=given.dispatch.batch,
        pace=pace,
        idle=timedelta,
        stopping=stopping,
        board=board or Board(Service.DISPATCHER),
    )
    with closing(relay):
        yield relay


def settle(
    relay: Relay, done: Callable[[], bool], what: str, rests: list[timedelta] | None = None
) -> None:
    """Step the relay until `done`, and note its `rests`; the broker may still be loading."""

    def stepped() -> bool:
        try:
            rest = relay.step()
        except Away:
            return False
        if rests is not None:
            rests.append(rest)
        return done()

    until(stepped, what, seconds=PATIENT.total_seconds())


def step(relay: Relay) -> None:
    """Let the relay make one step."""
    settle(relay, lambda: True, "a step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A record as a consumer sees it."""

    key: str
    value: bytes | None
    headers: dict[str, str]
    partition: int

    @property
    def event_id(self) -> int:
        """Return the id that a consumer drops duplicates by."""
        return int(self.headers["ce_id"])

    @property
    def version(self) -> int:
        """Return the state version."""
        return int(self.headers["msgx-state-version"])


def ends(given: DispatcherSettings, target: Target) -> dict[int, int]:
    """Return where each partition of the topic ends, whatever is still open before it; wait
    until the broker serves them all."""
    topic = topic_name(given.kafka, target)
    places = {
        TopicPartition(topic, number): OffsetSpec.latest()  # type: ignore[no-untyped-call]
        for number in range(given.kafka.partitions)
    }
    found: dict[int, int] = {}

    def served(admin: AdminClient) -> bool:
        asked = admin.list_offsets(places, isolation_level=IsolationLevel.READ_UNCOMMITTED)
        try:
            found.update(
                (place.partition, future.result(timeout=PATIENCE_SECONDS).offset)
                for place, future in asked.items()
            )
        except KafkaException:
            return False
        return True

    with AdminClient({"bootstrap.servers": given.kafka.bootstrap}) as admin:
        until(lambda: served(admin), f"the broker serves {topic}")
    return found


def consume(given: DispatcherSettings, target: Target = Target.MSG) -> list[Seen]:
    """Return every committed record of the topic, each partition in order. A transaction whose
    end is not marked yet is waited for: `commit` returns earlier than it can be read."""
    consumer = Consumer(
        {
            "bootstrap.servers": given.kafka.bootstrap,
            "group.id": "reads-alone",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    try:
        until_ = ends(given, target)
        topic = topic_name(given.kafka, target)
        consumer.assign([TopicPartition(topic, number, 0) for number in until_])
        return list(_read(consumer, until_))
    finally:
        consumer.close()


def _read(consumer: Consumer, until_: dict[int, int]) -> Iterator[Seen]:
    reached = dict.fromkeys(until_, 0)
    deadline = clock.ticks() + PATIENCE_SECONDS
    while any(reached[number] < end for number, end in until_.items()):
        assert clock.ticks() < deadline, "the topic has no end"
        message = consumer.poll(0.5)
        if message is None:
            continue
        place, offset = message.partition(), message.offset()
        assert place is not None
        assert offset is not None
        if (error := message.error()) is None:
            reached[place] = offset + 1
            yield _seen(message)
        else:
            assert error.code() == KafkaError._PARTITION_EOF, error.name()
            reached[place] = offset


def _seen(message: Message) -> Seen:
    key, headers, partition = message.key(), message.headers(), message.partition()
    assert key is not None
    assert headers is not None
    assert partition is not None
    pairs = cast("list[tuple[str, bytes]]", headers)
    told = {name: value.decode() for name, value in pairs}
    assert len(told) == len(pairs), "a header stands twice"
    return Seen(
        key=bytes(key).decode(), value=message.value(), headers=told, partition=partition
    )


def versions(seen: Sequence[Seen], flid: str) -> list[int]:
    """Return the state versions of one flight in the order of its partition."""
    return [one.version for one in seen if one.key == flid]


def once(seen: Sequence[Seen], flid: str) -> list[int]:
    """Return the same for a consumer that drops what comes again: where a commit was given up,
    it may have been done (B65)."""
    return list(dict.fromkeys(versions(seen, flid)))
