"""`make bench-relay`: how fast a backlog leaves, beside a floor on the same servers.

One JSON line: `events_per_s` of the dispatcher's relay, with order, holds, fences and headers;
`floor_per_s` of the least that any outbox does, which reads rows by id, sends them in one Kafka
transaction and marks them; `ratio`. Both run in turn, several times; the medians count.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from statistics import median
from typing import Final

import psycopg
from confluent_kafka import Producer

from msgx import clock
from msgx.domain.delivery import Target
from msgx.store.service_term import Service
from msgx.telemetry.board import Board
from services.dispatcher.relay import Relay
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.topics import topic_name
from tests.support.dispatcher import leading, make_topics, ours, settings, settle
from tests.support.servers import kafka, postgres
from tests.support.servers.source import Servers

FLOOR_BATCH: Final = 500
IDLE: Final = timedelta(seconds=1)
_FILL: Final = """
    INSERT INTO msg_event (target, partition_key, event_type, payload, state_version, msg_id,
                           created_at, released_at, traceparent)
    SELECT 'KAFKA:msg', (n %% %(flights)s + 1)::text, 'UPSERT',
           json_build_object('FLID', (n %% %(flights)s + 1)::text, 'STATE_VERSION',
                             n / %(flights)s + 1, 'UPDATED_AT', msgx_now(), 'KIND', 'CHANGED',
                             'STYP', 'ESTT', 'CHANGES', json_build_object('ESTT', msgx_now(),
                             'REMK', repeat('remark ', 20)))::text,
           n / %(flights)s + 1, n, msgx_now(), msgx_now(),
           '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
      FROM generate_series(0, %(events)s - 1) n ORDER BY n
"""
_LEFT: Final = "SELECT count(*) FROM msg_event WHERE state = 'PENDING'"
_READ: Final = """
    SELECT event_id, partition_key, payload FROM msg_event
     WHERE event_id > %s ORDER BY event_id LIMIT %s
"""
_MARK: Final = """
    UPDATE msg_event SET state = 'SENT', sent_at = msgx_now() WHERE event_id = ANY(%s)
"""


def main() -> int:
    """Measure and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--flights", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with ExitStack() as stack:
        servers = Servers(("postgres", "kafka"), stack)
        pg_url, bootstrap = servers.url("postgres"), servers.url("kafka")
        dsn = stack.enter_context(fresh(pg_url))
        given = settings(dsn, bootstrap, stack.enter_context(kafka.prefix(bootstrap)))
        make_topics(given)
        owner = stack.enter_context(psycopg.connect(dsn, autocommit=True))

        def timed(run: Callable[[], None]) -> float:
            owner.execute("TRUNCATE msg_event")
            owner.execute(_FILL, {"events": asked.events, "flights": asked.flights})
            owner.execute("VACUUM ANALYZE msg_event")
            begun = clock.ticks()
            run()
            spent = clock.ticks() - begun
            row = owner.execute(_LEFT).fetchone()
            assert row == (0,)
            return float(asked.events / spent)

        relay = stack.enter_context(ready(given))
        floor = stack.enter_context(closing_floor(given))
        rates = [(timed(relay), timed(floor)) for _ in range(asked.rounds)]
    ours_, floors = (median(column) for column in zip(*rates, strict=True))
    print(  # noqa: T201
        json.dumps(
            {
                "events_per_s": round(ours_),
                "floor_per_s": round(floors),
                "ratio": round(ours_ / floors, 2),
                "events": asked.events,
                "flights": asked.flights,
                "rounds": asked.rounds,
            }
        )
    )
    return 0


@contextmanager
def fresh(url: str) -> Iterator[str]:
    """Yield a migrated database of our own."""
    with postgres.template(url) as name, postgres.database(url, copy_of=name) as dsn:
        yield dsn


@contextmanager
def ready(given: DispatcherSettings) -> Iterator[Callable[[], None]]:
    """Yield the production relay, as a run to the end of the backlog."""
    with leading(given) as leadership:
        relay = Relay(
            given,
            leadership,
            Target.MSG,
            limit=given.dispatch.batch,
            pace=timedelta(),
            idle=lambda: IDLE,
            stopping=lambda: False,
            board=Board(Service.DISPATCHER),
        )
        with closing(relay):
            settle(relay, lambda: True, "the producer is ready")

            def run() -> None:
                while relay.step() != IDLE:
                    pass

            yield run


@contextmanager
def closing_floor(given: DispatcherSettings) -> Iterator[Callable[[], None]]:
    """Yield the floor: read by id, one transaction, mark; no order, no holds, no headers."""
    topic = topic_name(given.kafka, Target.MSG)
    producer = Producer(
        {
            "bootstrap.servers": given.kafka.bootstrap,
            "transactional.id": f"{given.kafka.prefix}floor",
            "compression.type": "lz4",
            "linger.ms": 1,
        }
    )
    producer.init_transactions(10)
    with closing(psycopg.connect(ours(given.database.dsn.get_secret_value()))) as conn:
        conn.autocommit = True

        def run() -> None:
            last = 0
            while rows := conn.execute(_READ, (last, FLOOR_BATCH)).fetchall():
                producer.begin_transaction()
                for _, key, payload in rows:
                    producer.produce(topic, key=key.encode(), value=payload.encode())
                producer.commit_transaction(10)
                conn.execute(_MARK, ([row[0] for row in rows],))
                last = rows[-1][0]

        yield run


if __name__ == "__main__":
    raise SystemExit(main())
