"""One migrated database for all; what a test writes is taken back."""

from collections.abc import Iterator

import psycopg
import pytest

from msgx.store.connect import Connection
from tests.support.servers import postgres


@pytest.fixture(scope="session")
def store_dsn(postgres_url: str, pg_template: str) -> Iterator[str]:
    """The shared database, as its owner."""
    with postgres.database(postgres_url, copy_of=pg_template) as dsn:
        yield dsn


@pytest.fixture
def db(store_dsn: str) -> Iterator[Connection]:
    """A connection in a transaction that is rolled back, in UTC as the services' are."""
    with psycopg.connect(store_dsn, options="-c timezone=UTC") as conn:
        yield conn
        conn.rollback()
