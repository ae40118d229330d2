"""CMINMSGS through the production connection settings."""

import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from msgx.domain.failure import Away, ErrorClass, Fault
from msgx.domain.marking import Marking
from msgx.mailbox import connect
from msgx.mailbox.inbox import Mailbox, Oversized, Row
from msgx.settings import Mailbox as MailboxSettings
from tests.support import patient
from tests.support.intake import land, mark_of, run
from tests.support.servers import mysql
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.mysql

NOON = datetime(2026, 6, 15, 4, 0, tzinfo=UTC)  # 12:00 in Shanghai
LOCAL_NOON = datetime(2026, 6, 15, 12, 0)  # noqa: DTZ001 - as the mailbox stores it


def settings(url: str, **more: Any) -> MailboxSettings:
    return MailboxSettings(**{"url": SecretStr(url), "timeout": patient.PATIENT} | more)


@pytest.fixture
def mailbox(mailbox_url: str) -> Iterator[Mailbox]:
    with closing(Mailbox(settings(mailbox_url))) as mailbox:
        yield mailbox


@pytest.fixture
def adapter(mailbox_url: str) -> Iterator[Any]:
    """Another session, as upstream has it."""
    with closing(mysql.connect(mailbox_url)) as connection:
        yield connection


@pytest.mark.covers("B53", "INV-2b")
def test_a_row_of_another_session_is_seen_by_the_next_scan(
    mailbox: Mailbox, adapter: Any
) -> None:
    before = mailbox.scan(0, 10)
    land(adapter, 1, date_received=LOCAL_NOON)

    after = mailbox.scan(0, 10)

    assert before == []
    assert after == [Row(msg_id=1, received_at=NOON)]


@pytest.mark.covers("INV-2b")
def test_a_scan_returns_unmarked_rows_in_order_up_to_its_limit(
    mailbox: Mailbox, adapter: Any
) -> None:
    for msg_id in (9, 3, 5, 7, 8):
        land(adapter, msg_id)
    land(adapter, 4, date_processed=LOCAL_NOON)

    assert [row.msg_id for row in mailbox.scan(3, 2)] == [5, 7]
    assert [row.msg_id for row in mailbox.scan(0, 9, until=8)] == [3, 5, 7, 8]


@pytest.mark.covers("B14")
def test_reach_counts_rows_not_ids(mailbox: Mailbox, adapter: Any) -> None:
    for msg_id in (1, 2, 4_000_000_000_000, 4_000_000_000_001):
        land(adapter, msg_id, date_processed=LOCAL_NOON)

    assert mailbox.reach(0, 3) == 4_000_000_000_000
    assert mailbox.reach(0, 100) == 4_000_000_000_001
    assert mailbox.reach(4_000_000_000_001, 100) is None
    assert mailbox.highest() == 4_000_000_000_001


def test_an_empty_mailbox_has_nothing(mailbox: Mailbox) -> None:
    assert (mailbox.highest(), mailbox.reach(0, 5), mailbox.scan(0, 5)) == (0, None, [])
    assert (mailbox.raw([]), mailbox.raw([1]), mailbox.mark([])) == ({}, {}, {})


@pytest.mark.covers("B54")
@pytest.mark.parametrize("zero", ["0000-00-00 00:00:00", "2026-00-00 00:00:00"])
def test_a_zero_time_of_receipt_is_unknown(mailbox: Mailbox, adapter: Any, zero: str) -> None:
    run(adapter, "SET SESSION sql_mode = ''")
    land(adapter, 1, date_received=zero)
    land(adapter, 2)

    rows = mailbox.scan(0, 10)

    assert rows == [Row(msg_id=1, received_at=None), Row(msg_id=2, received_at=None)]


@pytest.mark.covers("B54")
def test_a_zero_mark_means_not_processed_and_is_reported(
    mailbox: Mailbox, adapter: Any
) -> None:
    run(adapter, "SET SESSION sql_mode = ''")
    land(adapter, 1, date_processed="0000-00-00 00:00:00")

    rows = mailbox.scan(0, 10)
    outcome = mailbox.mark([(1, NOON)])

    assert rows == [Row(msg_id=1, received_at=None, zero_mark=True)]
    assert outcome == {1: Marking.MARKED}
    assert mark_of(adapter, 1) == LOCAL_NOON


@pytest.mark.covers("B52", "R52")
@pytest.mark.parametrize("server_zone", ["+08:00", "-05:00"])
def test_times_are_local_to_the_mailbox_whatever_the_server_thinks(
    mailbox_url: str, adapter: Any, server_zone: str
) -> None:
    run(adapter, "SELECT GET_LOCK('msgx_test_time_zone', %s)", PATIENCE_SECONDS)
    (before,) = run(adapter, "SELECT @@global.time_zone")
    run(adapter, "SET GLOBAL time_zone = %s", server_zone)
    try:
        with closing(Mailbox(settings(mailbox_url))) as mailbox:
            land(adapter, 1, date_received=LOCAL_NOON)
            landed = mailbox.land("<MSG/>", at=NOON)
            mailbox.mark([(1, NOON)])

            (row,) = mailbox.scan(1, 10)
    finally:
        run(adapter, "SET GLOBAL time_zone = %s", before[0])
        run(adapter, "SELECT RELEASE_LOCK('msgx_test_time_zone')")

    assert row == Row(msg_id=landed, received_at=NOON)
    assert mark_of(adapter, 1) == LOCAL_NOON


