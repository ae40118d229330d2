"""One database and one mailbox for all tests of a module, and a dispatcher's desk on them."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from tests.support.requests import Office, move_clock, office
from tests.support.servers import mysql, postgres


@pytest.fixture(scope="module")
def places(postgres_url: str, pg_template: str, mysql_url: str) -> Iterator[tuple[str, str]]:
    """A database and a mailbox for all tests of the module."""
    with (
        postgres.database(postgres_url, copy_of=pg_template) as dsn,
        mysql.mailbox(mysql_url) as mailbox,
    ):
        yield dsn, mailbox


@pytest.fixture
def pg_dsn(places: tuple[str, str]) -> str:
    """The database, emptied, with the right time."""
    with psycopg.connect(places[0], autocommit=True) as pg:
        pg.execute("TRUNCATE req_track, proc_state, service_control, admin_audit")
        move_clock(pg, 0)
    return places[0]


@pytest.fixture
def mailbox_url(places: tuple[str, str]) -> str:
    """The mailbox, as new."""
    with closing(mysql.connect(places[1])) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE COUTMSGS, CMINMSGS")
    mysql.make_tables(places[1])
    return places[1]


@pytest.fixture
def desk(pg_dsn: str, mailbox_url: str) -> Iterator[Office]:
    with office(pg_dsn, mailbox_url) as one:
        yield one
