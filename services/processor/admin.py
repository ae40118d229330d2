"""Administrative calls of the processor: failures, replay, the head (R35, R55). Every change is
made by the leader, in one transaction with its record in ADMIN_AUDIT."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

import grpc

from msgx.domain.failure import Away
from msgx.domain.processing import ProcState
from msgx.rpc.v1 import replay_pb2 as pb
from msgx.rpc.v1 import replay_pb2_grpc
from msgx.runtime.address import GrpcService
from msgx.runtime.desk import Desk, Refusal, act_of, page_of, stamp
from msgx.store import dead_letter, dead_message, flight_journal, proc_state, stuck_head
from msgx.store.connect import Connection
from msgx.store.dead_letter import Letter
from msgx.store.dead_message import Choice
from services.processor.acts import Acts
from services.processor.assess import Assessor
from services.processor.jobs import Jobs
from services.processor.replay import BATCH, Job, Replayer
from services.processor.translate import (
    choice_of,
    forecast,
    frozen,
    group,
    maybe,
    options,
    order_of,
    range_of,
    summary,
)

_MOST_IDS: Final = 1000
_MOST_TRIES: Final = 100
_MOST_ENTRIES: Final = 1000
_JOBS: Final = 3  # each has a thread of the server; health must find one
_READS: Final = frozenset(
    {"ListMessages", "GroupFailures", "ShowMessage", "Preview", "DryRun", "ShowHead"}
)


class Replays(replay_pb2_grpc.ReplayServiceServicer):
    """The gRPC service."""

    def __init__(self, desk: Desk, assessor: Assessor, acts: Acts) -> None:
        self._desk = desk
        self._assessor = assessor
        self._acts = acts
        self._replayer = Replayer(desk, assessor)
        self.jobs = Jobs(_JOBS)

    def service(self) -> GrpcService:
        """Return this as a service of the control address."""
        descriptor = pb.DESCRIPTOR.services_by_name["ReplayService"]
        return GrpcService(descriptor, self._add, reads=_READS)

    def _add(self, server: grpc.Server) -> None:
        replay_pb2_grpc.add_ReplayServiceServicer_to_server(self, server)

    def ListMessages(
        self, request: pb.ListMessagesRequest, context: grpc.ServicerContext
    ) -> pb.ListMessagesResponse:
        """List messages, lowest id first."""
        with self._desk.answering(context):
            choice, limit = choice_of(request.filter), page_of(request.limit)
            with self._desk.connection() as conn, conn.transaction():
                found = dead_message.page(conn, choice, after=request.after_msg_id, limit=limit)
                total = dead_message.total(conn, choice)
            return pb.ListMessagesResponse(messages=map(summary, found), total=total)

    def GroupFailures(
        self, request: pb.GroupFailuresRequest, context: grpc.ServicerContext
    ) -> pb.GroupFailuresResponse:
        """Count failures by class and fingerprint."""
        with self._desk.answering(context):
            choice, limit = choice_of(request.filter), page_of(request.limit)
            choice = replace(choice, state=choice.state or ProcState.DEAD)
            with self._desk.connection() as conn:
                found = dead_message.groups(conn, choice, limit=limit)
            return pb.GroupFailuresResponse(
                groups=map(group, found),
                total_groups=found[0].total_groups if found else 0,
                total_messages=found[0].total_messages if found else 0,
            )

    def ShowMessage(
        self, request: pb.ShowMessageRequest, context: grpc.ServicerContext
    ) -> pb.ShowMessageResponse:
        """Show everything that is kept of one message."""
        with self._desk.answering(context), self._desk.connection() as conn:
            msg_id = request.msg_id
            found = dead_message.some(conn, [msg_id])
            if not found:
                raise Refusal(f"there is no message {msg_id}")
            entries, total = flight_journal.done(conn, msg_id, limit=_MOST_ENTRIES)
            answer = pb.ShowMessageResponse(
                message=summary(found[0]),
                attempts=[
                    pb.Attempt(
                        number=number,
                        at=stamp(at),
                        error_class=error_class,
                        text=text,
                        trace_id=trace or "",
                    )
                    for number, at, error_class, text, trace in stuck_head.tries(
                        conn, msg_id, limit=_MOST_TRIES
                    )
                ],
                entries=[
                    pb.JournalEntry(
                        flid=one.flid,
                        state_version=one.state_version,
                        kind=one.kind,
                        tags=one.tags,
                        at=stamp(one.at),
                    )
                    for one in entries
                ],
                total_entries=total,
                identity=found[0].identity_key or "",
            )
            letter = dead_letter.show(conn, msg_id)
            if letter is not None:
                answer.MergeFrom(
                    pb.ShowMessageResponse(
                        options=options(letter.order),
                        replayed_at=maybe(letter.replayed_at),
                        raw_altered=letter.raw_altered,
                        corrected_at=maybe(letter.corrected_at),
                        corrected_by=letter.corrected_by or "",
                    )
                )
            if request.with_text:
                raw = self._raw(conn, msg_id, letter)
                answer.raw_text = _sendable(raw or "")
                answer.raw_missing = raw is None
                answer.corrected_text = (letter.corrected if letter else None) or ""
            return answer

    def Preview(
        self, request: pb.PreviewRequest, context: grpc.ServicerContext
    ) -> pb.PreviewResponse:
        """Count what a replay by filter would put back, and freeze it."""
        with self._desk.answering(context):
            choice = _dead(choice_of(request.filter))
            order = order_of(pb.ReplayOptions(force=request.force))
            found = self._replayer.preview(choice, order)
            left = 0 if request.force else found.left
            return frozen(found, request.filter, force=request.force, left=left)

    def DryRun(
        self, request: pb.DryRunRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.DryRunResponse]:
        """Say of each message what its replay would come to."""
        with self._desk.answering(context), self.jobs.place(context) as end:
            job = _job(request)
            left, after = iter(job.ids), 0
            while not end.is_set():
                with self._desk.connection() as conn:
                    if job.frozen is None:
                        ids = list(islice(left, BATCH))
                    else:
                        ids = dead_message.within(conn, job.frozen, after=after, limit=BATCH)
                    told = list(self._assessor.forecasts(conn, ids, job.order))
                if ids:
                    after = ids[-1]
                    yield pb.DryRunResponse(forecasts=map(forecast, told))
                if len(ids) < BATCH:
                    return
            self.jobs.ended_early()

    def Replay(
        self, request: pb.ReplayRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.ReplayResponse]:
        """Put dead messages back, and tell the progress after each transaction."""
        with self._desk.answering(context):
            act, job, pace = act_of(request.admin), _job(request), request.per_second
            if pace < 0:
                raise Refusal("per_second is not negative")
            with self.jobs.place(context) as end:
                for progress in self._replayer.run(job, act, per_second=pace, cancelled=end):
                    gone = job.total - progress.replayed - progress.refused
                    yield pb.ReplayResponse(
                        total=job.total,
                        replayed=progress.replayed,
                        refused=progress.refused,
                        changed=max(0, gone) if progress.done else 0,
                        left=map(forecast, progress.left),
                        reached_msg_id=progress.reached,
                        done=progress.done,
                    )
                    if progress.done:
                        return
            self.jobs.ended_early()

    def Correct(
        self, request: pb.CorrectRequest, context: grpc.ServicerContext
    ) -> pb.CorrectResponse:
        """Store a text that is read instead of the one that was sent."""
        with self._desk.answering(context):
            act = act_of(request.admin)
            found = self._acts.correct(request.msg_id, request.text, act)
            return pb.CorrectResponse(forecast=forecast(found))

    def ShowHead(
        self, request: pb.ShowHeadRequest, context: grpc.ServicerContext
    ) -> pb.ShowHeadResponse:
        """Show what everything waits for."""
        with self._desk.answering(context), self._desk.connection() as conn:
            head = proc_state.head(conn)
            if head is None:
                return pb.ShowHeadResponse()
            (found,) = dead_message.some(conn, [head.msg_id])
            return pb.ShowHeadResponse(
                head=summary(found),
                open=stuck_head.waiting(conn),
                failing_since=maybe(stuck_head.failing_since(conn, head.msg_id)),
            )

    def RetryHead(
        self, request: pb.RetryHeadRequest, context: grpc.ServicerContext
    ) -> pb.RetryHeadResponse:
        """Make the head due now."""
        with self._desk.answering(context):
            changed = self._acts.retry(request.msg_id, act_of(request.admin))
            return pb.RetryHeadResponse(changed=changed)

    def Skip(
        self, request: pb.SkipRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.SkipResponse]:
        """End open messages as skipped."""
        with self._desk.answering(context):
            act, first = act_of(request.admin), request.from_msg_id
            last = request.to_msg_id or first
            if not 1 <= first <= last:
                raise Refusal("from_msg_id must be an id, and to_msg_id none below it")
            with self.jobs.place(context) as end:
                for progress in self._acts.skip(first, last, act):
                    yield pb.SkipResponse(
                        skipped=progress.skipped,
                        reached_msg_id=progress.reached,
                        done=progress.done,
                    )
                    if progress.done:
                        return
                    if end.is_set():
                        break
            self.jobs.ended_early()

    def _raw(self, conn: Connection, msg_id: int, letter: Letter | None) -> str | None:
        """Return what was sent; what is kept is shown too while the mailbox is away."""
        try:
            return self._assessor.texts(conn, [msg_id])[msg_id].raw
        except Away:
            if letter is None or letter.raw is None:
                raise
            return letter.raw


def _job(which: pb.DryRunRequest | pb.ReplayRequest) -> Job:
    order = order_of(which.options)
    match which.WhichOneof("which"):
        case "messages":
            ids = sorted(set(which.messages.ids))
            if not 1 <= len(ids) <= _MOST_IDS or ids[0] < 1:
                raise Refusal(f"messages must be from 1 to {_MOST_IDS} ids")
            if order.approve_removals is not None and len(ids) > 1:
                raise Refusal("removals are approved for one message")
            return Job(ids=ids, total=len(ids), order=order)
        case "range":
            frozen_range = range_of(which.range, order)
            return Job(frozen=frozen_range, total=which.range.count, order=order)
        case _:
            raise Refusal("either messages or range must say which messages are meant")


def _dead(choice: Choice) -> Choice:
    if choice.state not in (None, ProcState.DEAD):
        raise Refusal("only dead messages are replayed")
    return choice


def _sendable(text: str) -> str:
    """Return `text` as an answer can carry it: without lone surrogates."""
    return text.encode("utf-8", "replace").decode()
