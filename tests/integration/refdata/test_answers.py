"""RESP: matched with the request that asked, or without effect (R08, R56, G-RESP-GUARD)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from msgx import clock
from msgx.domain.requests import Wish
from msgx.settings import Airport
from msgx.store import req_register
from tests.support.processor import Line
from tests.support.refdata import Desk, gates, package, record, state
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

# As the dispatcher leaves a request that it has written.
SENT = """
    UPDATE req_track
       SET state = 'SENT', seqn = '000001', sending_at = now() + %(since)s, out_id_floor = 0,
           expires_at = now() + %(until)s, sent_at = now(), out_id = 1
     WHERE req_id = %(req_id)s
"""
SOON = timedelta(minutes=10)
WAITS = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'msgx-refdata-leader'
       AND wait_event_type = 'Lock'
"""


class Requests:
    """Requests that were sent."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def sent(
        self, wish: Wish, *, since: timedelta = timedelta(), limit: timedelta = SOON
    ) -> int:
        req_id = req_register.register(self._line.pg, wish, by="test", limit=100)
        assert req_id is not None
        given = {"req_id": req_id, "since": since, "until": limit}
        self._line.pg.execute(SENT, given)
        return req_id

    def row(self, req_id: int) -> dict[str, Any]:
        (row,) = self._line.rows("SELECT * FROM req_track WHERE req_id = %s", req_id)
        return row


@pytest.fixture
def requests(line: Line) -> Requests:
    """Requests, without a dispatcher."""
    return Requests(line)


GLST = Wish.reference("GLST")


def answer(*codes: str, at: datetime | None = None) -> str:
    """Return an answer about gates, dated now or so, in the airport's time."""
    local = (at or clock.now()).astimezone(Airport().zone)
    return gates("RESP", *codes).replace("20260105083000", f"{local:%Y%m%d%H%M%S}")


@pytest.mark.covers("US-09", "R08", "R56", "INV-26")
def test_an_answer_replaces_the_category_and_closes_its_request(
    line: Line, desk: Desk, requests: Requests
) -> None:
    desk.run(gates("DNLD", "1", "2"))
    request = requests.sent(GLST)

    sending_at = requests.row(request)["sending_at"]

    (msg_id,) = desk.run(answer("2", "3", at=sending_at + timedelta(seconds=5)))

    assert line.end(msg_id) == ("SUCCEEDED", None, None)
    assert desk.records("GLST").keys() == {"2", "3"}
    row = requests.row(request)
    assert (row["state"], row["matched_msg_id"], row["matched_by"]) == ("DONE", msg_id, "TYPE")
    assert row["closed_at"] == line.row(msg_id)["finished_at"]
    assert timedelta(seconds=4) <= row["matched_lag"] <= timedelta(seconds=5)


@pytest.mark.covers("US-09", "R08", "G-RESP-GUARD")
@pytest.mark.parametrize(
    ("since", "limit", "lag", "reason"),
    [
        (-2 * SOON, -SOON, timedelta(), "expired-request"),
        (timedelta(), SOON, timedelta(minutes=-5), "early-response"),
    ],
)
def test_a_late_or_an_early_answer_has_no_effect(
    line: Line,
    desk: Desk,
    requests: Requests,
    since: timedelta,
    limit: timedelta,
    lag: timedelta,
    reason: str,
) -> None:
    desk.run(gates("DNLD", "1"))
    request = requests.sent(GLST, since=since, limit=limit)

    sending_at = requests.row(request)["sending_at"]

    (msg_id,) = desk.run(answer("2", at=sending_at + lag))

    assert line.end(msg_id) == ("SKIPPED", None, reason)
    assert desk.records("GLST").keys() == {"1"}
    assert requests.row(request)["state"] == "SENT"
    assert requests.row(request)["matched_msg_id"] is None


@pytest.mark.covers("US-09", "R08")
def test_another_category_or_a_second_answer_matches_nothing(
    line: Line, desk: Desk, requests: Requests
) -> None:
    request = requests.sent(GLST)

    (other,) = desk.run(package("SLST", "RESP", record("SLST", SCOD="1")))
    first, second = desk.run(answer("1"), answer("2"))

    assert line.end(other) == ("SKIPPED", None, "no-open-request")
    assert line.end(first)[0] == "SUCCEEDED"
    assert line.end(second) == ("SKIPPED", None, "no-open-request")
    assert requests.row(request)["matched_msg_id"] == first
    assert desk.records("GLST").keys() == {"1"}


@pytest.mark.covers("US-09", "R54", "R56")
def test_an_answer_about_resources_must_have_the_type_that_was_asked_for(
    line: Line, desk: Desk, requests: Requests
) -> None:
    desk.run(package("RSTA", "DNLD", state("9", "D")))
    request = requests.sent(Wish.reference("RSTA", "GATE"), since=timedelta(days=-400))
    belts = package("RSTA", "RESP", state("1", "D", rtyp="BELT"))
    both = package("RSTA", "RESP", state("1", "D", rtyp="BELT"), state("1", "D"))

    wrong, mixed, right = desk.run(
        belts, both, package("RSTA", "RESP", state("1", "D"), state("2", "D"))
    )

    assert line.end(wrong) == ("SKIPPED", None, "no-open-request")
    assert line.end(mixed) == ("SKIPPED", None, "no-open-request")
    assert line.end(right) == ("SUCCEEDED", None, None)
    assert desk.records("RSTA").keys() == {"GATE:1", "GATE:2", "GATE:9"}
    row = requests.row(request)
    assert (row["state"], row["matched_by"]) == ("DONE", "EXACT")


@pytest.mark.covers("US-09", "INV-27", "R58")
def test_an_answer_that_is_refused_leaves_its_request_open(
    line: Line, desk: Desk, requests: Requests
) -> None:
    request = requests.sent(GLST)

    (msg_id,) = desk.run(gates("RESP", "1", recs=2))

    assert line.end(msg_id)[:2] == ("DEAD", "PROTOCOL")
    assert requests.row(request)["state"] == "SENT"


@pytest.mark.covers("US-09", "R08", "R16")
def test_a_request_that_is_closed_meanwhile_is_judged_again(
    line: Line, desk: Desk, requests: Requests
) -> None:
    request = requests.sent(GLST)
    head = desk.route(answer("1"))
    with ThreadPoolExecutor(1) as pool, psycopg.connect(line.places.dsn) as dispatcher:
        dispatcher.execute(
            "UPDATE req_track SET state = 'EXPIRED', state_since = now(), closed_at = now()"
        )
        step = pool.submit(desk.keeper.step)
        until(lambda: line.one(WAITS), "refdata waits for the row")
        dispatcher.commit()
        step.result()

    assert line.end(head) == ("SKIPPED", None, "expired-request")
    assert requests.row(request)["state"] == "EXPIRED"
    assert desk.records("GLST") == {}
