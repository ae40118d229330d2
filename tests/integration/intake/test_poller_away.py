"""Scanning while a server is away or cuts us off, on real servers."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from msgx.domain.failure import Away
from tests.support.intake import catch_up, land, land_many, lead, polling, upstream
from tests.support.relay import relayed
from tests.support.servers import mysql

pytestmark = [pytest.mark.pg, pytest.mark.mysql]

Pg = psycopg.Connection[Any]
Registered = Callable[[], list[int]]


@pytest.mark.covers("B12", "B53")
def test_a_mailbox_that_was_away_is_read_on_from_where_it_was(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    with (
        relayed(mailbox_url) as (relay, url),
        polling(pg_dsn, url, lead(pg), batch=10) as poller,
    ):
        land_many(adapter, range(1, 26))
        poller.step()
        relay.cut()
        for _ in range(3):
            with pytest.raises(Away):
                poller.step()
        before = registered()
        relay.restore()

        catch_up(poller)

    assert before == list(range(1, 11))
    assert registered() == list(range(1, 26))


@pytest.mark.covers("B12")
def test_a_killed_session_of_the_mailbox_costs_one_step(
    pg: Pg, pg_dsn: str, mailbox_url: str, registered: Registered
) -> None:
    with polling(pg_dsn, mailbox_url, lead(pg)) as poller:
        catch_up(poller)
        mysql.end_sessions(mailbox_url)
        with upstream(mailbox_url) as adapter:
            land(adapter, 1)
        with pytest.raises(Away):
            poller.step()

        poller.step()

    assert registered() == [1]


@pytest.mark.covers("B12")
def test_a_killed_session_of_postgresql_costs_one_step(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    with polling(pg_dsn, mailbox_url, lead(pg)) as poller:
        land(adapter, 1)
        catch_up(poller)
        pg.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'msgx-intake-test'"
        )
        land(adapter, 2)
        with pytest.raises(Away):
            poller.step()

        poller.step()

    assert registered() == [1, 2]
