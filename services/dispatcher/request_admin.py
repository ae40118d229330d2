"""Administrative calls about requests: list, show, register, resolve. Every change is made by
the leader, in one transaction with its record in ADMIN_AUDIT (R33, R35, R55)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from msgx.domain.requests import NotAskable, RequestState, RequestType, Wish
from msgx.domain.span import span
from msgx.rpc.v1 import requests_pb2 as pb
from msgx.rpc.v1 import requests_pb2_grpc
from msgx.runtime.address import GrpcService
from msgx.runtime.desk import Desk, Refusal, act_of, page_of, stamp, word_of
from msgx.settings import Airport, Request
from msgx.store import admin_audit, req_register, req_sending
from msgx.store.connect import Connection
from msgx.store.req_register import Row
from msgx.store.service_term import Service

_TYPES: Final[Mapping[int, RequestType]] = MappingProxyType(
    {pb.REQUEST_TYPE_RQFD: RequestType.RQFD, pb.REQUEST_TYPE_RQRD: RequestType.RQRD}
)
_STATES: Final[Mapping[int, RequestState]] = MappingProxyType(
    {
        pb.REQUEST_STATE_PENDING: RequestState.PENDING,
        pb.REQUEST_STATE_SENDING: RequestState.SENDING,
        pb.REQUEST_STATE_SENT: RequestState.SENT,
        pb.REQUEST_STATE_UNKNOWN: RequestState.UNKNOWN,
        pb.REQUEST_STATE_DONE: RequestState.DONE,
        pb.REQUEST_STATE_EXPIRED: RequestState.EXPIRED,
    }
)


S = TypeVar("S")


class Requests(requests_pb2_grpc.RequestServiceServicer):
    """The gRPC service."""

    def __init__(self, desk: Desk, settings: Request, airport: Airport) -> None:
        self._desk = desk
        self._settings = settings
        self._airport = airport

    def service(self) -> GrpcService:
        """Return this as a service of the control address."""
        descriptor = pb.DESCRIPTOR.services_by_name["RequestService"]
        reads = frozenset({"ListRequests", "GetRequest"})
        return GrpcService(descriptor, self._add, reads=reads)

    def _add(self, server: grpc.Server) -> None:
        requests_pb2_grpc.add_RequestServiceServicer_to_server(self, server)

    def ListRequests(
        self, request: pb.ListRequestsRequest, context: grpc.ServicerContext
    ) -> pb.ListRequestsResponse:
        """List requests, the newest first."""
        with self._desk.answering(context), self._desk.connection() as conn:
            found = req_register.latest(
                conn,
                before=request.before_req_id or None,
                limit=page_of(request.limit),
                state=_known(_STATES, request.state, "state"),
                type=_known(_TYPES, request.type, "type"),
                styp=word_of(request.styp, "styp"),
            )
            return pb.ListRequestsResponse(requests=[_shown(one) for one in found])

    def GetRequest(
        self, request: pb.GetRequestRequest, context: grpc.ServicerContext
    ) -> pb.GetRequestResponse:
        """Show one request."""
        with self._desk.answering(context), self._desk.connection() as conn:
            found = req_register.get(conn, request.req_id)
            if found is None:
                raise Refusal(f"there is no request {request.req_id}")
            return pb.GetRequestResponse(request=_shown(found))

    def Register(
        self, request: pb.RegisterRequest, context: grpc.ServicerContext
    ) -> pb.RegisterResponse:
        """Register a request."""
        with self._desk.answering(context):
            act, wish = act_of(request.admin), self._wish(request)
            asked = {"type": wish.type, "styp": wish.styp, "rtyp": wish.rtyp} | {
                name: at.isoformat()
                for name, at in (("begin", wish.begin), ("end", wish.end))
                if at is not None
            }
            with self._desk.fenced() as conn:
                req_id = req_register.register(
                    conn, wish, by=act.operator, limit=self._settings.max_pending
                )
                if req_id is None:
                    raise Refusal(f"{self._settings.max_pending} requests wait already")
                admin_audit.record(
                    conn,
                    Service.DISPATCHER,
                    act,
                    "register-request",
                    asked=asked | {"req_id": req_id},
                    affected=1,
                )
            return pb.RegisterResponse(req_id=req_id)

    def Resolve(
        self, request: pb.ResolveRequest, context: grpc.ServicerContext
    ) -> pb.ResolveResponse:
        """Say of an UNKNOWN request whether it was written."""
        with self._desk.answering(context):
            act, row = act_of(request.admin), _outcome(request)
            with self._desk.fenced() as conn:
                before = _unknown(conn, request.req_id)
                _above(before.out_id_floor, row)
                if row is None:
                    moved = req_sending.resend(conn, request.req_id)
                else:
                    moved = req_sending.confirm(
                        conn,
                        request.req_id,
                        row,
                        by=RequestState.UNKNOWN,
                        timeout=self._settings.timeout,
                    )
                if not moved:
                    raise Refusal("an answer to this request has come: it was written")
                asked = {"req_id": request.req_id, "seqn": before.seqn} | (
                    {"resend": True} if row is None else {"written_row": row}
                )
                admin_audit.record(
                    conn, Service.DISPATCHER, act, "resolve-request", asked=asked, affected=1
                )
                after = req_register.get(conn, request.req_id)
            return pb.ResolveResponse(request=None if after is None else _shown(after))

    def _wish(self, request: pb.RegisterRequest) -> Wish:
        try:
            match request.WhichOneof("wish"):
                case "plan":
                    begin, end = span(
                        request.plan.start_date,
                        request.plan.end_date,
                        zone=self._airport.zone,
                        day_cut=self._airport.day_cut,
                    )
                    return Wish.plan(begin, end, longest=self._settings.max_span)
                case "reference":
                    given = request.reference
                    return Wish.reference(given.category, given.rtyp or None)
                case _:
                    raise Refusal("either plan or reference must say what is asked for")
        except NotAskable as refusal:
            raise Refusal(str(refusal)) from None


def _outcome(request: pb.ResolveRequest) -> int | None:
    """Return the row that was written, or None: it was not, so it is sent again."""
    match request.WhichOneof("outcome"):
        case "written_row" if request.written_row > 0:
            return request.written_row
        case "resend" if request.resend:
            return None
        case _:
            raise Refusal("either written_row or resend must say what became of it")


def _unknown(conn: Connection, req_id: int) -> Row:
    found = req_register.get(conn, req_id)
    if found is None:
        raise Refusal(f"there is no request {req_id}")
    if found.state is not RequestState.UNKNOWN:
        raise Refusal(f"request {req_id} is {found.state}, not UNKNOWN")
    return found


def _above(floor: int | None, row: int | None) -> None:
    if floor is not None and row is not None and row <= floor:
        raise Refusal(f"row {row} is older than the request: its row is above {floor}")


def _known(names: Mapping[int, S], number: int, what: str) -> S | None:
    """Return what a filter means; a number that we do not know must not mean all."""
    if number and number not in names:
        raise Refusal(f"{what} is none that this version knows")
    return names.get(number)


def _shown(one: Row) -> pb.TrackedRequest:
    return pb.TrackedRequest(
        req_id=one.req_id,
        type=f"REQUEST_TYPE_{one.type}",
        styp=one.styp,
        rtyp=one.rtyp or "",
        begin=_stamp(one.begin),
        end=_stamp(one.end),
        state=f"REQUEST_STATE_{one.state}",
        state_since=stamp(one.state_since),
        registered_at=stamp(one.registered_at),
        registered_by=one.registered_by,
        attempts=one.attempts,
        reason=one.last_error or "",
        seqn=one.seqn or "",
        sending_at=_stamp(one.sending_at),
        row_floor=one.out_id_floor or 0,
        row_id=one.out_id or 0,
        expires_at=_stamp(one.expires_at),
        answer=_answer(one),
        closed_at=_stamp(one.closed_at),
    )


def _answer(one: Row) -> pb.Answer | None:
    if one.matched_msg_id is None:
        return None
    return pb.Answer(
        msg_id=one.matched_msg_id,
        matched_by=one.matched_by,
        matched_at=_stamp(one.matched_at),
        lag=None if one.matched_lag is None else _duration(one.matched_lag),
    )


def _stamp(at: datetime | None) -> Timestamp | None:
    return None if at is None else stamp(at)


def _duration(span: timedelta) -> Duration:
    told = Duration()
    told.FromTimedelta(span)
    return told