@pytest.mark.covers("B52")
def test_daylight_saving_of_the_mailbox_zone_is_ours_to_know(
    mailbox_url: str, adapter: Any
) -> None:
    summer = datetime(2026, 7, 1, 10, 0, tzinfo=UTC)
    winter = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)

    with closing(Mailbox(settings(mailbox_url, zone="Europe/Berlin"))) as mailbox:
        ids = [mailbox.land("<MSG/>", at=at) for at in (summer, winter)]
        rows = mailbox.scan(0, 10)

    stored = run(adapter, "SELECT HOUR(CMINMSGS_DATE_RECEIVED) FROM CMINMSGS ORDER BY 1")
    assert [row.received_at for row in rows] == [summer, winter]
    assert [row.msg_id for row in rows] == ids
    assert stored == [(11,), (12,)]


def test_a_landed_row_is_an_ordinary_row(mailbox: Mailbox, adapter: Any) -> None:
    msg_id = mailbox.land("<MSG>天气 𠜎 ✈️</MSG>", at=NOON)

    stored = run(adapter, "SELECT CMINMSGS_STATUS, CMINMSGS_DATE_PROCESSED FROM CMINMSGS")
    assert mailbox.raw([msg_id]) == {msg_id: "<MSG>天气 𠜎 ✈️</MSG>"}
    assert mailbox.scan(0, 10) == [Row(msg_id=msg_id, received_at=NOON)]
    assert stored == [("VALID", None)]


@pytest.mark.covers("B56")
def test_text_that_a_three_byte_column_cannot_hold_is_refused_whole(
    mailbox: Mailbox, adapter: Any
) -> None:
    run(
        adapter,
        "ALTER TABLE CMINMSGS MODIFY CMINMSGS_CLOB_MSG mediumtext"
        " CHARACTER SET utf8mb3 NOT NULL",
    )

    with pytest.raises(Fault) as refused:
        mailbox.land("<MSG>𠜎</MSG>", at=NOON)

    assert refused.value.error_class is ErrorClass.PROTOCOL
    assert run(adapter, "SELECT count(*) FROM CMINMSGS") == [(0,)]
    assert mailbox.raw([mailbox.land("<MSG>天</MSG>", at=NOON)]).popitem()[1] == "<MSG>天</MSG>"


@pytest.mark.covers("B56")
def test_a_lone_surrogate_is_refused(mailbox: Mailbox) -> None:
    with pytest.raises(Fault) as refused:
        mailbox.land("<MSG>\ud800</MSG>", at=NOON)

    assert refused.value.error_class is ErrorClass.PROTOCOL
    assert mailbox.highest() == 0


def test_a_body_over_the_limit_is_recognised_not_loaded(mailbox: Mailbox) -> None:
    small, large = (mailbox.land("天" * count, at=NOON) for count in (10, 11))

    bodies = mailbox.raw([small, large, 99], max_bytes=30)

    assert bodies == {small: "天" * 10, large: Oversized(33)}


@pytest.mark.covers("INV-3", "R46")
def test_a_row_without_a_body_has_none_and_hides_no_other(
    mailbox: Mailbox, adapter: Any
) -> None:
    """The column of today refuses it; but it is not ours (C-2)."""
    run(adapter, "ALTER TABLE CMINMSGS MODIFY CMINMSGS_CLOB_MSG mediumtext")
    run(adapter, "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (NULL), ('<MSG/>')")

    assert mailbox.raw([1, 2]) == {2: "<MSG/>"}


@pytest.mark.covers("INV-7", "R52", "R43")
def test_marks_are_written_once_and_never_over_another_value(
    mailbox: Mailbox, adapter: Any
) -> None:
    earlier = LOCAL_NOON - timedelta(days=1)
    for msg_id in (1, 2):
        land(adapter, msg_id)
    land(adapter, 3, date_processed=earlier)
    hour = timedelta(hours=1)

    first = mailbox.mark([(1, NOON), (2, NOON + hour), (3, NOON), (4, NOON)])
    second = mailbox.mark([(1, NOON + hour), (2, NOON + hour)])

    assert first == {
        1: Marking.MARKED,
        2: Marking.MARKED,
        3: Marking.ALREADY,
        4: Marking.MISSING,
    }
    assert second == {1: Marking.ALREADY, 2: Marking.ALREADY}
    assert [mark_of(adapter, msg_id) for msg_id in (1, 2, 3)] == [
        LOCAL_NOON,
        LOCAL_NOON + hour,
        earlier,
    ]


