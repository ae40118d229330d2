"""Administrative calls of intake: marks that were given up, or are gone. Every change is made
by the leader, in one transaction with its record in ADMIN_AUDIT (R35, R44, R52, R55)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import grpc

from msgx.domain.marking import Abandonment, MarkState
from msgx.mailbox.inbox import Mailbox
from msgx.rpc.v1 import mailbox_pb2 as pb
from msgx.rpc.v1 import mailbox_pb2_grpc
from msgx.runtime.address import GrpcService
from msgx.runtime.desk import Desk, Refusal, act_of, page_of, stamp
from msgx.store import abandoned, admin_audit
from msgx.store.abandoned import Choice
from msgx.store.service_term import Service

_MOST_IDS: Final = 1000
_MOST_AT_ONCE: Final = 10_000
_REASONS: Final[Mapping[int, Abandonment]] = MappingProxyType(
    {
        pb.ABANDON_REASON_MISSING_ROW: Abandonment.MISSING_ROW,
        pb.ABANDON_REASON_TRANSIENT_DEADLINE: Abandonment.TRANSIENT_DEADLINE,
    }
)
_NUMBERS: Final[Mapping[Abandonment | None, pb.AbandonReason]] = MappingProxyType(
    {
        None: pb.ABANDON_REASON_UNSPECIFIED,
        Abandonment.MISSING_ROW: pb.ABANDON_REASON_MISSING_ROW,
        Abandonment.TRANSIENT_DEADLINE: pb.ABANDON_REASON_TRANSIENT_DEADLINE,
    }
)
_STANDINGS: Final[Mapping[MarkState | None, pb.Standing]] = MappingProxyType(
    {
        None: pb.STANDING_UNKNOWN,
        MarkState.OPEN: pb.STANDING_OPEN,
        MarkState.OWED: pb.STANDING_OWED,
        MarkState.CONFIRMED: pb.STANDING_CONFIRMED,
        MarkState.ABANDONED: pb.STANDING_ABANDONED,
    }
)


class Marks(mailbox_pb2_grpc.MailboxServiceServicer):
    """The gRPC service."""

    def __init__(self, desk: Desk, mailbox: Mailbox, window: int) -> None:
        """Answer from `desk`; `mailbox` is its own, and `window` how many rows of it a call
        looks at."""
        self._desk = desk
        self._mailbox = mailbox  # used only while the desk's connection is held: one at a time
        self._window = window

    def service(self) -> GrpcService:
        """Return this as a service of the control address."""
        descriptor = pb.DESCRIPTOR.services_by_name["MailboxService"]
        reads = frozenset({"ListAbandoned", "CountAbandoned", "ListReturned"})
        return GrpcService(descriptor, self._add, reads=reads)

    def _add(self, server: grpc.Server) -> None:
        mailbox_pb2_grpc.add_MailboxServiceServicer_to_server(self, server)

    def ListAbandoned(
        self, request: pb.ListAbandonedRequest, context: grpc.ServicerContext
    ) -> pb.ListAbandonedResponse:
        """List marks that were given up."""
        with self._desk.answering(context):
            choice, limit = _filtered(request.filter), page_of(request.limit)
            with self._desk.connection() as conn:
                found = abandoned.page(conn, choice, after=request.after_msg_id, limit=limit)
                total = abandoned.total(conn, choice)
            return pb.ListAbandonedResponse(marks=[_mark(one) for one in found], total=total)

    def CountAbandoned(
        self, request: pb.CountAbandonedRequest, context: grpc.ServicerContext
    ) -> pb.CountAbandonedResponse:
        """Count marks that were given up, by reason."""
        with self._desk.answering(context):
            choice = _filtered(request.filter)
            with self._desk.connection() as conn:
                found = abandoned.counts(conn, choice)
            return pb.CountAbandonedResponse(
                counts=[_count(one) for one in found], total=sum(one.count for one in found)
            )

    def ReopenAbandoned(
        self, request: pb.ReopenAbandonedRequest, context: grpc.ServicerContext
    ) -> pb.ReopenAbandonedResponse:
        """Owe marks again."""
        with self._desk.answering(context):
            act = act_of(request.admin)
            choice, limit = _chosen(request)
            with self._desk.fenced() as conn:
                reopened = abandoned.reopen(conn, choice, limit=limit)
                admin_audit.record(
                    conn,
                    Service.INTAKE,
                    act,
                    "reopen",
                    asked=_told(choice, limit),
                    affected=len(reopened),
                )
                if choice.ids is None:
                    remaining = abandoned.total(conn, choice)
                    return pb.ReopenAbandonedResponse(
                        affected=len(reopened), remaining=remaining
                    )
                left = sorted(set(choice.ids) - set(reopened))
                standings = abandoned.standings(conn, left)
            return pb.ReopenAbandonedResponse(
                affected=len(reopened),
                not_reopened=[
                    pb.NotReopened(msg_id=one, standing=_STANDINGS[standings.get(one)])
                    for one in left
                ],
            )

    def ListReturned(
        self, request: pb.ListReturnedRequest, context: grpc.ServicerContext
    ) -> pb.ListReturnedResponse:
        """Look through a part of the mailbox for confirmed marks that are gone."""
        with self._desk.answering(context):
            limit, after = page_of(request.limit), max(0, request.after_msg_id)
            with self._desk.connection() as conn:
                end = self._mailbox.reach(after, self._window)
                if end is None:
                    return pb.ListReturnedResponse(reached_msg_id=after, done=True)
                rows = self._mailbox.scan(after, limit, until=end)
                seen = abandoned.confirmed(conn, [row.msg_id for row in rows])
                # What was scanned may have been older than the confirmation.
                gone = set(self._mailbox.unmarked([one.msg_id for one in seen]))
            return pb.ListReturnedResponse(
                marks=[_returned(one) for one in seen if one.msg_id in gone],
                reached_msg_id=rows[-1].msg_id if len(rows) == limit else end,
            )


def _chosen(request: pb.ReopenAbandonedRequest) -> tuple[Choice, int]:
    match request.WhichOneof("which"):
        case "ids":
            ids = request.ids.ids
            if not 1 <= len(ids) <= _MOST_IDS:
                raise Refusal(f"ids must be from 1 to {_MOST_IDS}")
            return Choice(ids=sorted(set(ids))), len(ids)
        case "filter":
            if not 1 <= request.limit <= _MOST_AT_ONCE:
                raise Refusal(f"limit must be from 1 to {_MOST_AT_ONCE}")
            return _filtered(request.filter), request.limit
        case _:
            raise Refusal("either ids or filter must say which marks are meant")


def _filtered(given: pb.AbandonedFilter) -> Choice:
    if given.reason != pb.ABANDON_REASON_UNSPECIFIED and given.reason not in _REASONS:
        raise Refusal("reason is none that this version knows")  # it must not mean any
    return Choice(
        reason=_REASONS.get(given.reason),
        first=given.first_msg_id or None,
        last=given.last_msg_id or None,
    )


def _told(choice: Choice, limit: int) -> dict[str, object]:
    parts: dict[str, object] = {
        "reason": choice.reason,
        "first_msg_id": choice.first,
        "last_msg_id": choice.last,
        "ids": choice.ids,
        "limit": limit if choice.ids is None else None,
    }
    return {name: told for name, told in parts.items() if told is not None}


def _mark(one: abandoned.Abandoned) -> pb.AbandonedMark:
    return pb.AbandonedMark(
        msg_id=one.msg_id,
        reason=_NUMBERS[one.reason],
        state=one.state,
        type=one.type or "",
        styp=one.styp or "",
        attempts=one.attempts,
        finished_at=stamp(one.finished_at),
        abandoned_at=stamp(one.abandoned_at),
        reopened_at=None if one.reopened_at is None else stamp(one.reopened_at),
    )


def _returned(one: abandoned.Confirmed) -> pb.ReturnedMark:
    return pb.ReturnedMark(
        msg_id=one.msg_id,
        state=one.state,
        type=one.type or "",
        styp=one.styp or "",
        finished_at=None if one.finished_at is None else stamp(one.finished_at),
        confirmed_at=stamp(one.confirmed_at),
    )


def _count(one: abandoned.Count) -> pb.AbandonedCount:
    return pb.AbandonedCount(
        reason=_NUMBERS[one.reason],
        count=one.count,
        oldest_at=stamp(one.oldest_at),
        latest_at=stamp(one.latest_at),
    )
