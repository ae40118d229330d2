"""Replay by filter: the range as the preview froze it, rows that are locked, and jobs that end
in the middle (R35, R43, R44)."""

import threading
from contextlib import closing
from datetime import timedelta
from typing import Any

import grpc
import psycopg
import pytest

from msgx.rpc.v1 import replay_pb2 as pb
from msgx.store import service_term
from tests.support.calls import TOKEN
from tests.support.intake import (
    backfilling,
    debt,
    lead,
    mark_of,
    move_time,
    run,
    waits_for_a_table,
)
from tests.support.intake import upstream as mailbox_session
from tests.support.messages import adft, fltr
from tests.support.processor import Line
from tests.support.processor_process import processing
from tests.support.replaying import (
    Operator,
    by_range,
    die,
    is_free,
    operating,
    states,
    verdict_of,
)
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

MANY = 3000


# Ends the session amid its second batch.
_KILL_THE_SECOND = """
    CREATE FUNCTION kill_the_second() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM admin_audit) > 0 THEN
            PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5);
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER kill BEFORE INSERT ON admin_audit FOR EACH ROW
        EXECUTE FUNCTION kill_the_second()
"""
_WAITS: str = """
    SELECT count(*) > 0 FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND application_name LIKE '%%processor-admin'
"""


@pytest.mark.covers("R35", "R44", "INV-3", "B35")
def test_as_many_are_replayed_as_the_preview_counted_while_the_processor_works(
    line: Line, operator: Operator
) -> None:
    line.run(adft(fltr("1")))
    die(line, range(10, 10 + MANY))
    stop = threading.Event()
    died = "not XML"

    def work() -> None:
        line.land(died, msg_id=2)
        while not stop.is_set():
            line.worker.step()

    working = threading.Thread(target=work)
    working.start()
    try:
        preview = operator.preview()
        told = list(operator.call("Replay", by_range(preview)))
        until(lambda: states(line).get("SUCCEEDED", 0) > 1, "some of them are finished")
    finally:
        stop.set()
        working.join()

    last = told[-1]
    assert preview.range.count == last.total == last.replayed == MANY
    assert (last.refused, last.changed, last.done) == (0, 0, True)
    assert [one.replayed for one in told[:2]] == [100, 200]
    became = states(line)
    assert became.pop("DEAD") == 1
    assert sum(became.values()) == MANY + 1
    assert line.one("SELECT sum(affected) FROM admin_audit") == MANY
    line.agree()


@pytest.mark.covers("R35")
def test_what_dies_after_the_preview_or_again_is_not_in_its_range(
    line: Line, operator: Operator
) -> None:
    die(line, range(10, 15))
    preview = operator.preview(error_class="PROCESSING")
    die(line, range(5, 8))
    line.pg.execute("UPDATE proc_state SET finished_at = msgx_now() WHERE msg_id = 12")
    line.pg.execute(
        "UPDATE proc_state SET state = 'PENDING', finished_at = NULL WHERE msg_id = 13"
    )

    *_, last = operator.call("Replay", by_range(preview))

    assert (last.total, last.replayed, last.refused, last.changed) == (5, 3, 0, 2)
    rows = line.rows("SELECT msg_id FROM proc_state WHERE state = 'DEAD' ORDER BY msg_id")
    assert [row["msg_id"] for row in rows] == [5, 6, 7, 12]


@pytest.mark.covers("R35", "B35")
def test_what_dies_while_the_preview_waits_for_the_message_at_work_is_not_in_it(
    line: Line, operator: Operator
) -> None:
    die(line, range(10, 12))
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(operator.preview()))
    with psycopg.connect(line.places.dsn, autocommit=True) as at_work:
        at_work.execute(service_term.LOCK_PIPELINE)
        asking.start()
        until(lambda: line.one(_WAITS), "the preview waits")
        die(line, range(12, 14))
    asking.join()

    *_, last = operator.call("Replay", by_range(found[0]))

    assert (last.total, last.replayed, last.changed) == (2, 2, 0)


@pytest.mark.covers("R35")
def test_classes_that_need_force_are_counted_and_left(line: Line, operator: Operator) -> None:
    die(line, range(10, 13))
    die(line, range(20, 24), "PROTOCOL")

    without, forced = operator.preview(), operator.preview(force=True)
    code, words = operator.refusal(
        "Replay", by_range(without, options=pb.ReplayOptions(force=True))
    )

    assert (without.range.count, without.needs_force) == (3, 4)
    assert (forced.range.count, forced.needs_force) == (7, 0)
    assert code == "INVALID_ARGUMENT"
    assert "force" in words


@pytest.mark.covers("R43", "R44", "INV-7", "INV-8")
def test_a_replay_leaves_a_row_whose_mark_is_being_written_and_loses_no_mark(
    line: Line, operator: Operator, pg: "psycopg.Connection[Any]"
) -> None:
    die(line, range(10, 12))
    pg.execute("UPDATE proc_state SET backfill_at = NULL, backfill_next_at = msgx_now()")
    term = lead(pg)
    with (
        mailbox_session(line.places.mailbox) as other,
        mailbox_session(line.places.mailbox) as watching,
        backfilling(line.places.dsn, line.places.mailbox, term) as intake,
    ):
        run(other, "LOCK TABLES CMINMSGS READ")  # texts can be read, marks cannot be written
        marking = threading.Thread(target=intake.step)
        marking.start()
        until(lambda: waits_for_a_table(watching), "the mark is on its way")

        told = operator.replay(10, 11)
        ordered = line.one("SELECT count(*) FROM dead_letter")
        run(other, "UNLOCK TABLES")
        marking.join()
        after = operator.replay(10, 11)

    assert (told.replayed, told.refused, ordered) == (0, 2, 0)
    assert [verdict_of(one) for one in told.left] == ["BUSY", "BUSY"]
    assert mark_of(line.upstream, 10) is not None
    assert after.replayed == 2
    for msg_id in (10, 11):
        row = line.row(msg_id)
        assert row["state"] == "PENDING"
        assert row["backfill_at"] is not None
        assert row["backfill_next_at"] is None


