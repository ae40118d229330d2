"""Refdata as a process: it serves, is killed amid a package, is replaced, and ends cleanly."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from msgx.store.service_term import Service
from tests.support.process import Process, running
from tests.support.processor import Line
from tests.support.refdata import Desk, gates
from tests.support.waiting import until

pytestmark = [pytest.mark.system, pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

WAITS = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'msgx-refdata-leader'
       AND wait_event_type = 'Lock'
"""
# A session that waits for a lock does not see its client die.
NOTICE = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'msgx-refdata-%'
"""


@contextmanager
def keeping(line: Line) -> Iterator[Process]:
    """Run refdata; nothing of it is left at the end."""
    variables = {
        "MSGX_DATABASE__DSN": make_conninfo(line.places.dsn, user="msgx_refdata"),
        "MSGX_MAILBOX__URL": line.places.mailbox,
        "MSGX_LEADERSHIP__TIMEOUT": "PT2M",
        "MSGX_DATABASE__LOCK_TIMEOUT": "PT2M",
        "MSGX_DATABASE__STATEMENT_TIMEOUT": "PT2M",
    }
    with running("refdata", **variables) as process:
        yield process


@pytest.mark.covers("R16", "INV-26", "INV-20b", "B113", "R14", "B104")
def test_killed_amid_a_package_it_leaves_nothing_and_the_next_one_ends_it(
    line: Line, desk: Desk
) -> None:
    desk.run(gates("DNLD", "1", "2"))
    stood = desk.sources("GLST")
    desk.keeper.leadership.lose()
    head = desk.route(gates("DNLD", "2", "3"))
    with psycopg.connect(line.places.dsn) as holder:
        holder.execute("SELECT FROM ref_master WHERE rkey = '2' FOR UPDATE")
        with keeping(line) as victim:
            until(lambda: line.one(WAITS), "refdata is inside its transaction")
            victim.kill()
            line.pg.execute(NOTICE)
        line.wait_for_no_leader(Service.REFDATA)
    assert desk.sources("GLST") == stood
    assert (line.end(head)[0], line.row(head)["attempts"]) == ("PENDING", 0)

    with keeping(line) as process:
        until(lambda: line.end(head)[0] == "SUCCEEDED", "the next one ends it")
        process.wait_for_health("SERVING")
        with keeping(line) as standby:
            standby.wait_for_health("NOT_SERVING", "pump")
            assert standby.terminate() == 0
        assert process.terminate() == 0
        assert process.logged("stopped")
        assert not process.logged("loop fault")

    assert desk.records("GLST").keys() == {"2", "3"}
    assert {source[0] for source in desk.sources("GLST").values()} == {head}
