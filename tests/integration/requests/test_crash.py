"""kill -9 between the row in COUTMSGS and SENT, with the real process (US-09, R34, INV-16)."""

from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from msgx.domain.requests import Wish
from msgx.store import req_register
from tests.support.dispatcher import settings
from tests.support.dispatcher_process import running
from tests.support.requests import move_clock, outbound_texts
from tests.support.servers import mysql
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql]


@pytest.mark.covers("US-09", "INV-16", "R34", "R43")
@pytest.mark.parametrize("committed", [True, False], ids=["written", "not-written"])
def test_a_killed_dispatcher_leaves_one_row_or_an_unknown_request(
    pg_dsn: str, mailbox_url: str, tmp_path: Path, committed: bool
) -> None:
    given = settings(pg_dsn, "127.0.0.1:1", "", mailbox=mailbox_url)
    slow = {"MSGX_MAILBOX__TIMEOUT": "PT60S"}  # the write waits for the kill
    with (
        psycopg.connect(pg_dsn, autocommit=True) as pg,
        psycopg.connect(pg_dsn) as holder,
        closing(mysql.connect(mailbox_url)) as mailbox,
        mailbox.cursor() as table,
    ):

        def state() -> str:
            (told,) = pg.execute("SELECT state FROM req_track").fetchone() or ("",)
            return str(told)

        # The write waits for the table; the confirmation will wait for the row.
        table.execute("LOCK TABLES COUTMSGS READ")
        req_register.register(pg, Wish.reference("GLST"), by="test", limit=9)
        with running(given, tmp_path / "first.log", **slow) as first:
            until(lambda: state() == "SENDING", "the request is claimed")
            holder.execute("SELECT FROM req_track FOR UPDATE")
            if committed:
                table.execute("UNLOCK TABLES")
                until(lambda: len(outbound_texts(mailbox_url)) == 1, "the row is written")
            first.kill()
            first.wait()
        holder.rollback()
        table.execute("UNLOCK TABLES")
        assert state() == "SENDING"
        if not committed:
            move_clock(pg, 60)  # nothing of it can land any more

        with running(given, tmp_path / "second.log"):
            until(lambda: state() != "SENDING", "the request is settled")

            rows = len(outbound_texts(mailbox_url))
            assert (state(), rows) == (("SENT", 1) if committed else ("UNKNOWN", 0))
