"""A Redis to fill by hand, a mailbox to look into, and the api on both."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import httpx
import pytest
from redis import Redis

from msgx.projection.keys import FORMAT, keys
from msgx.settings import Redis as RedisSettings
from tests.support.api import api_settings, serving
from tests.support.servers import mysql
from tests.support.waiting import PATIENCE_SECONDS

Rows = list[tuple[Any, ...]]


class HandmadeProjection:
    """Writes what the processor would write."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = Redis.from_url(
            url, decode_responses=True, socket_timeout=PATIENCE_SECONDS
        )
        self.keys = keys(RedisSettings.model_validate({"url": url}))

    def complete(self, flights: Mapping[str, str]) -> None:
        """Show exactly `flights`: another key is filled, then one switch."""
        fresh = f"{self.keys.flights}:fresh"
        switch = self.client.pipeline(transaction=True)
        if flights:
            self.client.hset(fresh, mapping=dict(flights.items()))
            switch.rename(fresh, self.keys.flights)
        else:
            switch.delete(self.keys.flights)
        switch.set(self.keys.epoch, f"{self.run_id}:{FORMAT}")
        switch.execute()

    @property
    def run_id(self) -> str:
        """The server's own name of this run."""
        return str(self.client.info("server")["run_id"])


@pytest.fixture
def projection(redis_url: str) -> Iterator[HandmadeProjection]:
    """An empty Redis database to fill."""
    made = HandmadeProjection(redis_url)
    with closing(made.client):
        yield made


class Inbox:
    """Looks into CMINMSGS from outside."""

    def __init__(self, url: str) -> None:
        self.url = url

    def execute(self, statement: str) -> Rows:
        """Run a statement on a fresh connection."""
        with closing(mysql.connect(self.url)) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def texts(self) -> dict[int, str]:
        """Return every landed text by its id."""
        rows = self.execute("SELECT CMINMSGS_ID, CMINMSGS_CLOB_MSG FROM CMINMSGS")
        return {int(msg_id): str(text) for msg_id, text in rows}


@pytest.fixture(scope="module")
def door(mysql_url: str) -> Iterator[tuple[Inbox, httpx.Client]]:
    """A mailbox and a client of an api on it; bodies up to 4,096 bytes; Redis is away."""
    with (
        mysql.mailbox(mysql_url) as mailbox,
        serving(api_settings(mailbox=mailbox, http={"max_body": 4096})) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        yield Inbox(mailbox), client


@pytest.fixture
def inbox(door: tuple[Inbox, httpx.Client]) -> Inbox:
    """The mailbox, empty."""
    inbox, _ = door
    inbox.execute("DELETE FROM CMINMSGS")
    return inbox


@pytest.fixture
def sender(door: tuple[Inbox, httpx.Client]) -> httpx.Client:
    """The client."""
    return door[1]


@pytest.fixture
def viewer(projection: HandmadeProjection) -> Iterator[httpx.Client]:
    """A client of an api on the projection; the mailbox is away."""
    with (
        serving(api_settings(redis=projection.url)) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        yield client
