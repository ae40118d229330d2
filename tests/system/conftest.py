"""Places for processes: a database, a mailbox, and a Redis server of their own."""

from collections.abc import Iterator

import pytest

from deploy import local
from tests.support.processor import Line, lining
from tests.support.servers import mysql, postgres
from tests.support.worker import Places, clear


@pytest.fixture(scope="module")
def places(postgres_url: str, pg_template: str, mysql_url: str) -> Iterator[Places]:
    """What a module shares; its Redis server may be paused."""
    with (
        postgres.database(postgres_url, copy_of=pg_template) as dsn,
        mysql.mailbox(mysql_url) as mailbox_url,
        local.running(servers=["redis"]) as endpoints,
    ):
        yield Places(dsn=dsn, mailbox=mailbox_url, redis=endpoints.redis)


@pytest.fixture
def line(places: Places) -> Iterator[Line]:
    """Empty tables, and the test's own eyes and hands on them; it steps nothing itself."""
    clear(places)
    with lining(places) as one:
        yield one
