"""What the tests of intake share: the adapter's side of the mailbox, and what is registered."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from msgx.runtime.leadership import Leadership
from msgx.settings import Database
from msgx.settings import Leadership as LeadershipSettings
from msgx.store.service_term import Service
from tests.support.intake import Marking, answering, upstream


@pytest.fixture
def adapter(mailbox_url: str) -> Iterator[Any]:
    with upstream(mailbox_url) as connection:
        yield connection


@pytest.fixture
def registered(pg: "psycopg.Connection[Any]") -> Callable[[], list[int]]:
    """What has a record now."""
    query = "SELECT msg_id FROM proc_state ORDER BY msg_id"
    return lambda: [row[0] for row in pg.execute(query).fetchall()]


@pytest.fixture
def leadership(pg_dsn: str) -> Iterator[Leadership]:
    database = Database(dsn=SecretStr(pg_dsn))
    leads = Leadership(database, LeadershipSettings(), Service.INTAKE, environment="test")
    leads.hold()
    yield leads
    leads.lose()


@pytest.fixture
def operator(pg_dsn: str, leadership: Leadership) -> Iterator[Marking]:
    with answering(pg_dsn, leadership) as port, closing(Marking(port)) as operator:
        yield operator
