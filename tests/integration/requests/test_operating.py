"""What operators do about requests: register, look, settle what nobody knows (R33, R55)."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import grpc
import psycopg
import pytest

from msgx.rpc.v1 import requests_pb2 as pb
from msgx.rpc.v1 import requests_pb2_grpc
from msgx.rpc.v1.admin_pb2 import Admin
from services.dispatcher.settings import DispatcherSettings
from tests.support.asked import asked, request
from tests.support.calls import WHO, Calls
from tests.support.dispatcher import leading, settings
from tests.support.operator import answering

pytestmark = [pytest.mark.pg]


class Caller(Calls):
    """Calls RequestService."""

    def __init__(self, port: int) -> None:
        channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        super().__init__(channel, requests_pb2_grpc.RequestServiceStub)

    def __call__(self, name: str, given: Any) -> Any:
        """Make a call."""
        return self.call(name, given)

    def refused(self, name: str, given: Any) -> str:
        """Make a call that is refused, and return code and words."""
        return ": ".join(self.refusal(name, given))


@pytest.fixture
def unsent(pg_dsn: str) -> DispatcherSettings:
    return settings(pg_dsn, "127.0.0.1:1", "")


@pytest.fixture
def call(unsent: DispatcherSettings) -> Iterator[Caller]:
    with (
        leading(unsent) as leadership,
        answering(unsent, leadership) as port,
        closing(Caller(port)) as caller,
    ):
        yield caller


def audited(pg: "psycopg.Connection[Any]") -> list[tuple[Any, ...]]:
    return pg.execute(
        "SELECT service, operator, reason, action, target, affected FROM admin_audit"
    ).fetchall()


@pytest.mark.covers("US-09", "R33", "R35", "R55")
def test_an_operator_registers_both_kinds_and_is_kept_with_the_reason(
    call: Caller, pg: "psycopg.Connection[Any]"
) -> None:
    plan = pb.PlanWish(start_date="2026-06-15", end_date="2026-06-15 11:30 PM")
    one = call("Register", pb.RegisterRequest(admin=WHO, plan=plan)).req_id
    gates = pb.ReferenceWish(category="RSTA", rtyp="GATE")
    other = call("Register", pb.RegisterRequest(admin=WHO, reference=gates)).req_id

    first, second = call("ListRequests", pb.ListRequestsRequest()).requests
    assert (first.req_id, first.styp, first.rtyp) == (other, "RSTA", "GATE")
    assert (second.req_id, second.type) == (one, pb.REQUEST_TYPE_RQFD)
    assert second.state == pb.REQUEST_STATE_PENDING
    assert (second.end.seconds - second.begin.seconds) == (23 * 60 + 30) * 60
    assert second.registered_by == "ops"
    ours = [row[:4] for row in audited(pg)]
    assert ours == [("dispatcher", "ops", "a test", "register-request")] * 2


@pytest.mark.covers("US-09", "R55", "INV-16")
def test_what_was_written_is_sent_and_its_time_begins_now(
    call: Caller, pg: "psycopg.Connection[Any]"
) -> None:
    req_id = asked(pg, state="UNKNOWN")

    told = call("Resolve", pb.ResolveRequest(admin=WHO, req_id=req_id, written_row=71))

    assert told.request.state == pb.REQUEST_STATE_SENT
    assert request(pg, req_id, "state, out_id, expires_at > now() + interval '9 min'") == (
        "SENT", 71, True,
    )  # fmt: skip
    (row,) = audited(pg)
    assert row[3:] == (
        "resolve-request",
        {"req_id": req_id, "seqn": "000001", "written_row": 71},
        1,
    )


@pytest.mark.covers("US-09", "R55", "INV-16")
def test_a_row_that_was_there_before_the_write_is_none_of_this_request(
    call: Caller, pg: "psycopg.Connection[Any]"
) -> None:
    req_id = asked(pg, state="UNKNOWN")
    pg.execute("UPDATE req_track SET out_id_floor = 70")

    said = call.refused("Resolve", pb.ResolveRequest(admin=WHO, req_id=req_id, written_row=70))

    assert said == "INVALID_ARGUMENT: row 70 is older than the request: its row is above 70"
    assert request(pg, req_id) == "UNKNOWN"
    assert audited(pg) == []


@pytest.mark.covers("US-09", "R55", "INV-16", "B37")
def test_what_was_not_written_waits_again_on_an_operators_word_only(
    call: Caller, pg: "psycopg.Connection[Any]"
) -> None:
    req_id = asked(pg, state="UNKNOWN")

    call("Resolve", pb.ResolveRequest(admin=WHO, req_id=req_id, resend=True))

    assert request(pg, req_id, "state, seqn, sending_at") == ("PENDING", None, None)
    assert len(audited(pg)) == 1


@pytest.mark.covers("R55")
@pytest.mark.parametrize("state", ["SENT", "SENDING", "EXPIRED"])
def test_only_an_unknown_request_is_resolved(
    call: Caller, pg: "psycopg.Connection[Any]", state: str
) -> None:
    req_id = asked(pg, state=state)
    before = request(pg, req_id, "req_track")

    said = call.refused("Resolve", pb.ResolveRequest(admin=WHO, req_id=req_id, resend=True))

    assert said == f"INVALID_ARGUMENT: request {req_id} is {state}, not UNKNOWN"
    assert request(pg, req_id, "req_track") == before
    assert audited(pg) == []


@pytest.mark.covers("R55")
def test_an_unknown_request_that_an_answer_has_matched_is_not_sent_again(
    call: Caller, pg: "psycopg.Connection[Any]"
) -> None:
    req_id = asked(pg, state="UNKNOWN")
    pg.execute(
        "UPDATE req_track SET matched_msg_id = 9, matched_by = 'TYPE', matched_at = now()"
    )

    said = call.refused("Resolve", pb.ResolveRequest(admin=WHO, req_id=req_id, resend=True))

    assert said.endswith("an answer to this request has come: it was written")
    assert request(pg, req_id) == "UNKNOWN"
    assert audited(pg) == []


@pytest.mark.covers("R35", "R55")
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Register", pb.RegisterRequest(admin=WHO)),
        ("Register", pb.RegisterRequest(admin=Admin(operator="ops"))),
        (
            "Register",
            pb.RegisterRequest(admin=WHO, reference=pb.ReferenceWish(category="CITY")),
        ),
        (
            "Register",
            pb.RegisterRequest(
                admin=WHO, plan=pb.PlanWish(start_date="2026-06-15 1:00", end_date="2026-06-15")
            ),
        ),
        ("Resolve", pb.ResolveRequest(admin=WHO, req_id=1)),
        ("Resolve", pb.ResolveRequest(admin=WHO, req_id=1, resend=False)),
        ("Resolve", pb.ResolveRequest(admin=WHO, req_id=1, written_row=-1)),
        ("Resolve", pb.ResolveRequest(req_id=1, resend=True)),
        ("GetRequest", pb.GetRequestRequest(req_id=77)),
        ("ListRequests", pb.ListRequestsRequest(state=99)),  # type: ignore[arg-type]
        ("ListRequests", pb.ListRequestsRequest(limit=1001)),
    ],
)
def test_what_cannot_be_done_as_it_is_asked_is_refused(
    call: Caller, pg: "psycopg.Connection[Any]", name: str, given: Any
) -> None:
    assert call.refused(name, given).startswith("INVALID_ARGUMENT: ")
    assert audited(pg) == []
    assert pg.execute("SELECT count(*) FROM req_track").fetchone() == (0,)
