"""Administrative calls of the dispatcher: dead and held events. Every change is made by
the leader, in one transaction with its record in ADMIN_AUDIT (R35, R55)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import grpc

from msgx.domain.delivery import Target
from msgx.rpc.v1 import delivery_pb2 as pb
from msgx.rpc.v1 import delivery_pb2_grpc
from msgx.runtime.address import GrpcService
from msgx.runtime.desk import Desk, Refusal, act_of, page_of, stamp, word_of
from msgx.store import admin_audit, dead_event
from msgx.store.dead_event import Choice
from msgx.store.service_term import Service

_MOST_AT_ONCE: Final = 10_000
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


class Delivery(delivery_pb2_grpc.DeliveryServiceServicer):
    """The gRPC service."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def service(self) -> GrpcService:
        """Return this as a service of the control address."""
        descriptor = pb.DESCRIPTOR.services_by_name["DeliveryService"]
        return GrpcService(descriptor, self._add, reads=frozenset({"ListDead", "ListHeld"}))

    def _add(self, server: grpc.Server) -> None:
        delivery_pb2_grpc.add_DeliveryServiceServicer_to_server(self, server)

    def ListDead(
        self, request: pb.ListDeadRequest, context: grpc.ServicerContext
    ) -> pb.ListDeadResponse:
        """List dead events, oldest first."""
        with self._desk.answering(context), self._desk.connection() as conn:
            found = dead_event.dead(
                conn,
                _filtered(request.filter),
                after=request.after_event_id,
                limit=page_of(request.limit),
            )
            return pb.ListDeadResponse(events=[_dead(one) for one in found])

    def ListHeld(
        self, request: pb.ListHeldRequest, context: grpc.ServicerContext
    ) -> pb.ListHeldResponse:
        """List held flights, the longest held first."""
        with self._desk.answering(context), self._desk.connection() as conn:
            found = dead_event.held(
                conn,
                topic=_either(request.topic),
                flid=word_of(request.flid, "flid"),
                limit=page_of(request.limit),
            )
            return pb.ListHeldResponse(
                flights=[_held(one) for one in found], total=found[0].total if found else 0
            )

    def Requeue(
        self, request: pb.RequeueRequest, context: grpc.ServicerContext
    ) -> pb.RequeueResponse:
        """Let dead events be tried again."""
        with self._desk.answering(context):
            affected = self._decide(request, "requeue", dead_event.requeue)
            return pb.RequeueResponse(affected=affected)

    def Discard(
        self, request: pb.DiscardRequest, context: grpc.ServicerContext
    ) -> pb.DiscardResponse:
        """Give dead events up."""
        with self._desk.answering(context):
            affected = self._decide(request, "discard", dead_event.discard)
            return pb.DiscardResponse(affected=affected)

    def _decide(
        self,
        request: pb.RequeueRequest | pb.DiscardRequest,
        action: str,
        decide: Callable[..., int],
    ) -> int:
        act = act_of(request.admin)
        choice, limit = _chosen(request)
        asked = {name: str(told) for name, told in _told(choice).items()} | {"limit": limit}
        with self._desk.fenced() as conn:
            affected = decide(conn, choice, limit=limit)
            admin_audit.record(
                conn, Service.DISPATCHER, act, action, asked=asked, affected=affected
            )
        return affected


def _chosen(request: pb.RequeueRequest | pb.DiscardRequest) -> tuple[Choice, int]:
    match request.WhichOneof("which"):
        case "event":
            key = request.event
            if key.topic not in _TOPICS or not key.flid or key.event_id < 1:
                raise Refusal("event must have topic, flid and event_id")
            return Choice(
                topic=_TOPICS[key.topic], flid=word_of(key.flid, "flid"), event_id=key.event_id
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
        flid=word_of(given.flid, "flid"),
        error_class=word_of(given.error_class, "error_class"),
    )


def _either(topic: int) -> Target | None:
    """Return the topic of a filter; a number that we do not know must not mean both."""
    if topic != pb.TOPIC_UNSPECIFIED and topic not in _TOPICS:
        raise Refusal("topic is none that this version knows")
    return _TOPICS.get(topic)


def _told(choice: Choice) -> dict[str, Any]:
    parts = {
        "target": choice.topic,
        "flid": choice.flid,
        "error_class": choice.error_class,
        "event_id": choice.event_id,
    }
    return {name: told for name, told in parts.items() if told is not None}


def _dead(one: dead_event.Dead) -> pb.DeadEvent:
    return pb.DeadEvent(
        key=pb.EventKey(topic=_NUMBERS[one.target], flid=one.flid, event_id=one.event_id),
        state_version=one.state_version,
        source_msg_id=one.msg_id or 0,
        error_class=one.error_class or "",
        error_text=one.last_error or "",
        attempts=one.attempts,
        since=stamp(one.since),
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
        since=stamp(one.since),
        next_attempt_at=None if one.next_attempt_at is None else stamp(one.next_attempt_at),
        events_behind=one.behind,
    )
