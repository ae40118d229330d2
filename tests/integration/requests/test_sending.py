"""Requests on their way to the mailbox, on real servers: once, or nobody knows (US-09, R08,
R34)."""

from datetime import timedelta
from typing import Any

import pytest

from msgx.domain.failure import Away, Fault
from msgx.domain.requests import Match, MatchedBy, RequestType
from msgx.store import req_sending, req_track
from tests.support.dispatcher import NO_MAILBOX
from tests.support.requests import JUNE, Office, office

pytestmark = [pytest.mark.pg, pytest.mark.mysql]


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
    assert req_sending.next_waiting(desk.pg) is None, "else the loop would not rest"


@pytest.mark.covers("US-09", "R08")
def test_an_answer_that_begins_just_before_the_claim_keeps_the_place(desk: Office) -> None:
    one = desk.register()
    desk.step()
    other = desk.register()
    waiting = req_sending.next_waiting(desk.pg)
    assert waiting is not None
    assert req_track.match(desk.pg, answered(desk, 9, (RequestType.RQRD, "GLST")))

    with desk.pg.transaction():
        claimed = req_sending.claim(desk.pg, waiting, floor=0, timeout=timedelta(minutes=1))

    assert claimed is None
    assert (desk.row(one), desk.row(other)) == ("SENT", "PENDING")


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


@pytest.mark.covers("US-09", "R34")
def test_what_the_table_cannot_hold_waits_and_says_so(pg_dsn: str, mailbox_url: str) -> None:
    with office(pg_dsn, mailbox_url, routing="A") as desk:
        desk.mysql("ALTER TABLE COUTMSGS MODIFY COUTMSGS_CLOB_MSG varchar(9) NOT NULL")
        req_id = desk.register()

        with pytest.raises(Fault, match="cannot hold this request"):
            desk.step()

        assert desk.row(req_id, "state, last_error LIKE '%%cannot hold%%'") == ("PENDING", True)
        assert desk.written() == {}


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


@pytest.mark.covers("US-09")
def test_what_cannot_be_written_lets_other_kinds_go_and_keeps_the_order_of_its_own(
    desk: Office,
) -> None:
    desk.mysql(
        "CREATE TRIGGER refuse BEFORE INSERT ON COUTMSGS FOR EACH ROW IF"
        " NEW.COUTMSGS_CLOB_MSG LIKE '%RQFD%' THEN SIGNAL SQLSTATE '45000'; END IF"
    )
    plan, other_plan, gates = desk.register(JUNE), desk.register(JUNE), desk.register()
    with pytest.raises(Away):
        desk.step()

    desk.step()
    assert [desk.row(one) for one in (plan, other_plan, gates)] == [
        "PENDING", "PENDING", "SENT",
    ]  # fmt: skip
    desk.mysql("DROP TRIGGER refuse")
    desk.step(2)

    assert [desk.row(one) for one in (plan, other_plan)] == ["EXPIRED", "SENT"]
