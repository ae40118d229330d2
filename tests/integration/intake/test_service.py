"""Intake as a process, with the rights of its own database role."""

import signal
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from msgx import clock
from tests.support.calls import TOKEN
from tests.support.ctl import WHY, ctl
from tests.support.intake import land, land_many, owe, run
from tests.support.process import Process, running
from tests.support.relay import relayed
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.system]

Pg = psycopg.Connection[Any]


@pytest.fixture
def environment(pg: Pg, pg_dsn: str, mailbox_url: str) -> dict[str, str]:
    """The variables of intake, as the role that the migrations made for it."""
    dsn = make_conninfo(pg_dsn, user="msgx_intake", password="msgx")
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:  # this server wants a password
        pg.execute("ALTER ROLE msgx_intake PASSWORD 'msgx'")
    return {"MSGX_DATABASE__DSN": dsn, "MSGX_MAILBOX__URL": mailbox_url}


def count(pg: Pg, condition: str = "true") -> int:
    row = pg.execute(f"SELECT count(*) FROM proc_state WHERE {condition}").fetchone()
    assert row is not None
    return int(row[0])


def finish_all(pg: Pg) -> None:
    """What the processor does to a row, as far as the mark is concerned."""
    pg.execute(
        "UPDATE proc_state SET state = 'SKIPPED', finished_at = now(), backfill_next_at = now()"
        " WHERE state = 'PENDING'"
    )


@pytest.mark.covers("INV-2b", "INV-8", "R14", "B104")
def test_intake_registers_and_marks_with_the_rights_of_its_role(
    pg: Pg, adapter: Any, environment: dict[str, str]
) -> None:
    with running("intake", **environment) as intake:
        intake.wait_for_health("SERVING")
        land_many(adapter, range(1, 301))
        until(lambda: count(pg) == 300, "300 rows are registered")
        finish_all(pg)
        until(lambda: count(pg, "backfill_at IS NOT NULL") == 300, "300 marks are confirmed")
        loops = [intake.health(name) for name in ("leadership", "poller", "backfill")]
        peak = intake.peak_megabytes()
        status = intake.terminate()

    marked = run(adapter, "SELECT count(*) FROM CMINMSGS WHERE CMINMSGS_DATE_PROCESSED > 0")
    assert marked == [(300,)]
    assert loops == ["SERVING"] * 3
    assert status == 0
    assert peak < 150  # megabytes


@pytest.mark.covers("B47", "R14")
def test_a_second_instance_stands_by_and_takes_over_without_registering_twice(
    pg: Pg, adapter: Any, environment: dict[str, str]
) -> None:
    with running("intake", **environment) as first:
        first.wait_for_health("SERVING")
        with running("intake", **environment) as second:
            second.wait_for_health("NOT_SERVING", "poller")
            land_many(adapter, range(1, 251))
            until(lambda: count(pg) > 0, "the first registers")
            first.kill()
            land_many(adapter, range(251, 501))
            second.wait_for_health("SERVING")
            until(lambda: count(pg) == 500, "the second registers the rest")
            until(lambda: second.logged("registered"), "and says so")
            second.terminate()
    said = [line["count"] for one in (first, second) for line in one.logged("registered")]

    assert count(pg) == count(pg, "state = 'PENDING'") == 500
    assert sum(said) <= 500


@pytest.mark.slow
@pytest.mark.covers("B33", "B114", "INV-7", "R44")
def test_five_power_cuts_in_the_middle_of_backfill_leave_both_sides_agreed(
    pg: Pg, adapter: Any, environment: dict[str, str]
) -> None:
    land_many(adapter, range(1, 1001))
    finished = clock.now() - timedelta(minutes=1)
    with pg.transaction():
        for msg_id in range(1, 1001):
            owe(pg, msg_id, finished_at=finished)
    environment["MSGX_PIPELINE__BACKFILL_BATCH"] = "5"

    for wanted in range(100, 600, 100):
        with running("intake", **environment) as intake:
            until(
                lambda goal=wanted: count(pg, "backfill_at IS NOT NULL") >= goal,  # type: ignore[misc]
                "it goes on",
            )
            intake.kill()
    environment["MSGX_PIPELINE__BACKFILL_BATCH"] = "200"
    with running("intake", **environment) as intake:
        until(lambda: count(pg, "backfill_at IS NOT NULL") == 1000, "all are confirmed")
        intake.terminate()

    marks = run(
        adapter,
        "SELECT CMINMSGS_DATE_PROCESSED, count(*) FROM CMINMSGS"
        " GROUP BY CMINMSGS_DATE_PROCESSED",
    )
    assert [amount for _, amount in marks] == [1000]
    assert count(pg, "backfill_abandoned_at IS NOT NULL") == 0


@pytest.mark.covers("B12", "B53")
def test_a_mailbox_that_comes_back_is_read_again_by_the_same_process(
    pg: Pg, adapter: Any, environment: dict[str, str]
) -> None:
    with relayed(environment["MSGX_MAILBOX__URL"]) as (relay, url):
        environment["MSGX_MAILBOX__URL"] = url
        with running("intake", **environment) as intake:
            intake.wait_for_health("SERVING", "poller")
            relay.cut()
            intake.wait_for_health("NOT_SERVING", "poller")
            intake.wait_for_health("SERVING")  # it still leads; the loop says what is wrong
            land(adapter, 1)
            relay.restore()

            intake.wait_for_health("SERVING", "poller")
            until(lambda: count(pg) == 1, "the row is registered")
            said = [line["reason"] for line in intake.logged("waits")]

    assert [reason for reason in said if "mailbox" in reason]
    assert "msgx:msgx" not in "".join(intake.lines)