@pytest.mark.covers("R43", "B21")
def test_a_row_that_another_session_holds_delays_only_itself(
    mailbox: Mailbox, mailbox_url: str, adapter: Any
) -> None:
    for msg_id in (1, 2):
        land(adapter, msg_id)
    with closing(mysql.connect(mailbox_url)) as holder:
        holder.begin()
        run(holder, "SELECT 1 FROM CMINMSGS WHERE CMINMSGS_ID = 1 FOR UPDATE")
        held = mailbox.mark([(1, NOON), (2, NOON)])
        holder.rollback()  # a mere end of the session frees the row a moment later

    freed = mailbox.mark([(1, NOON), (2, NOON)])

    assert held == {1: Marking.BUSY, 2: Marking.MARKED}
    assert freed == {1: Marking.MARKED, 2: Marking.ALREADY}


@pytest.mark.covers("R43")
def test_a_mark_that_gave_up_waiting_never_lands_later(mailbox_url: str, adapter: Any) -> None:
    """The adapter alters the table while we want to write: we give up, and so does the
    server."""
    land(adapter, 1)
    with (
        closing(mysql.connect(mailbox_url)) as holder,
        closing(Mailbox(settings(mailbox_url, timeout=timedelta(seconds=2)))) as mailbox,
    ):
        run(holder, "LOCK TABLES CMINMSGS WRITE")
        with pytest.raises(Away):
            mailbox.mark([(1, NOON)])
        run(holder, "UNLOCK TABLES")
        run(holder, "LOCK TABLES CMINMSGS WRITE")  # whoever still waited has been served

        assert mark_of(holder, 1) is None


@pytest.mark.covers("B12")
def test_a_lost_connection_is_one_fault_and_the_next_use_opens_another(
    mailbox: Mailbox, mailbox_url: str
) -> None:
    mailbox.land("<MSG/>", at=NOON)
    mysql.end_sessions(mailbox_url)

    with pytest.raises(Away, match="the mailbox failed scanning"):
        mailbox.scan(0, 1)

    assert [row.msg_id for row in mailbox.scan(0, 1)] == [1]


@pytest.mark.covers("B12")
def test_a_connection_that_was_lost_during_a_rest_costs_nothing(
    mailbox: Mailbox, mailbox_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "_PING_AFTER_SECONDS", 0)
    mailbox.land("<MSG/>", at=NOON)
    mysql.end_sessions(mailbox_url)

    assert [row.msg_id for row in mailbox.scan(0, 1)] == [1]


def test_a_server_that_is_not_there_is_away_without_a_secret() -> None:
    mailbox = Mailbox(settings("mysql://who:s3cret%2F@127.0.0.1:9/none"))

    with pytest.raises(Away) as away:
        mailbox.scan(0, 1)

    assert away.value.error_class is ErrorClass.INFRA
    assert "s3cret" not in repr(away.value)


@pytest.mark.covers("R43")
@pytest.mark.parametrize("seconds", [0.8, 2, 5, 60])
def test_a_lock_is_given_up_before_the_socket_is(mailbox_url: str, seconds: float) -> None:
    given = settings(mailbox_url, timeout=timedelta(seconds=seconds))
    with closing(connect.Session(given)) as session, session.use("looking") as cursor:
        cursor.execute("SELECT @@innodb_lock_wait_timeout, @@lock_wait_timeout")
        locks: Any = cursor.fetchone()
        own: Any = cursor.connection

    assert 0 < max(locks) < own._read_timeout


@pytest.mark.covers("B12")
def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"mysql://u:p@127.0.0.1:{silent.getsockname()[1]}/s"
        mailbox = Mailbox(settings(url, timeout=timedelta(seconds=1)))

        with pytest.raises(Away, match="does not accept"):
            mailbox.scan(0, 1)


def test_a_percent_encoded_account_can_log_in(mailbox_url: str, adapter: Any) -> None:
    schema = mailbox_url.rsplit("/", 1)[1]
    host = mailbox_url.split("@")[1].split("/")[0]
    user = schema[-12:]
    run(adapter, "CREATE USER %s@'127.0.0.1' IDENTIFIED BY %s", user, "p@:/#%é")
    try:
        run(adapter, f"GRANT SELECT ON {schema}.* TO %s@'127.0.0.1'", user)
        url = f"mysql://{user}:p%40%3A%2F%23%25%C3%A9@{host}/{schema}"
        with closing(Mailbox(settings(url))) as mailbox:
            highest = mailbox.highest()
            with pytest.raises(Away):
                mailbox.land("<MSG/>", at=NOON)
    finally:
        run(adapter, "DROP USER %s@'127.0.0.1'", user)

    assert highest == 0
