"""What all tests on real servers share."""

import math
from collections.abc import Iterator

import pytest

from msgx.mailbox import connect
from tests.support.places import fresh
from tests.support.processor import Line, lining
from tests.support.worker import Places, clear


@pytest.fixture(autouse=True)
def _no_rest_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection to the mailbox is pinged, however long a test that is held up lets it rest:
    a ping is a statement more, and finds a lost connection before a step does."""
    monkeypatch.setattr(connect, "_PING_AFTER_SECONDS", math.inf)


@pytest.fixture(scope="module")
def places(
    postgres_url: str, pg_template: str, mysql_url: str, redis_server_url: str
) -> Iterator[Places]:
    """A migrated database, a mailbox and a Redis database."""
    with fresh(postgres_url, pg_template, mysql_url, redis_server_url) as made:
        yield made


@pytest.fixture
def line(places: Places) -> Iterator[Line]:
    """A processor on empty tables, stepped by the test."""
    clear(places)
    with lining(places) as one:
        yield one
