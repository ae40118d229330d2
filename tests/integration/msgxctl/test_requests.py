"""`msgxctl request`, asked of the dispatcher itself."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from msgxctl.failure import Status
from tests.support.ctl import WHY, ctl, sentence
from tests.support.dispatcher import leading, settings
from tests.support.operator import answering

pytestmark = [pytest.mark.pg]

Pg = psycopg.Connection[Any]
REGISTER = ("request", "register", *WHY)


@pytest.fixture
def dispatcher(pg_dsn: str) -> Iterator[str]:
    given = settings(pg_dsn, "127.0.0.1:1", "")
    with leading(given) as leadership, answering(given, leadership) as port:
        yield f"127.0.0.1:{port}"


@pytest.mark.covers("R33", "R55")
def test_a_request_is_registered_listed_and_shown(pg: Pg, dispatcher: str) -> None:
    at = ("--dispatcher", dispatcher)

    plan = ctl(*at, *REGISTER, "--start", "2026-01-05", "--json")
    gates = ctl(*at, "--operator", "wei", *REGISTER, "--category", "GLST")
    listed = ctl(*at, "request", "list", "--json").told["requests"]
    of_type = ctl(*at, "request", "list", "--type", "RQFD", "--state", "PENDING", "--json")
    shown = ctl(*at, "request", "show", plan.told["req_id"])
    told = ctl(*at, "request", "show", plan.told["req_id"], "--json").told

    assert (plan.status, gates.status, shown.status) == (0, 0, 0)
    assert [(one["type"], one["styp"], one["registered_by"]) for one in listed] == [
        ("RQRD", "GLST", "wei"),
        ("RQFD", "NONE", listed[1]["registered_by"]),
    ]
    assert [one["req_id"] for one in of_type.told["requests"]] == [plan.told["req_id"]]
    assert (told["begin"], told["state"]) == ("2026-01-04T16:00:00.000Z", "PENDING")
    assert told["end"] == "2026-01-05T15:59:00.000Z"
    assert "PENDING" in shown.out
    acts = pg.execute("SELECT action, reason FROM admin_audit").fetchall()
    assert acts == [("register-request", "a test")] * 2


@pytest.mark.covers("R34", "R55", "B37")
@pytest.mark.parametrize(
    ("how", "state"), [(("--written", 4711), "SENT"), (("--resend", "--yes"), "PENDING")]
)
def test_an_unknown_outcome_is_settled_by_an_operator(
    pg: Pg, dispatcher: str, how: tuple[object, ...], state: str
) -> None:
    at = ("--dispatcher", dispatcher)
    req_id = ctl(*at, *REGISTER, "--category", "GLST", "--json").told["req_id"]
    pg.execute(
        "UPDATE req_track SET state = 'UNKNOWN', sending_at = now(), seqn = '000001',"
        " out_id_floor = 0, expires_at = now()"
    )

    asked = ctl(*at, "request", "resolve", req_id, *WHY)
    silent = ctl(*at, "request", "resolve", req_id, *WHY, "--resend")
    done = ctl(*at, "request", "resolve", req_id, *WHY, *how, "--json")

    assert (asked.status, silent.status) == (Status.USAGE, Status.USAGE)
    assert done.status == 0
    assert done.told["state"] == state
    assert pg.execute("SELECT state FROM req_track").fetchall() == [(state,)]


@pytest.mark.covers("R33")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((), Status.USAGE),
        (("--start", "2026-01-05", "--category", "GLST"), Status.USAGE),
        (("--end", "2026-01-05", "--category", "GLST"), Status.USAGE),
        (("--start", "2026-01-05", "--rtyp", "GATE"), Status.USAGE),
        (("--category", "XXXX"), Status.USAGE),
        (("--start", "yesterday"), Status.FAILED),
        (("--category", "RSTA", "--rtyp", "ROOF"), Status.FAILED),
    ],
)
def test_what_cannot_be_asked_for_is_refused_and_nothing_is_registered(
    pg: Pg, dispatcher: str, arguments: tuple[str, ...], status: Status
) -> None:
    done = ctl("--dispatcher", dispatcher, *REGISTER, *arguments)

    assert done.status == status
    assert pg.execute("SELECT FROM req_track").fetchall() == []


def test_a_request_that_is_none_is_one_sentence(dispatcher: str) -> None:
    done = ctl("--dispatcher", dispatcher, "request", "show", 7)

    assert done.status == Status.FAILED
    assert sentence(done) == "dispatcher refuses: there is no request 7"
