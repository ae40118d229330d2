"""A line for each test on databases that a module shares, emptied before each test."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.processor import Line, lining
from tests.support.servers import mysql, postgres, redis
from tests.support.worker import Places, clear


@pytest.fixture(scope="module")
def places(
    postgres_url: str, pg_template: str, mysql_url: str, redis_server_url: str
) -> Iterator[Places]:
    """A migrated database, a mailbox and a Redis database."""
    with (
        postgres.database(postgres_url, copy_of=pg_template) as dsn,
        mysql.mailbox(mysql_url) as mailbox_url,
        redis.database(redis_server_url) as redis_url,
    ):
        yield Places(dsn=dsn, mailbox=mailbox_url, redis=redis_url)


@pytest.fixture
def line(places: Places) -> Iterator[Line]:
    """A processor on empty tables, stepped by the test."""
    clear(places)
    with lining(places) as one:
        yield one


@pytest.fixture
def pg(line: Line) -> "psycopg.Connection[object]":
    """The owner's connection of the line."""
    return line.pg
