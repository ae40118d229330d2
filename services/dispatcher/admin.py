"""Administrative calls of the dispatcher: dead and held events, pauses. Every change is made by
the leader, in one transaction with its record in ADMIN_AUDIT (R35, R55)."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NoReturn

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import SecretStr

from msgx.domain.delivery import Target
from msgx.domain.failure import Away, Fault
from msgx.rpc.v1 import delivery_pb2 as pb
from msgx.rpc.v1 import delivery_pb2_grpc
from msgx.rpc.v1.admin_pb2 import Admin
from msgx.runtime.leadership import Leadership, Standby
from msgx.runtime.loops import GrpcService
from msgx.runtime.session import Session
from msgx.store import admin_audit, dead_event, service_control, service_term
from msgx.store.admin_audit import Act
from msgx.store.connect import Connection
from msgx.store.dead_event import Choice
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

_PATIENCE_SECONDS: Final = 2.0  # for the call before; health must find a thread
_PAGE: Final = 100
_LONGEST_PAGE: Final = 1000
_MOST_AT_ONCE: Final = 10_000
_LONGEST_WORD: Final = 500
_LONGEST_KEY: Final = 64
_TOPICS: Final[Mapping[int, Target]] = MappingProxyType(
    {pb.TOPIC_MSG: Target.MSG, pb.TOPIC_SCHD: Target.SCHD}
)
_NUMBERS: Final[Mapping[Target, pb.Topic]] = MappingProxyType(
    {Target.MSG: pb.TOPIC_MSG, Target.SCHD: pb.TOPIC_SCHD}
)

_CAUSES: Final[Mapping[str, pb.HoldCause]] = MappingProxyType(
    {
        "DEAD": pb.HOLD_CAUSE_DEAD,
        "WAITING": pb.HOLD_CAUSE_WAITING,
        "UNRELEASED": pb.HOLD_CAUSE_UNRELEASED,
    }
)


class Refusal(Exception):
    """What is asked cannot be done as it is asked; the text says why."""


class Delivery(delivery_pb2_grpc.DeliveryServicer):
    """The gRPC service. Calls come from several threads and share one connection."""

    def __init__(self, leadership: Leadership, session: Session) -> None:
        self._leadership = leadership
        self._session = session
        self._turn = threading.Lock()

    def service(self, token: SecretStr) -> GrpcService:
        """Return this as a service of the control address."""
        name = pb.DESCRIPTOR.services_by_name["Delivery"].full_name
        return GrpcService(name, self._add, token)

    def _add(self, server: grpc.Server) -> None:
        delivery_pb2_grpc.add_DeliveryServicer_to_server(self, server)  # type: ignore[no-untyped-call]

    def ListDead(
        self, request: pb.ListDeadRequest, context: grpc.ServicerContext
    ) -> pb.ListDeadResponse:
        """List dead events, oldest first."""
        with self._answering(context), self._connection() as conn:
            found = dead_event.dead(
                conn,
                _filtered(request.filter),
                after=request.after_event_id,
                limit=_page(request.limit),
            )
            return pb.ListDeadResponse(events=[_dead(one) for one in found])

    def ListHeld(
        self, request: pb.ListHeldRequest, context: grpc.ServicerContext
    ) -> pb.ListHeldResponse:
        """List held flights, the longest held first."""
        with self._answering(context), self._connection() as conn:
            found = dead_event.held(
                conn,
                topic=_either(request.topic),
                flid=_word(request.flid),
                limit=_page(request.limit),
            )
            return pb.ListHeldResponse(
                flights=[_held(one) for one in found], total=found[0].total if found else 0
            )

    def Requeue(
        self, request: pb.RequeueRequest, context: grpc.ServicerContext
    ) -> pb.RequeueResponse:
        """Let dead events be tried again."""
        with self._answering(context):
            affected = self._decide(request, "requeue", dead_event.requeue)
            return pb.RequeueResponse(affected=affected)

    def Discard(
        self, request: pb.DiscardRequest, context: grpc.ServicerContext
    ) -> pb.DiscardResponse:
        """Give dead events up."""
        with self._answering(context):
            affected = self._decide(request, "discard", dead_event.discard)
            return pb.DiscardResponse(affected=affected)

    def Pause(
        self, request: pb.PauseRequest, context: grpc.ServicerContext
    ) -> pb.PauseResponse:
        """Let a topic rest."""
        with self._answering(context):
            act, part = _act(request.admin), _part(request.topic)
            changed = self._switch(
                act,
                "pause",
                part,
                lambda conn: service_control.pause(conn, Service.DISPATCHER, part, act),
            )
            return pb.PauseResponse(changed=changed)

    def Resume(
        self, request: pb.ResumeRequest, context: grpc.ServicerContext
    ) -> pb.ResumeResponse:
        """End a pause."""
        with self._answering(context):
            act, part = _act(request.admin), _part(request.topic)
            changed = self._switch(
                act,
                "resume",
                part,
                lambda conn: service_control.resume(conn, Service.DISPATCHER, part),
            )
            return pb.ResumeResponse(changed=changed)

    def _decide(
        self,
        request: pb.RequeueRequest | pb.DiscardRequest,
        action: str,
        decide: Callable[..., int],
    ) -> int:
        act = _act(request.admin)
        choice, limit = _chosen(request)
        asked = {name: str(told) for name, told in _told(choice).items()} | {"limit": limit}
        with self._fenced() as conn:
            affected = decide(conn, choice, limit=limit)
            admin_audit.record(
                conn, Service.DISPATCHER, act, action, asked=asked, affected=affected
            )
        return affected

    def _switch(
        self, act: Act, action: str, part: str, switch: Callable[[Connection], bool]
    ) -> bool:
        with self._fenced() as conn:
            changed = switch(conn)
            admin_audit.record(
                conn,
                Service.DISPATCHER,
                act,
                action,
                asked={"part": part},
                affected=int(changed),
            )
        return changed

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        if not self._turn.acquire(timeout=_PATIENCE_SECONDS):
            raise Away("another call is still at work")
        try:
            with self._session.use("answering an operator") as conn:
                yield conn
        finally:
            self._turn.release()

    @contextmanager
    def _fenced(self) -> Iterator[Connection]:
        """A transaction that only the leading instance can commit (R13)."""
        term = self._leadership.require()
        with self._connection() as conn, conn.transaction():
            service_term.share(conn, Service.DISPATCHER, term)
            yield conn

    @contextmanager
    def _answering(self, context: grpc.ServicerContext) -> Iterator[None]:
        """Tell a caller what was wrong, in the words of the status codes."""
        try:
            yield
        except Refusal as refusal:
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(refusal))
        except Standby as standby:
            _abort(context, grpc.StatusCode.FAILED_PRECONDITION, str(standby))
        except Fault as fault:
            _abort(context, grpc.StatusCode.UNAVAILABLE, fault.text)
        except Exception:  # its words are not for callers
            log.exception("call failed")
            _abort(context, grpc.StatusCode.INTERNAL, "a defect: see the dispatcher's log")

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            self._session.close()


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, text: str) -> NoReturn:
    context.abort(code, text)
    raise AssertionError("abort returns never")


def _act(admin: Admin) -> Act:
    operator, reason = admin.operator.strip(), admin.reason.strip()
    if not operator or not reason:
        raise Refusal("admin.operator and admin.reason must say who acts, and why")
    if max(len(operator), len(reason)) > _LONGEST_WORD:
        raise Refusal(f"operator and reason take at most {_LONGEST_WORD} characters")
    return Act(operator, reason)


def _part(topic: int) -> str:
    if (target := _TOPICS.get(topic)) is None:
        raise Refusal("topic must be TOPIC_MSG or TOPIC_SCHD")
    return target.part


def _chosen(request: pb.RequeueRequest | pb.DiscardRequest) -> tuple[Choice, int]:
    match request.WhichOneof("which"):
        case "event":
            key = request.event
            if key.topic not in _TOPICS or not key.flid or key.event_id < 1:
                raise Refusal("event must have topic, flid and event_id")
            return Choice(
                topic=_TOPICS[key.topic], flid=_word(key.flid), event_id=key.event_id
            ), 1
        case "filter":
            if not 1 <= request.limit <= _MOST_AT_ONCE:
                raise Refusal(f"limit must be from 1 to {_MOST_AT_ONCE}")
            return _filtered(request.filter), request.limit
        case _:
            raise Refusal("either event or filter must say which events are meant")


def _filtered(given: pb.Filter) -> Choice:
    return Choice(
        topic=_either(given.topic),
        flid=_word(given.flid),
        error_class=_word(given.error_class),
    )


def _either(topic: int) -> Target | None:
    """Return the topic of a filter; a number that we do not know must not mean both."""
    if topic != pb.TOPIC_UNSPECIFIED and topic not in _TOPICS:
        raise Refusal("topic is none that this version knows")
    return _TOPICS.get(topic)


def _word(given: str) -> str | None:
    if len(given) > _LONGEST_KEY or not given.isprintable():
        raise Refusal("flid and error_class are short words")
    return given or None


def _told(choice: Choice) -> dict[str, Any]:
    parts = {
        "target": choice.topic,
        "flid": choice.flid,
        "error_class": choice.error_class,
        "event_id": choice.event_id,
    }
    return {name: told for name, told in parts.items() if told is not None}


def _page(limit: int) -> int:
    if not 0 <= limit <= _LONGEST_PAGE:
        raise Refusal(f"limit must be from 0 to {_LONGEST_PAGE}")
    return limit or _PAGE


def _dead(one: dead_event.Dead) -> pb.DeadEvent:
    return pb.DeadEvent(
        key=pb.EventKey(topic=_NUMBERS[one.target], flid=one.flid, event_id=one.event_id),
        state_version=one.state_version,
        source_msg_id=one.msg_id or 0,
        error_class=one.error_class or "",
        error_text=one.last_error or "",
        attempts=one.attempts,
        since=_stamp(one.since),
        value_bytes=one.size,
        tombstone=one.tombstone,
    )


def _held(one: dead_event.Held) -> pb.HeldFlight:
    return pb.HeldFlight(
        cause_event=pb.EventKey(
            topic=_NUMBERS[one.target], flid=one.flid, event_id=one.event_id
        ),
        cause=_CAUSES[one.cause],
        state_version=one.state_version,
        error_class=one.error_class or "",
        error_text=one.last_error or "",
        attempts=one.attempts,
        since=_stamp(one.since),
        next_attempt_at=None if one.next_attempt_at is None else _stamp(one.next_attempt_at),
        events_behind=one.behind,
    )


def _stamp(at: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(at)
    return stamp
