"""Fixtures that name servers; every one can be used by several test runs at once."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from deploy import local
from tests.support.servers import kafka, mysql, postgres, redis
from tests.support.servers.source import FIXTURES, Servers


@pytest.fixture(scope="session")
def servers(request: pytest.FixtureRequest) -> Iterator[Servers]:
    """The session's servers, started together when the first one is used."""
    used = {
        name for item in request.session.items for name in getattr(item, "fixturenames", ())
    }
    with ExitStack() as resources:
        yield Servers((FIXTURES[name] for name in used & set(FIXTURES)), resources)


@pytest.fixture(scope="session")
def postgres_url(servers: Servers) -> str:
    """A superuser's URL of the PostgreSQL server."""
    return servers.url("postgres")


@pytest.fixture(scope="session")
def mysql_url(servers: Servers) -> str:
    """An administrator's URL of the MySQL or MariaDB server."""
    return servers.url("mysql")


@pytest.fixture(scope="session")
def redis_server_url(servers: Servers) -> str:
    """Database 0 of the shared Redis server: tests take `redis_url` instead."""
    return servers.url("redis")


@pytest.fixture(scope="session")
def kafka_bootstrap(servers: Servers) -> str:
    """The Kafka broker's address. Topics go under `kafka_prefix`."""
    return servers.url("kafka")


@pytest.fixture(scope="session")
def pg_template(postgres_url: str) -> Iterator[str]:
    """The name of a migrated database to copy."""
    with postgres.template(postgres_url) as name:
        yield name


@pytest.fixture
def pg_dsn(postgres_url: str, pg_template: str) -> Iterator[str]:
    """A fresh migrated database, as its owner."""
    with postgres.database(postgres_url, copy_of=pg_template) as dsn:
        yield dsn


@pytest.fixture
def pg(pg_dsn: str) -> Iterator[psycopg.Connection]:
    """An autocommitting connection to the fresh database."""
    with psycopg.connect(pg_dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def empty_pg_dsn(postgres_url: str) -> Iterator[str]:
    """A database without any migration."""
    with postgres.database(postgres_url) as dsn:
        yield dsn


@pytest.fixture
def mailbox_url(mysql_url: str) -> Iterator[str]:
    """A fresh mailbox with CMINMSGS and COUTMSGS."""
    with mysql.mailbox(mysql_url) as url:
        yield url


@pytest.fixture
def redis_url(redis_server_url: str) -> Iterator[str]:
    """An empty logical database of the shared server: never FLUSHALL, only FLUSHDB."""
    with redis.database(redis_server_url) as url:
        yield url


@pytest.fixture
def own_redis_url() -> Iterator[str]:
    """A Redis server for this test alone, to be paused, flushed or configured."""
    with local.running(servers=["redis"]) as endpoints:
        yield endpoints.redis


@pytest.fixture
def kafka_prefix(kafka_bootstrap: str) -> Iterator[str]:
    """A topic prefix of this test's own."""
    with kafka.prefix(kafka_bootstrap) as own:
        yield own