@pytest.mark.covers("R44", "INV-7")
def test_a_message_that_is_put_back_before_its_mark_is_not_marked_while_it_is_open(
    line: Line, operator: Operator, pg: "psycopg.Connection[Any]"
) -> None:
    line.run(adft(fltr("1")))
    die(line, range(10, 11))
    pg.execute(
        "UPDATE proc_state SET backfill_at = NULL, backfill_abandoned_at = msgx_now(),"
        " backfill_abandoned_reason = 'TRANSIENT_DEADLINE' WHERE msg_id = 10"
    )
    operator.replay(10)
    with backfilling(line.places.dsn, line.places.mailbox, lead(pg)) as intake:
        intake.step()
        while_open = mark_of(line.upstream, 10)
        line.run()
        intake.step()

    assert while_open is None
    assert mark_of(line.upstream, 10) is not None
    assert debt(pg, 10).abandoned is None
    assert line.end(10)[0] == "SUCCEEDED"


@pytest.mark.covers("R35")
def test_a_job_whose_session_is_killed_leaves_nothing_between_and_is_given_again(
    line: Line, operator: Operator
) -> None:
    line.run(adft(fltr("1")))
    die(line, range(10, 260))
    preview = operator.preview()
    line.pg.execute(_KILL_THE_SECOND)
    try:
        stream = operator.call("Replay", by_range(preview))
        first = next(stream)
        with pytest.raises(grpc.RpcError):
            list(stream)
    finally:
        line.pg.execute("DROP FUNCTION kill_the_second CASCADE")
    between = states(line)
    *_, last = operator.call("Replay", by_range(preview))

    assert first.replayed == 100
    assert between == {"SUCCEEDED": 1, "PENDING": 100, "DEAD": 150}
    assert (last.replayed, last.changed) == (150, 100)
    line.run()
    assert states(line) == {"SUCCEEDED": 251}


@pytest.mark.covers("R35", "B104")
@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_a_job_whose_process_ends_leaves_nothing_between_and_is_given_again(
    line: Line, end: str
) -> None:
    line.run(adft(fltr("1")))
    line.stop()
    die(line, range(10, 60))
    given = {
        "MSGX_ADMIN__TOKEN": TOKEN,
        "MSGX_CONTROL__GRACE": "PT4S",
        "MSGX_LEADERSHIP__TIMEOUT": "PT2M",
    }
    with processing(line, **given) as process:
        process.wait_for_health("SERVING")
        with closing(Operator(process.logged("started")[0]["port"])) as first:
            preview = first.preview()
            stream = first.call("Replay", by_range(preview, per_second=1))
            told = next(stream)
            status = getattr(process, end)()
            with pytest.raises(grpc.RpcError) as cut:
                list(stream)
    line.wait_for_no_leader()
    line.start()
    with operating(line) as second:
        *_, last = second.call("Replay", by_range(preview))
    line.run()

    assert status in (0, None)
    if status == 0:  # it does not wait for the pace of the job
        assert "is stopping" in str(cut.value.details())
    assert told.replayed == 1
    assert last.replayed > 0
    assert last.changed >= 1
    assert last.replayed + last.changed == 50
    assert states(line) == {"SUCCEEDED": 51}
    line.agree()


@pytest.mark.covers("R35")
def test_a_job_that_is_cancelled_ends_and_what_was_put_back_stays(
    line: Line, operator: Operator
) -> None:
    die(line, range(10, 60))
    preview = operator.preview()

    stream = operator.call("Replay", by_range(preview, per_second=1))
    first = next(stream)
    stream.cancel()
    until(lambda: is_free(operator), "the job has ended")

    assert first.replayed == 1
    assert 1 <= states(line)["PENDING"] < 50


@pytest.mark.covers("R38", "R37")
def test_texts_and_acts_leave_after_their_time_but_not_of_what_is_open(
    line: Line, pg: "psycopg.Connection[Any]"
) -> None:
    die(line, range(10, 13))
    pg.execute(
        "INSERT INTO dead_letter (msg_id, raw, dead_at) SELECT id, 'x', msgx_now()"
        " FROM generate_series(10, 12) AS id"
    )
    pg.execute("UPDATE proc_state SET state = 'PENDING', finished_at = NULL WHERE msg_id = 11")
    with operating(line) as operator:
        operator.replay(999)
    before = _kept(line)
    move_time(pg, timedelta(days=181))
    line.keeper.step()
    after_half_a_year = _kept(line)
    move_time(pg, timedelta(days=401))
    line.keeper.step()

    assert before == ([10, 11, 12], 1)
    assert after_half_a_year == ([11], 1)
    assert _kept(line) == ([11], 0)


def _kept(line: Line) -> tuple[list[int], int]:
    rows = line.rows("SELECT msg_id FROM dead_letter ORDER BY msg_id")
    return [row["msg_id"] for row in rows], line.one("SELECT count(*) FROM admin_audit")
