"""SCHD-RESP: what it answers, what it speaks for, and when its request is DONE (US-09, R08,
R12, R17, R56)."""

from datetime import timedelta
from typing import Any

import pytest

from msgx.domain.failure import Away
from msgx.domain.flight import FlightState
from tests.support.asked import JUST_BEFORE, asked, request
from tests.support.messages import adft, fltr, resp
from tests.support.processor import Line, refusing
from tests.support.relay import relayed

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

SMALL: dict[str, Any] = {"batch": 2}
SKIPPED = "SKIPPED", None


def active(line: Line) -> set[str]:
    return {flid for flid in line.flids() if line.flight(flid).state is FlightState.ACTIVE}


@pytest.mark.covers("US-09", "R17", "R56", "INV-15b", "US-07")
@pytest.mark.parametrize("state", ["SENT", "SENDING", "UNKNOWN"])
def test_an_answer_is_the_truth_about_the_asked_day_and_closes_its_request(
    line: Line, state: str
) -> None:
    line.run(adft(fltr("8"), fltr("9"), fltr("10", sodt="06JAN261200")))
    req_id = asked(line.pg, state=state)

    (done,) = line.run(resp(fltr("1"), fltr("9")))

    assert line.end(done) == ("SUCCEEDED", None, None)
    assert active(line) == {"1", "9", "10"}
    columns = (
        "req_track.state, matched_msg_id, matched_by, matched_lag, closed_at = finished_at"
    )
    row = line.pg.execute(
        f"SELECT {columns} FROM req_track JOIN proc_state ON msg_id = matched_msg_id"
        " WHERE req_id = %s",
        (req_id,),
    ).fetchone()
    assert row == ("DONE", done, "TYPE", timedelta(minutes=1), True)
    line.agree()


@pytest.mark.covers("US-09", "R56", "INV-30", "G-RESP-GUARD")
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, "no-open-request"),
        ({"state": "EXPIRED"}, "expired-request"),
        ({"left": timedelta(seconds=-1)}, "expired-request"),
        ({"at": JUST_BEFORE + timedelta(minutes=4)}, "early-response"),
        ({"styp": "GLST"}, "no-open-request"),
    ],
)
def test_an_answer_that_nobody_waits_for_has_no_effect(
    line: Line, given: dict[str, Any] | None, reason: str
) -> None:
    line.run(adft(fltr("8")))
    if given is not None:
        asked(line.pg, **given)
    before = line.rows("SELECT * FROM req_track")

    (skipped,) = line.run(resp(fltr("1")))

    assert line.end(skipped) == (*SKIPPED, reason)
    assert active(line) == {"8"}
    assert line.rows("SELECT * FROM req_track") == before


@pytest.mark.covers("US-09")
def test_a_second_answer_finds_its_request_closed(line: Line) -> None:
    req_id = asked(line.pg)

    first, second = line.run(resp(fltr("1")), resp(fltr("2")))

    assert line.end(first)[0] == "SUCCEEDED"
    assert line.end(second) == (*SKIPPED, "no-open-request")
    assert request(line.pg, req_id, "matched_msg_id") == first


@pytest.mark.covers("R48", "US-09", "INV-19")
def test_a_flight_of_a_day_that_was_not_asked_for_refuses_the_whole_answer(
    line: Line,
) -> None:
    req_id = asked(line.pg)

    (dead,) = line.run(resp(fltr("1"), fltr("2", sodt="06JAN260030")))

    state, error_class, reason = line.end(dead)
    assert (state, error_class) == ("DEAD", "PROTOCOL")
    assert "FLID 2 is of 2026-01-06" in str(reason)
    assert line.flids() == []
    assert request(line.pg, req_id, "state, matched_msg_id") == ("SENT", None)


@pytest.mark.covers("B117", "US-09", "INV-19")
def test_a_part_of_an_answer_changes_nothing_and_leaves_the_request_open(line: Line) -> None:
    line.run(adft(fltr("8")))
    req_id = asked(line.pg)
    part = resp(fltr("1"), fltr("2")).replace("<RECS>2</RECS>", "<RECS>4</RECS>")

    (dead,) = line.run(part)

    assert line.end(dead)[:2] == ("DEAD", "PROTOCOL")
    assert active(line) == {"8"}
    assert request(line.pg, req_id, "state, matched_msg_id") == ("SENT", None)


@pytest.mark.covers("R17", "US-09")
def test_on_a_day_of_which_a_part_was_asked_nothing_is_deleted(line: Line) -> None:
    line.run(adft(fltr("8"), fltr("9", sodt="06JAN261200"), fltr("10", sodt="07JAN261200")))
    asked(line.pg, begin="2026-01-05 12:00", end="2026-01-07 11:59")

    line.run(resp(fltr("1", sodt="05JAN261300")))

    assert active(line) == {"1", "8", "10"}


@pytest.mark.covers("R17", "US-09", "R18")
def test_an_answer_without_flights_empties_the_asked_day(line: Line) -> None:
    line.run(adft(fltr("8"), fltr("10", sodt="06JAN261200")))
    req_id = asked(line.pg)

    (done,) = line.run(resp())

    assert line.end(done)[0] == "SUCCEEDED"
    assert active(line) == {"10"}
    assert request(line.pg, req_id) == "DONE"


