"""Requests on their way to the mailbox, on real servers: once, or nobody knows (US-09, R08,
R34)."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from msgx.domain.failure import Away
from msgx.domain.requests import Match, MatchedBy, RequestType, Wish
from msgx.mailbox.connect import Unclear
from msgx.mailbox.outbound import Outbound
from msgx.runtime.leadership import Standby
from msgx.store import req_sending, req_track
from tests.support.dispatcher import NO_MAILBOX
from tests.support.relay import relayed
from tests.support.requests import Office, move_clock, office
from tests.support.servers import mysql, postgres

pytestmark = [pytest.mark.pg, pytest.mark.mysql]

JUNE: Wish = Wish.plan(
    datetime(2026, 6, 14, 16, tzinfo=UTC),
    datetime(2026, 6, 15, 15, 59, tzinfo=UTC),
    longest=timedelta(days=9),
)


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
        pg.execute("TRUNCATE req_track, proc_state, service_control")
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


def answered(desk: Office, msg_id: int, kind: tuple[RequestType, str]) -> Match:
    """Let a message be at work that answers the open request of `kind`."""
    desk.pg.execute(
        "INSERT INTO proc_state (msg_id, enqueued_at, updated_at) VALUES (%s, now(), now())",
        (msg_id,),
    )
    found = req_track.find(desk.pg, kind, msg_id)
    assert found is not None
    return Match(request=found, msg_id=msg_id, by=MatchedBy.TYPE, lag=None)


@pytest.mark.covers("US-09", "C-4", "CLM-8", "R34", "G-REQ-TRACK")
def test_a_waiting_request_is_written_once_and_sent_under_its_row(desk: Office) -> None:
    plan, gates = desk.register(JUNE), desk.register()

    desk.step(3)

    texts = desk.written()
    assert len(texts) == 2
    for req_id, styp in ((plan, "NONE"), (gates, "GLST")):
        state, seqn, row = desk.row(req_id, "state, seqn, out_id")
        assert state == "SENT"
        assert f"<SEQN>{seqn}</SEQN>" in texts[row]
        assert f"<STYP>{styp}</STYP>" in texts[row]
    assert "<BGTM>15JUN260000</BGTM><EDTM>15JUN262359</EDTM>" in texts[desk.row(plan, "out_id")]


@pytest.mark.covers("US-09", "R08")
def test_of_two_requests_of_a_kind_only_the_newer_one_stays_sent(desk: Office) -> None:
    one, other = desk.register(), desk.register()

    desk.step(3)

    assert (desk.row(one), desk.row(other)) == ("EXPIRED", "SENT")
    assert len(desk.written()) == 2


@pytest.mark.covers("US-09", "R08")
def test_registering_closes_nothing(desk: Office) -> None:
    one = desk.register()
    desk.step()

    desk.register()

    assert desk.row(one) == "SENT"


@pytest.mark.covers("US-09", "R08")
def test_a_request_with_an_answer_in_work_keeps_its_place_whatever_the_time(
    desk: Office,
) -> None:
    one, other = desk.register(), None
    desk.step()
    assert req_track.match(desk.pg, answered(desk, 9, (RequestType.RQRD, "GLST")))
    other = desk.register()
    desk.pass_time(3600)

    desk.step(2)

    assert (desk.row(one), desk.row(other)) == ("SENT", "PENDING")
    assert len(desk.written()) == 1


@pytest.mark.covers("US-09")
def test_an_unanswered_request_expires_in_time_and_not_before(desk: Office) -> None:
    req_id = desk.register()
    desk.step()
    desk.pass_time(9 * 60)
    desk.step()
    assert desk.row(req_id) == "SENT"

    desk.pass_time(10 * 60 + 1)
    desk.step()

    assert desk.row(req_id, "state, closed_at IS NULL") == ("EXPIRED", False)


@pytest.mark.covers("US-09")
def test_without_the_mailbox_a_request_waits_says_why_and_then_goes(
    pg_dsn: str, mailbox_url: str
) -> None:
    with office(pg_dsn, NO_MAILBOX) as away:
        req_id = away.register()
        with pytest.raises(Away):
            away.step()
        assert away.row(req_id, "state, last_error LIKE '%%mailbox%%'") == ("PENDING", True)

    with office(pg_dsn, mailbox_url) as desk:
        desk.step()

        assert desk.row(req_id, "state, last_error") == ("SENT", None)


@pytest.mark.covers("US-09", "R50")
def test_a_read_only_gateway_sends_nothing_and_says_so(pg_dsn: str, mailbox_url: str) -> None:
    with office(pg_dsn, mailbox_url, read_only=True) as desk:
        req_id = desk.register()

        desk.step(2)

        assert desk.row(req_id, "state, last_error LIKE '%%read-only%%'") == ("PENDING", True)
        assert desk.written() == {}


@pytest.mark.covers("R55")
def test_what_a_paused_loop_does_expires_and_sends_nothing(desk: Office) -> None:
    sent = desk.register()
    desk.step()
    waiting = desk.register(JUNE)
    desk.pass_time(desk.given.request.timeout.total_seconds() + 1)

    desk.outgoing.tend()

    assert (desk.row(sent), desk.row(waiting)) == ("EXPIRED", "PENDING")


@pytest.mark.covers("US-09", "R34", "R43")
def test_what_fails_before_commit_waits_again(desk: Office) -> None:
    desk.mysql("ALTER TABLE COUTMSGS CHANGE ROUTINGID ROUTE varchar(23) NOT NULL")
    req_id = desk.register()

    with pytest.raises(Away):
        desk.step()

    state, seqn, attempts, why = desk.row(req_id, "state, seqn, attempts, last_error")
    assert (state, seqn, attempts) == ("PENDING", None, 1)
    assert "1054" in why
    assert desk.written() == {}


@pytest.mark.covers("US-09", "INV-16", "R34", "R43", "B37")
def test_whichever_answer_of_the_mailbox_is_lost_one_row_is_written(
    pg_dsn: str, mailbox_url: str
) -> None:
    with (
        relayed(mailbox_url) as (relay, url),
        office(pg_dsn, url, timeout=timedelta(seconds=5)) as desk,
    ):
        desk.register()
        desk.step()
        ends = []
        for number in range(1, 6):  # floor, BEGIN, the session's bound, INSERT, COMMIT
            req_id = desk.register()
            relay.lose_answer(number)
            with pytest.raises(Away):
                desk.step()
            ends.append(desk.row(req_id))
            desk.step(2)

            assert desk.row(req_id) == "SENT"
            assert len(desk.written()) == number + 1
            assert max(desk.written()) == desk.row(req_id, "out_id")

        assert ends == [*["PENDING"] * 4, "SENDING"]


class Breaking(Outbound):
    """A mailbox that commits, and then breaks the connection or the caller."""

    breaks: Exception = Unclear("the answer was lost")
    writes = True

    def insert(self, text: str, *, at: datetime) -> int:
        """Write, or not, and fail as if nobody knew."""
        if self.writes:
            super().insert(text, at=at)
        raise self.breaks


class Silent(Breaking):
    """The same, but nothing was written."""

    writes = False


@pytest.mark.covers("US-09", "INV-16", "R34", "B37")
def test_a_row_that_was_written_in_doubt_is_found_and_never_written_again(
    pg_dsn: str, mailbox_url: str
) -> None:
    with office(pg_dsn, mailbox_url, kind=Breaking) as broken:
        req_id = broken.register()
        with pytest.raises(Unclear):
            broken.step()
        assert broken.row(req_id) == "SENDING"

    with office(pg_dsn, mailbox_url) as desk:
        desk.step(2)

        assert list(desk.written()) == [desk.row(req_id, "out_id")]
        assert desk.row(req_id) == "SENT"


@pytest.mark.covers("US-09", "INV-16", "R34", "B37")
def test_a_row_that_is_not_found_makes_the_request_unknown_after_a_second_look(
    pg_dsn: str, mailbox_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with office(pg_dsn, mailbox_url, kind=Silent) as desk:
        req_id = desk.register()
        with pytest.raises(Unclear):
            desk.step()
        desk.step()
        assert desk.row(req_id) == "SENDING"

        desk.pass_time(desk.outbound.settles.total_seconds() + 1)
        desk.step(2)

        assert desk.row(req_id) == "UNKNOWN"
        assert desk.written() == {}
        alarms = [one for one in caplog.records if one.levelname == "ERROR"]
        assert "request unknown" in [one.getMessage() for one in alarms]


@pytest.mark.covers("R34")
def test_a_commit_that_lands_late_is_found_by_the_second_look(
    pg_dsn: str, mailbox_url: str
) -> None:
    with office(pg_dsn, mailbox_url, kind=Silent) as desk:
        req_id = desk.register()
        with pytest.raises(Unclear):
            desk.step()
        desk.step()
        seqn = desk.row(req_id, "seqn")
        desk.mysql(
            "INSERT INTO COUTMSGS (COUTMSGS_CLOB_MSG, COUTMSGS_DATE_INSERTED, ROUTINGID) VALUES"
            f" ('<TYPE>RQRD</TYPE><STYP>GLST</STYP><SEQN>{seqn}</SEQN>', now(), 'AODB')"
        )
        desk.pass_time(desk.outbound.settles.total_seconds() + 1)

        desk.step()

        assert desk.row(req_id) == "SENT"


@pytest.mark.covers("R08", "US-09")
def test_a_newer_request_takes_the_place_of_an_unknown_one(
    pg_dsn: str, mailbox_url: str
) -> None:
    with office(pg_dsn, mailbox_url, kind=Silent) as broken:
        lost = broken.register()
        with pytest.raises(Unclear):
            broken.step()
        broken.pass_time(3600)
        broken.step()
        assert broken.row(lost) == "UNKNOWN"

    with office(pg_dsn, mailbox_url) as desk:
        newer = desk.register()
        desk.step()

        assert (desk.row(lost), desk.row(newer)) == ("EXPIRED", "SENT")


@pytest.mark.covers("US-09", "R08")
def test_an_answer_while_the_request_is_being_written_closes_it_and_the_row_is_added(
    pg_dsn: str, mailbox_url: str
) -> None:
    class Answered(Outbound):
        """An AODB that answers before we know that our row is there."""

        def insert(self, text: str, *, at: datetime) -> int:
            row = super().insert(text, at=at)
            with psycopg.connect(pg_dsn, autocommit=True) as pg:
                found = req_track.find(pg, (RequestType.RQRD, "GLST"), 9)
                assert found is not None
                answer = Match(request=found, msg_id=9, by=MatchedBy.TYPE, lag=None)
                assert req_track.close(pg, answer)
            return row

    with office(pg_dsn, mailbox_url, kind=Answered) as desk:
        req_id = desk.register()

        desk.step(2)

        state, row = desk.row(req_id, "state, out_id")
        assert (state, [row]) == ("DONE", list(desk.written()))


@pytest.mark.covers("R13", "R34")
def test_a_deposed_dispatcher_confirms_nothing_and_the_next_one_does(
    pg_dsn: str, mailbox_url: str
) -> None:
    class Deposing(Outbound):
        """A mailbox that is so slow that another dispatcher leads before it answers."""

        def insert(self, text: str, *, at: datetime) -> int:
            row = super().insert(text, at=at)
            with psycopg.connect(pg_dsn, autocommit=True) as pg:
                pg.execute("UPDATE service_term SET term = term + 1")
            return row

    with office(pg_dsn, mailbox_url, kind=Deposing) as broken:
        req_id = broken.register()
        with pytest.raises(Standby):
            broken.step()
        assert broken.row(req_id) == "SENDING"

    with office(pg_dsn, mailbox_url) as desk:
        desk.step(2)

        assert desk.row(req_id) == "SENT"
        assert len(desk.written()) == 1


@pytest.mark.covers("US-09", "B62", "G-REQ-TRACK-RETENTION")
def test_closed_requests_leave_after_their_time_and_open_ones_stay(desk: Office) -> None:
    old, fresh = desk.register(), desk.register()
    desk.step(3)
    desk.pg.execute(
        "UPDATE req_track SET closed_at = now() - interval '91 days' WHERE req_id = %s", (old,)
    )
    keep = timedelta(days=90)

    assert [req_sending.delete(desk.pg, keep=keep, limit=10) for _ in range(2)] == [1, 0]

    assert desk.row(fresh) == "SENT"


@pytest.mark.covers("R34")
def test_names_of_the_outbound_table_are_parameters(pg_dsn: str, mailbox_url: str) -> None:
    names: dict[str, Any] = {
        "table": "OUTBOX",
        "id_column": "ID",
        "text_column": "BODY",
        "inserted_column": "AT",
        "routing_column": "ROUTE",
        "routing": "SIS",
    }
    with office(pg_dsn, mailbox_url, **names) as desk:
        desk.mysql(
            "CREATE TABLE OUTBOX (ID bigint AUTO_INCREMENT PRIMARY KEY, BODY text,"
            " AT datetime NOT NULL, ROUTE varchar(23) NOT NULL)"
        )
        req_id = desk.register()

        desk.step()

        assert desk.row(req_id, "state, out_id") == ("SENT", 1)
        with pytest.raises(ValueError, match="pattern"):
            type(desk.given.request)(table="COUTMSGS; DROP TABLE CMINMSGS")


def test_the_number_has_six_digits_and_begins_anew(desk: Office) -> None:
    desk.pg.execute("SELECT setval('req_seqn_seq', 999998)")
    first = desk.register()
    desk.step()
    second = desk.register()
    desk.step()

    assert [desk.row(one, "seqn") for one in (first, second)] == ["999999", "000001"]
