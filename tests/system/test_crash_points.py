"""A power cut at each step of a message, then a restart: one effect, one set of events, one end
(the table "the way of a message" of docs/architecture.md)."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.messages import adft, dnld, flop, fltr, stand
from tests.support.process import Process
from tests.support.processor import Line, refusing
from tests.support.processor_process import (
    held,
    processing,
    wait_for_end,
    wait_for_lock,
)
from tests.support.waiting import until

pytestmark = [pytest.mark.system, pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

# Redis must not be looked at between the messages, and may take its time.
PATIENT = {"MSGX_PROJECTION__EPOCH_CHECK": "PT1H", "MSGX_REDIS__TIMEOUT": "PT10M"}

# Something that holds the queue until the test is ready.
NOT_DUE = """
    INSERT INTO proc_state (msg_id, state, enqueued_at, updated_at, next_attempt_at)
    VALUES (%s, 'FAILED', msgx_now(), msgx_now(), msgx_now() + interval '1 hour')
"""

# The server does what it has received, whether its client lives or not, until its session ends.
END_SESSIONS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND usename = 'msgx_processor'
"""


@pytest.fixture
def victim(line: Line) -> Iterator[Process]:
    """A processor that has done one message and looked at Redis."""
    with processing(line, **PATIENT) as process:
        wait_for_end(line, line.land(adft(fltr("1", "<FLNO>CA1</FLNO>"))))
        until(lambda: line.redis.exists(line.keys.epoch), "the projection is complete")
        wait_for_end(line, line.land(stand("1", "1")))
        yield process


def restarted(line: Line, head: int, after: int, *, left: str = "PENDING") -> None:
    """Start another process and assert what the power cut, which `left` the head so, must not
    change."""
    line.wait_for_no_leader()
    assert line.end(head)[0] in left.split()
    with processing(line) as process:
        wait_for_end(line, after)
        assert process.terminate() == 0

    for msg_id in (head, after):
        assert line.end(msg_id) == ("SUCCEEDED", None, None)
        assert line.one("SELECT count(*) FROM flight_journal WHERE msg_id = %s", msg_id) == 1
        events = [event for event in line.events() if event["msg_id"] == msg_id]
        assert [event["released_at"] for event in events] == [line.row(msg_id)["finished_at"]]
    assert line.flight().state_version == 4
    assert line.row(head)["attempts"] == 0
    assert line.one("SELECT count(*) FROM msg_event WHERE released_at IS NULL") == 0
    line.agree()


@pytest.mark.covers("B113", "INV-17b", "INV-20b")
def test_killed_before_the_commit(line: Line, victim: Process) -> None:
    with held(line, "SELECT 1 FROM flight_schd WHERE flid = '1'"):
        head, after = line.land(stand("7", "1")), line.land(stand("8", "1"))
        wait_for_lock(line)
        assert line.rows("SELECT 1 FROM flight_journal WHERE msg_id = %s", head) == []
        victim.kill()

    restarted(line, head, after)


@pytest.mark.covers("B113", "INV-20b", "INV-23", "R06")
def test_killed_between_commit_and_projection(line: Line, victim: Process) -> None:
    line.redis.client_pause(600_000, all=False)
    try:
        head, after = line.land(stand("7", "1")), line.land(stand("8", "1"))
        journal = "SELECT count(*) FROM flight_journal WHERE msg_id = %s"
        until(lambda: line.one(journal, head), "the effect is committed")
        assert line.end(head)[0] == "PENDING"
        assert line.shown()["1"]["STND"] == "1"
        victim.kill()
    finally:
        line.redis.client_unpause()

    restarted(line, head, after)


@pytest.mark.covers("B113", "INV-20b", "INV-23", "R06", "B42")
@pytest.mark.parametrize(
    ("cut_off", "left"),
    [
        pytest.param(True, "PENDING", id="nothing of the end took place"),
        # The server may have it all, or stands before a COMMIT that was never sent.
        pytest.param(False, "SUCCEEDED PENDING", id="the end was on its way"),
    ],
)
def test_killed_between_projection_and_end(
    line: Line, victim: Process, cut_off: bool, left: str
) -> None:
    with ExitStack() as stack:
        line.pg.execute(NOT_DUE, [line.land(flop("WHAT", "<WHAT/>"), registered=False)])
        head, after = line.land(stand("7", "1")), line.land(stand("8", "1"))
        stack.enter_context(held(line, f"SELECT 1 FROM proc_state WHERE msg_id = {head}"))
        line.release_head()
        until(lambda: line.shown()["1"]["STND"] == "7", "the projection shows the effect")
        wait_for_lock(line)
        assert line.end(head)[0] == "PENDING"
        victim.kill()
        if cut_off:
            line.pg.execute(END_SESSIONS)

    restarted(line, head, after, left=left)


@pytest.mark.covers("B101", "B102", "R12", "INV-20b")
def test_killed_between_two_batches_of_a_day_plan(line: Line) -> None:
    small = {"MSGX_SCHD__BATCH": "2"}
    flids = [str(flid) for flid in range(1, 10)]
    with processing(line, **small) as process:
        wait_for_end(line, line.land(dnld(*(fltr(flid) for flid in [*flids, "99"]))))
        with held(line, "SELECT 1 FROM flight_schd WHERE flid = '7'"):
            plan = line.land(dnld(*(fltr(flid, "<STND>7</STND>") for flid in flids)))
            wait_for_lock(line)
            process.kill()
        line.wait_for_no_leader()
    assert line.end(plan)[0] == "PENDING"
    assert line.flight("1").state_version == 2
    assert line.flight("99").state == "ACTIVE"

    with processing(line, **small):
        wait_for_end(line, plan)

    assert {line.flight(flid).state_version for flid in [*flids, "99"]} == {2}
    assert line.flight("99").state == "DELETED"
    told = [event["partition_key"] for event in line.events() if event["msg_id"] == plan]
    assert sorted(told) == sorted([*flids, "99"])
    line.agree()


@pytest.mark.covers("B24", "R05")
def test_attempts_survive_a_kill(line: Line) -> None:
    ladder = {"MSGX_PIPELINE__LADDER": "PT0.02S PT0.02S PT10M PT10M"}
    with refusing(line, "1"):
        with processing(line, **ladder) as process:
            head = line.land(adft(fltr("1")))
            until(lambda: line.row(head)["attempts"] == 3, "three tries failed")
            process.kill()
        line.wait_for_no_leader()
        line.release_head()
        with processing(line, **ladder):
            until(lambda: line.row(head)["attempts"] == 4, "a fourth one failed")
            assert line.end(head)[:2] == ("FAILED", "PROCESSING")


@pytest.mark.covers("B104", "INV-20b")
def test_a_stop_amid_a_burst_loses_and_doubles_nothing(line: Line) -> None:
    with processing(line) as process:
        wait_for_end(line, line.land(adft(fltr("1"))))
        ids = [line.land(stand(str(at), "1")) for at in range(150)]
        wait_for_end(line, ids[20])
        assert process.terminate() == 0
        done = [line.end(msg_id)[0] for msg_id in ids]
        assert set(done) <= {"SUCCEEDED", "PENDING"}
        assert "FAILED" not in done
    with processing(line):
        wait_for_end(line, ids[-1])

    assert line.flight().state_version == 151
    line.agree()