@pytest.mark.covers("R50")
def test_a_read_only_intake_registers_and_has_nothing_that_could_write(
    pg: Pg, adapter: Any, environment: dict[str, str]
) -> None:
    schema = environment["MSGX_MAILBOX__URL"].rsplit("/", 1)[1]
    address = environment["MSGX_MAILBOX__URL"].rpartition("@")[2]
    user = f"ro_{schema[-12:]}"
    land_many(adapter, range(1, 4))
    run(adapter, "CREATE USER %s@'%%' IDENTIFIED BY 'msgx'", user)
    run(adapter, f"GRANT SELECT ON {schema}.CMINMSGS TO %s@'%%'", user)
    environment["MSGX_MAILBOX__URL"] = f"mysql://{user}:msgx@{address}"
    environment["MSGX_MAILBOX__READ_ONLY"] = "true"
    try:
        with running("intake", **environment) as intake:
            until(lambda: count(pg) == 3, "the rows are registered")
            intake.wait_for_health("SERVING", "poller")
            backfill = intake.health("backfill")
    finally:
        run(adapter, "DROP USER %s@'%%'", user)

    assert backfill == "NOT_FOUND"


def _stopped(process: Process) -> str:
    assert process.ended() != 0
    return "\n".join(process.lines)


@pytest.mark.covers("R37")
def test_a_configuration_that_cannot_work_is_refused_in_words(
    environment: dict[str, str],
) -> None:
    short = {**environment, "MSGX_MAILBOX__RETENTION": "PT1H"}
    wrong = {**environment, "MSGX_MAILBOX__URL": "mysql://who:s3cret/x@host/schema"}

    with running("intake", **short) as one, running("intake", **wrong) as other:
        said = _stopped(one), _stopped(other)

    assert "MSGX_PIPELINE__OVERDUE_BACKFILL is longer than MSGX_MAILBOX__RETENTION" in said[0]
    assert "MSGX_MAILBOX__URL: must look like" in said[1]
    assert "s3cret" not in said[1]


@pytest.mark.covers("R13", "R43", "B42")
def test_an_instance_stopped_in_a_transaction_lets_go_of_its_rows(
    pg: Pg, adapter: Any, environment: dict[str, str]
) -> None:
    short = {
        "MSGX_LEADERSHIP__TIMEOUT": "PT3S",
        "MSGX_MAILBOX__TIMEOUT": "PT2S",
        "MSGX_PIPELINE__BACKFILL_BACKOFF_LIMIT": "PT1S",
    }
    stuck = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'msgx-intake-backfill' AND state = 'idle in transaction'"
    )

    def held() -> bool:
        return pg.execute(stuck).fetchone() == (1,)

    def stopped_amid_it() -> bool:
        intake.child.send_signal(signal.SIGSTOP)
        if held():
            return True
        intake.child.send_signal(signal.SIGCONT)  # it was quicker
        return False

    with running("intake", **environment, **short) as intake:
        intake.wait_for_health("SERVING")
        land(adapter, 1)
        until(lambda: count(pg) == 1, "the row is registered")
        run(adapter, "LOCK TABLES CMINMSGS WRITE")
        finish_all(pg)
        try:
            until(
                lambda: held() and stopped_amid_it(),
                "it is stopped while the mark is being written",
            )
            until(lambda: not held(), "PostgreSQL ends its session")
        finally:
            run(adapter, "UNLOCK TABLES")
            intake.child.send_signal(signal.SIGCONT)
        until(lambda: count(pg, "backfill_at IS NOT NULL") == 1, "the mark is confirmed")


@pytest.mark.covers("R44", "R55", "INV-8")
def test_a_mark_given_up_is_reopened_through_the_service_with_the_rights_of_its_role(
    pg: Pg, adapter: Any, environment: dict[str, str]
) -> None:
    owe(pg, 7, finished_at=clock.now())

    with running("intake", **environment, MSGX_ADMIN__TOKEN=TOKEN) as intake:
        until(lambda: count(pg, "backfill_abandoned_at IS NOT NULL") == 1, "it is given up")
        at = ("--intake", f"127.0.0.1:{intake.logged('started')[0]['port']}", "abandoned")
        listed = ctl(*at, "list", "--json").told
        land(adapter, 7)  # the row is put back
        reopened = ctl(*at, "reopen", 7, *WHY)
        until(lambda: count(pg, "backfill_at IS NOT NULL") == 1, "it is confirmed")
        gone = ctl(*at, "returned", "--json").told
        intake.terminate()

    assert [(one["msg_id"], one["reason"]) for one in listed["marks"]] == [(7, "MISSING_ROW")]
    assert reopened.status == 0
    assert gone == {"marks": []}
    marked = run(adapter, "SELECT CMINMSGS_DATE_PROCESSED IS NOT NULL FROM CMINMSGS")
    assert marked == [(1,)]
