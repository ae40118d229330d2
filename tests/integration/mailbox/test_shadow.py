"""A shadow writes nothing into the mailbox, and a mailbox that is not meant is not used."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pymysql
import pytest
from pydantic import SecretStr

from msgx.domain.failure import Away, Unfit
from msgx.mailbox.connect import ReadOnly, Session, look
from msgx.mailbox.inbox import Mailbox
from msgx.settings import Mailbox as MailboxSettings
from tests.support.servers import mysql

pytestmark = [pytest.mark.mysql, pytest.mark.covers("R50")]

NOON = datetime(2026, 6, 15, 4, 0, tzinfo=UTC)


def settings(url: str, **more: Any) -> MailboxSettings:
    return MailboxSettings(url=SecretStr(url), **more)


@pytest.fixture
def upstream(mailbox_url: str) -> Iterator[Any]:
    with closing(mysql.connect(mailbox_url)) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG) VALUES (1, 'x')")
        yield cursor


def rows(upstream: Any) -> list[Any]:
    upstream.execute("SELECT CMINMSGS_ID, CMINMSGS_DATE_PROCESSED FROM CMINMSGS")
    return list(upstream.fetchall())


def test_no_write_leaves_a_shadow(mailbox_url: str, upstream: Any) -> None:
    with closing(Mailbox(settings(mailbox_url, read_only=True))) as mailbox:
        with pytest.raises(ReadOnly, match="read-only forbids writing marks"):
            mailbox.mark([(1, NOON)])
        with pytest.raises(ReadOnly):
            mailbox.land("<MSG/>", at=NOON)

        assert mailbox.raw([1]) == {1: "x"}
    assert rows(upstream) == [(1, None)]


def test_the_server_refuses_too_what_a_defect_would_write(
    mailbox_url: str, upstream: Any
) -> None:
    with (
        closing(Session(settings(mailbox_url, read_only=True))) as session,
        pytest.raises(Away, match="1792"),
        session.use("writing by mistake") as cursor,
    ):
        cursor.execute("UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = NOW()")

    assert rows(upstream) == [(1, None)]


def test_a_shadow_needs_no_right_but_to_read(mailbox_url: str, upstream: Any) -> None:
    parts = urlsplit(mailbox_url)
    user = f"ro_{parts.path[-12:]}"
    upstream.execute("CREATE USER %s@'%%' IDENTIFIED BY 'msgx'", (user,))
    upstream.execute(f"GRANT SELECT ON `{parts.path[1:]}`.* TO %s@'%%'", (user,))
    url = parts._replace(netloc=f"{user}:msgx@{parts.hostname}:{parts.port}").geturl()
    try:
        with closing(Mailbox(settings(url, read_only=True))) as mailbox:
            seen = (
                mailbox.scan(0, 9),
                mailbox.raw([1]),
                mailbox.highest(),
                mailbox.unmarked([1]),
            )
        with pytest.raises(pymysql.MySQLError), closing(mysql.connect(url)) as own:
            own.cursor().execute("DELETE FROM CMINMSGS")
    finally:
        upstream.execute("DROP USER %s@'%%'", (user,))

    assert [row.msg_id for row in seen[0]] == [1]
    assert seen[1:] == ({1: "x"}, 1, [1])


def test_the_mailbox_that_is_meant_is_known_by_its_name_and_schema(
    mailbox_url: str, upstream: Any
) -> None:
    upstream.execute("SELECT @@hostname, DATABASE()")
    host, schema = upstream.fetchone()
    meant = settings(
        mailbox_url,
        expected_server=frozenset({"elsewhere", host.upper()}),
        expected_schema=schema,
    )

    look(meant)

    with closing(Mailbox(meant)) as mailbox:
        assert mailbox.highest() == 1


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ({"expected_server": frozenset({"elsewhere"})}, "EXPECTED_SERVER"),
        ({"expected_schema": "elsewhere"}, "EXPECTED_SCHEMA"),
    ],
)
def test_another_mailbox_is_not_used(
    mailbox_url: str, expected: dict[str, Any], said: str
) -> None:
    meant = settings(mailbox_url, **expected)
    with closing(Mailbox(meant)) as mailbox:
        for act in partial(look, meant), mailbox.highest:
            with pytest.raises(Unfit, match=said):
                act()
