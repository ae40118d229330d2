"""The gauges of the queue say what the tables hold; counters what happened."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest
import redis

from msgx.telemetry import metrics
from services.processor.figures import figures
from tests.support.intake import move_time
from tests.support.messages import adft, fltr
from tests.support.processor import Line, refusing

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


def read(line: Line) -> dict[str, dict[tuple[str, ...], float]]:
    with psycopg.connect(line.places.dsn, autocommit=True, user="msgx_processor") as conn:
        return {gauge.name: dict(values) for gauge, values in figures(conn)}


def aged(pg: "psycopg.Connection[Any]", msg_id: int, column: str, seconds: int) -> None:
    pg.execute(
        f"UPDATE proc_state SET {column} = now() - make_interval(secs => %s) WHERE msg_id = %s",
        (seconds, msg_id),
    )


@pytest.mark.covers("B114", "R16", "INV-3")
def test_the_queue_is_told_with_its_head(line: Line) -> None:
    told = read(line)
    assert told["msgx.pipeline.backlog.messages"] == {(): 0}
    assert told["msgx.pipeline.backlog.oldest_unprocessed_seconds"] == {(): 0}
    assert told["msgx.pipeline.head_wait_seconds"] == {}

    (before,) = line.run(adft(fltr("1")))
    head, behind = line.land(adft(fltr("2"))), line.land(adft(fltr("3")))
    aged(line.pg, head, "enqueued_at", 600)
    aged(line.pg, head, "updated_at", 600)
    aged(line.pg, behind, "enqueued_at", 900)
    aged(line.pg, before, "finished_at", 200)
    line.pg.execute("UPDATE proc_state SET infra_attempts = 4 WHERE msg_id = %s", (head,))

    told = read(line)
    assert told["msgx.pipeline.backlog.messages"] == {(): 2}
    oldest = told["msgx.pipeline.backlog.oldest_unprocessed_seconds"][()]
    assert 600 <= oldest < 660
    assert told["msgx.pipeline.head_tries"] == {("own",): 0, ("away",): 4}
    (waits,) = told["msgx.pipeline.head_wait_seconds"].items()
    assert waits[0] == ("",)
    assert 200 <= waits[1] < 260

    line.pg.execute("UPDATE proc_state SET route = 'REFDATA' WHERE msg_id = %s", (head,))
    aged(line.pg, head, "updated_at", 45)
    (waits,) = read(line)["msgx.pipeline.head_wait_seconds"].items()
    assert waits[0] == ("REFDATA",)
    assert 45 <= waits[1] < 105


@pytest.mark.covers("B25", "B114", "R51", "R01")
def test_dead_messages_are_told_by_class_and_failures_are_counted(line: Line) -> None:
    line.restart(pipeline={"max_attempts": 2, "ladder": (timedelta(seconds=5),)})
    line.run("no XML", adft(fltr("1", "<NOVM>1</NOVM>")))
    with refusing(line, "7"):
        line.run(adft(fltr("7")))
        move_time(line.pg, timedelta(seconds=10))
        line.run()

    told = read(line)
    assert told["msgx.pipeline.dead_messages"] == {("MALFORMED",): 1, ("PROCESSING",): 1}
    assert told["msgx.pipeline.unmapped_fields"] == {(): 1}
    board = line.worker.board
    finished = board.read(metrics.FINISHED)
    assert {one: count for one, count in finished.items() if count} == {
        ("DEAD", ""): 1,
        ("DEAD", "SCHD"): 1,
        ("SUCCEEDED", "SCHD"): 1,
    }
    failures = board.read(metrics.FAILURES)
    assert {one: count for one, count in failures.items() if count} == {
        ("MALFORMED",): 1,
        ("PROCESSING",): 2,
    }


@pytest.mark.covers("R15", "B92")
def test_a_projection_that_redis_lost_is_counted(line: Line) -> None:
    line.restart(epoch_check=timedelta(microseconds=1))
    line.run(adft(fltr("1")))
    before = line.worker.board.read(metrics.LOST)[()]
    with redis.Redis.from_url(line.places.redis) as server:
        server.flushdb()

    line.run(adft(fltr("2")))

    assert line.worker.board.read(metrics.LOST)[()] == before + 1


@pytest.mark.covers("B62")
def test_tables_say_how_much_room_they_take_and_each_that_grows_by_name(line: Line) -> None:
    line.run(adft(fltr("1")))

    told = read(line)["msgx.store.table_bytes"]

    assert {(name,) for name in metrics.TABLE_BYTES.labels["table"]} < told.keys()
    assert told["flight_journal",] > 0
    assert told["flight_gtdt",] > 0
