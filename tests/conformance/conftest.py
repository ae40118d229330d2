"""One bench for all cells: no cell can disturb another, since each has flights and days of its
own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from tests.support.processor import Places
from tests.support.servers import mysql, postgres, redis

if TYPE_CHECKING:
    from tests.conformance.bench import Bench

pytest.register_assert_rewrite(
    "tests.conformance.bench",
    "tests.conformance.checking",
    "tests.conformance.reference_checking",
)


@pytest.fixture(scope="module")
def bench(
    postgres_url: str, pg_template: str, mysql_url: str, redis_server_url: str
) -> Iterator[Bench]:
    """A processor on fresh servers, stepped by the test."""
    from tests.conformance.bench import Bench

    with (
        postgres.database(postgres_url, copy_of=pg_template) as dsn,
        mysql.mailbox(mysql_url) as mailbox_url,
        redis.database(redis_server_url) as redis_url,
    ):
        _hurry(dsn)
        places = Places(dsn=dsn, mailbox=mailbox_url, redis=redis_url)
        with closing(Bench(places)) as one:
            yield one


def _hurry(dsn: str) -> None:
    """Let no commit of this database wait for the disk: cells kill sessions, not the server."""
    with psycopg.connect(dsn, autocommit=True) as owner:
        name = sql.Identifier(owner.info.dbname)
        owner.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(name))