@pytest.mark.covers("R40", "US-09")
def test_an_answer_that_changes_nothing_closes_its_request_too(line: Line) -> None:
    line.run(adft(fltr("1")))
    req_id = asked(line.pg)

    (done,) = line.run(resp(fltr("1")))

    assert line.end(done) == ("SUCCEEDED", None, "no-change")
    assert request(line.pg, req_id, "state, matched_msg_id") == ("DONE", done)


@pytest.mark.covers("R12", "R08", "US-09", "INV-20b")
@pytest.mark.parametrize("cut", ["1", "3", "8"])
def test_an_answer_that_is_cut_takes_no_verdict_again_and_is_done_with_its_data(
    line: Line, cut: str
) -> None:
    line.run(adft(fltr("8")))
    req_id = asked(line.pg)
    line.restart(schd=SMALL)
    msg_id = line.land(resp(fltr("1"), fltr("2"), fltr("3")))
    with refusing(line, cut, table="flight_journal", kill=True), pytest.raises(Away):
        line.worker.step()
    line.wait_for_no_leader()
    begun = cut != "1"
    state, matched = request(line.pg, req_id, "state, matched_msg_id")
    assert (state, matched) == ("SENT", msg_id if begun else None)
    if begun:  # what would refuse it now comes too late
        line.pg.execute("UPDATE req_track SET expires_at = now(), sending_at = now()")

    line.run()

    assert line.end(msg_id) == ("SUCCEEDED", None, None)
    assert active(line) == {"1", "2", "3"}
    assert request(line.pg, req_id, "state, matched_msg_id") == ("DONE", msg_id)
    line.agree()


@pytest.mark.covers("R08", "R12", "US-09")
def test_an_answer_whose_match_stands_is_not_late_before_its_first_change(line: Line) -> None:
    """The first batch repeats what stands: it leaves the match, but no entry."""
    line.run(adft(fltr("1"), fltr("2")))
    req_id = asked(line.pg)
    line.restart(schd=SMALL)
    with refusing(line, "3"):
        (msg_id,) = line.run(resp(fltr("1"), fltr("2"), fltr("3")))
    assert line.end(msg_id)[:2] == ("FAILED", "PROCESSING")
    assert request(line.pg, req_id, "state, matched_msg_id") == ("SENT", msg_id)
    line.pg.execute("UPDATE req_track SET expires_at = now()")
    line.release_head()

    line.run()

    assert line.end(msg_id) == ("SUCCEEDED", None, None)
    assert active(line) == {"1", "2", "3"}
    assert request(line.pg, req_id, "state, matched_msg_id") == ("DONE", msg_id)


@pytest.mark.covers("US-09", "INV-23")
def test_while_redis_is_away_the_data_stands_and_the_request_is_not_done(line: Line) -> None:
    req_id = asked(line.pg)
    with relayed(line.places.redis) as (relay, url):
        line.start(redis_url=url, epoch_check=timedelta(hours=1))
        line.run(adft(fltr("9")))
        line.worker.step()  # the projection is looked at, and then for long not again
        msg_id = line.land(resp(fltr("1")))
        relay.cut()
        line.worker.step()
        assert line.row(msg_id)["state"] == "FAILED"
        assert request(line.pg, req_id, "state, matched_msg_id") == ("SENT", msg_id)

        relay.restore()
        line.release_head()
        line.run()

    assert request(line.pg, req_id) == "DONE"


@pytest.mark.covers("R08", "R12", "US-09")
def test_an_answer_that_is_cut_before_its_first_change_does_not_expire(line: Line) -> None:
    line.run(adft(fltr("1"), fltr("2")))
    req_id = asked(line.pg)
    line.restart(schd=SMALL)
    msg_id = line.land(resp(fltr("1"), fltr("2"), fltr("3")))
    with refusing(line, "3", table="flight_journal", kill=True), pytest.raises(Away):
        line.worker.step()
    line.wait_for_no_leader()
    assert request(line.pg, req_id, "state, matched_msg_id") == ("SENT", msg_id)
    line.pg.execute("UPDATE req_track SET expires_at = now()")

    line.run()

    assert line.end(msg_id) == ("SUCCEEDED", None, None)
    assert active(line) == {"1", "2", "3"}
    assert request(line.pg, req_id) == "DONE"


@pytest.mark.covers("R08", "R12")
def test_a_request_that_is_closed_before_the_first_write_is_judged_again(line: Line) -> None:
    req_id = asked(line.pg)
    line.pg.execute(
        "CREATE FUNCTION expire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " UPDATE req_track SET state = 'EXPIRED', closed_at = now() WHERE closed_at IS NULL;"
        " RETURN NEW; END $$"
    )
    line.pg.execute(
        "CREATE TRIGGER expire AFTER INSERT ON identity_ledger FOR EACH ROW"
        " EXECUTE FUNCTION expire()"
    )
    try:
        (skipped,) = line.run(resp(fltr("1")))
    finally:
        line.pg.execute("DROP FUNCTION expire CASCADE")

    assert line.end(skipped) == (*SKIPPED, "expired-request")
    assert line.flids() == []
    assert request(line.pg, req_id, "state, matched_msg_id") == ("EXPIRED", None)
