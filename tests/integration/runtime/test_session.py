"""A loop's own connection to PostgreSQL."""

from contextlib import closing
from datetime import timedelta

import pytest
from pydantic import SecretStr

from msgx.runtime.session import Session
from msgx.settings import Database, Leadership


@pytest.mark.pg
@pytest.mark.covers("R13")
def test_a_stopped_process_keeps_what_its_transaction_locked_no_longer_than_a_leader(
    pg_dsn: str,
) -> None:
    with (
        closing(Session(Database(dsn=SecretStr(pg_dsn)), "test")) as session,
        session.use("asking") as conn,
    ):
        row = conn.execute(
            "SELECT current_setting('idle_in_transaction_session_timeout')::interval"
        ).fetchone()

    assert row is not None
    assert timedelta() < row[0] <= Leadership().timeout
