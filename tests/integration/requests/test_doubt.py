"""Requests whose write is in doubt: found, or UNKNOWN, and never written twice (US-09, R34,
INV-16)."""

from datetime import datetime

import psycopg
import pytest

from msgx.domain.failure import Away
from msgx.domain.requests import Match, MatchedBy, RequestType
from msgx.mailbox.connect import Unclear
from msgx.mailbox.outbound import Outbound
from msgx.runtime.leadership import Standby
from msgx.store import req_track
from tests.support.relay import relayed
from tests.support.requests import JUNE, Office, office

pytestmark = [pytest.mark.pg, pytest.mark.mysql]


@pytest.mark.covers("US-09", "INV-16", "R34", "R43", "B37")
def test_whichever_answer_of_the_mailbox_is_lost_one_row_is_written(
    pg_dsn: str, mailbox_url: str
) -> None:
    with (
        relayed(mailbox_url) as (relay, url),
        office(pg_dsn, url) as desk,
    ):
        desk.register()
        desk.step()
        ends = []
        asked = (b"SELECT MAX", b"BEGIN", b"wait_timeout", b"INSERT", b"COMMIT")
        for number, words in enumerate(asked, start=1):
            req_id = desk.register()
            relay.lose_answer(words)
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

    def insert(self, text: str, *, at: datetime, until: float) -> int:
        """Write, or not, and fail as if nobody knew."""
        if self.writes:
            super().insert(text, at=at, until=until)
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
        land(desk, req_id)
        desk.pass_time(desk.outbound.settles.total_seconds() + 1)

        desk.step()

        assert desk.row(req_id) == "SENT"


@pytest.mark.covers("R34", "INV-16")
@pytest.mark.parametrize("other", ["SNDR", "DTTM", "SEQN", "TYPE", "STYP"])
def test_a_row_that_another_system_wrote_is_not_taken_for_ours(
    pg_dsn: str, mailbox_url: str, other: str
) -> None:
    with office(pg_dsn, mailbox_url, kind=Silent) as desk:
        req_id = desk.register()
        with pytest.raises(Unclear):
            desk.step()
        land(desk, req_id, **{other: "1"})
        desk.pass_time(desk.outbound.settles.total_seconds() + 1)

        desk.step()

        assert desk.row(req_id) == "UNKNOWN"


@pytest.mark.covers("R34", "INV-16")
def test_a_row_that_was_there_before_is_not_taken_for_ours(
    pg_dsn: str, mailbox_url: str
) -> None:
    with office(pg_dsn, mailbox_url, kind=Silent) as desk:
        req_id = desk.register()
        with pytest.raises(Unclear):
            desk.step()
        land(desk, req_id)
        desk.pg.execute("UPDATE req_track SET out_id_floor = 1")
        desk.pass_time(desk.outbound.settles.total_seconds() + 1)

        desk.step()

        assert (list(desk.written()), desk.row(req_id)) == ([1], "UNKNOWN")


@pytest.mark.covers("R34", "INV-16")
def test_an_unknown_request_does_not_expire_by_time(pg_dsn: str, mailbox_url: str) -> None:
    with office(pg_dsn, mailbox_url, kind=Silent) as broken:
        lost = broken.register()
        with pytest.raises(Unclear):
            broken.step()
        broken.pass_time(broken.outbound.settles.total_seconds() + 1)
        broken.step()
        assert broken.row(lost) == "UNKNOWN"

    with office(pg_dsn, mailbox_url) as desk:
        other = desk.register(JUNE)
        desk.step()
        desk.pass_time(3600)

        desk.step()

        assert (desk.row(other), desk.row(lost)) == ("EXPIRED", "UNKNOWN")


def land(desk: Office, req_id: int, **others: str) -> None:
    """Let the row of a request stand in the mailbox, or one that differs from it."""
    seqn, at = desk.row(req_id, "seqn, sending_at AT TIME ZONE 'Asia/Shanghai'")
    ours = {"SNDR": "OSH5", "SEQN": seqn, "DTTM": f"{at:%Y%m%d%H%M%S}"}
    told = ours | {"TYPE": "RQRD", "STYP": "GLST"} | others
    meta = "".join(f"<{tag}>{text}</{tag}>" for tag, text in told.items())
    desk.mysql(
        "INSERT INTO COUTMSGS (COUTMSGS_CLOB_MSG, COUTMSGS_DATE_INSERTED, ROUTINGID) VALUES"
        f" ('<MSG><META>{meta}</META></MSG>', now(), 'AODB')"
    )


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

        def insert(self, text: str, *, at: datetime, until: float) -> int:
            row = super().insert(text, at=at, until=until)
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

        def insert(self, text: str, *, at: datetime, until: float) -> int:
            row = super().insert(text, at=at, until=until)
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


@pytest.mark.covers("R34", "R43", "R13", "B42")
def test_who_was_stopped_between_claim_and_write_writes_nothing_any_more(
    pg_dsn: str, mailbox_url: str
) -> None:
    class Stopped(Outbound):
        """A mailbox whose caller slept until all its patience was over."""

        def insert(self, text: str, *, at: datetime, until: float) -> int:
            slept = self.patience.total_seconds() + 0.001
            return super().insert(text, at=at, until=until - slept)

    with office(pg_dsn, mailbox_url, kind=Stopped) as desk:
        req_id = desk.register()
        with pytest.raises(Away, match="too slow"):
            desk.step()

        assert desk.row(req_id) == "PENDING"
        assert desk.written() == {}
