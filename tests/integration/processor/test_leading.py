"""Who leads, for how long, and what the lock of the pipeline costs (R13, R14)."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from msgx.domain.failure import Away
from msgx.runtime.leadership import Standby
from msgx.store import service_term
from msgx.store.service_term import Service
from tests.support.intake import upstream, waits_for_a_table
from tests.support.messages import adft, fltr, stand
from tests.support.processor import Line
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

PIPELINE_LOCKS = """
    SELECT count(*) FROM pg_locks
     WHERE locktype = 'advisory' AND objid = 100
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
SPOKE = """
    SELECT query_start FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'msgx-processor-leader'
"""


def wait_for_a_word(line: Line) -> None:
    """Wait until the leading session has said something once more."""
    before = line.one(SPOKE)
    until(lambda: line.one(SPOKE) > before, "the leading session says something")


@pytest.mark.covers("R13", "B42")
def test_a_lost_session_loses_its_term_and_reads_everything_anew(line: Line) -> None:
    line.run(adft(fltr("1")))
    first = line.worker.leadership.require()
    line.pg.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'msgx-processor-leader'"
    )
    line.land(stand("7", "1"))

    with pytest.raises(Away):
        line.worker.step()
    line.wait_for_no_leader()
    line.run()

    assert line.worker.leadership.require() == first + 1
    assert line.flight().values["STND"] == "7"
    line.agree()


@pytest.mark.covers("R14", "B48")
def test_a_second_instance_waits_and_takes_over(line: Line) -> None:
    line.run(adft(fltr("1")))
    first = line.worker
    head = line.land(stand("7", "1"))
    second = line.start()

    with pytest.raises(Standby):
        second.step()
    assert line.row(head)["state"] == "PENDING"

    line.stop(first)
    line.run()

    assert line.end(head)[0] == "SUCCEEDED"
    assert first.leadership.instance != second.leadership.instance


@pytest.mark.covers("R13", "B42", "INV-20b")
def test_a_deposed_instance_writes_nothing(line: Line) -> None:
    line.run(adft(fltr("1")))
    head = line.land(stand("7", "1"))
    term = line.worker.leadership.require()
    service_term.take_over(line.pg, Service.PROCESSOR, "another")

    with pytest.raises(Standby):
        line.worker.step()

    assert not line.worker.leadership.leads
    assert line.row(head)["state"] == "PENDING"
    assert line.flight().state_version == 1
    assert "STND" not in line.shown()["1"]
    line.wait_for_no_leader()
    line.run()
    assert line.worker.leadership.require() == term + 2
    assert line.end(head)[0] == "SUCCEEDED"


@pytest.mark.covers("R13", "INV-3")
def test_while_a_slow_mailbox_is_read_the_leading_session_is_never_silent_for_long(
    line: Line,
) -> None:
    line.run(adft(fltr("1")))
    term = line.worker.leadership.require()
    head = line.land(stand("7", "1"))
    with (
        upstream(line.places.mailbox) as watching,
        line.upstream.cursor() as cursor,
        ThreadPoolExecutor(1) as pool,
    ):
        cursor.execute("LOCK TABLES CMINMSGS WRITE")
        try:
            step = pool.submit(line.worker.step)
            until(lambda: waits_for_a_table(watching), "the mailbox is asked")
            wait_for_a_word(line)
            wait_for_a_word(line)
        finally:
            cursor.execute("UNLOCK TABLES")
        step.result()

    assert line.end(head)[0] == "SUCCEEDED"
    assert line.row(head)["infra_attempts"] == 0
    assert line.worker.leadership.require() == term


@pytest.mark.covers("R04", "R13", "B39", "INV-3")
def test_a_pipeline_lock_that_another_holds_is_waited_for_as_infra(line: Line) -> None:
    line.restart(database={"lock_timeout": timedelta(milliseconds=100)})
    line.run(adft(fltr("1")))
    term = line.worker.leadership.require()
    head = line.land(stand("7", "1"))
    line.pg.execute(service_term.LOCK_PIPELINE)

    for tries in range(1, 4):
        line.worker.step()
        assert line.end(head)[:2] == ("FAILED", "INFRA")
        assert (line.row(head)["attempts"], line.row(head)["infra_attempts"]) == (0, tries)
        line.release_head()

    assert line.flight().state_version == 1
    line.pg.execute(service_term.UNLOCK_PIPELINE)
    line.run()
    assert line.end(head)[0] == "SUCCEEDED"
    assert line.worker.leadership.require() == term
    assert line.one(PIPELINE_LOCKS) == 0, "every lock that was taken is given back"


@pytest.mark.covers("R13", "R16", "INV-3")
@pytest.mark.slow
def test_a_holder_of_the_pipeline_that_stands_still_is_ended_by_the_one_who_waits(
    line: Line,
) -> None:
    line.run(adft(fltr("1")))
    line.restart(
        leadership={"timeout": timedelta(seconds=3)},
        database={"lock_timeout": timedelta(milliseconds=200)},
    )
    head = line.land(stand("7", "1"))
    went_on = False
    other = make_conninfo(line.places.dsn, user="msgx_refdata")
    with (
        closing(psycopg.connect(other, autocommit=True)) as still,
        pytest.raises(psycopg.OperationalError),
        still.pipeline(),
    ):
        still.execute("SET idle_session_timeout = '1s'")
        still.execute(service_term.LOCK_PIPELINE).fetchone()  # and not a word more

        def goes_on() -> bool:
            line.release_head()
            with suppress(Away, Standby):  # we are ended, too, if we stood still
                line.worker.step()
            return bool(line.end(head)[0] == "SUCCEEDED")

        until(goes_on, "the processor goes on")
        went_on = True

    assert went_on
    assert line.flight().values["STND"] == "7"
    line.agree()
