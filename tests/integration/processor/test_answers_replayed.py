"""Answers that died: what their replay would come to, and comes to (R35, R08, R18)."""

import pytest

from tests.support.asked import asked, request
from tests.support.messages import adft, fltr, resp
from tests.support.processor import Line
from tests.support.replaying import operating, verdict_of

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

STRICT = {"max_removal_ratio": 0.1}


def refused_answer(line: Line) -> int:
    """Let an answer die that would delete two of three flights."""
    line.restart(schd=STRICT)
    line.run(adft(fltr("1"), fltr("2"), fltr("3")))
    (dead,) = line.run(resp(fltr("1")))
    assert line.end(dead)[:2] == ("DEAD", "PROTOCOL")
    return dead


@pytest.mark.covers("R35", "R18", "US-09")
def test_while_its_request_is_open_an_answer_is_judged_and_applied_anew(line: Line) -> None:
    req_id = asked(line.pg)
    dead = refused_answer(line)
    assert request(line.pg, req_id, "state, matched_msg_id") == ("SENT", None)
    with operating(line, schd=STRICT) as operator:
        (forecast,) = operator.forecasts(dead, approve_removals=2)
        operator.replay(dead, approve_removals=2)
        line.run()

    assert (verdict_of(forecast), forecast.removals) == ("APPLIES", 2)
    assert line.end(dead)[0] == "SUCCEEDED"
    assert set(line.shown()) == {"1"}
    assert request(line.pg, req_id, "state, matched_msg_id") == ("DONE", dead)
    line.agree()


@pytest.mark.covers("R35", "R08", "US-09")
def test_once_its_request_is_over_a_dead_answer_is_only_skipped(line: Line) -> None:
    req_id = asked(line.pg)
    dead = refused_answer(line)
    line.pg.execute("UPDATE req_track SET state = 'EXPIRED', closed_at = now()")
    with operating(line, schd=STRICT) as operator:
        forecast = operator.forecast(dead, approve_removals=2)
        operator.replay(dead, approve_removals=2)
        line.run()

    assert forecast == [("SKIPPED", "expired-request")]
    assert line.end(dead) == ("SKIPPED", None, "expired-request")
    assert set(line.shown()) == {"1", "2", "3"}
    assert request(line.pg, req_id, "state, matched_msg_id") == ("EXPIRED", None)
