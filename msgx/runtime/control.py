"""ControlService: what a service says of itself, and how operators let its loops rest (R14,
R55)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from importlib.metadata import version
from types import MappingProxyType
from typing import Final

import grpc

from msgx.domain.failure import Fault, clean
from msgx.rpc.v1 import control_pb2 as pb
from msgx.rpc.v1 import control_pb2_grpc
from msgx.rpc.v1.admin_pb2 import Admin
from msgx.runtime.address import GrpcService
from msgx.runtime.denials import Denials
from msgx.runtime.desk import Desk, Refusal, act_of, stamp
from msgx.runtime.drive import Drive, Loop, State
from msgx.runtime.halt import Halt
from msgx.runtime.leadership import Leadership, Standby, name_instance
from msgx.runtime.session import Session
from msgx.store import admin_audit, installation, migrate, service_control, service_term
from msgx.store.backlog import Item
from msgx.store.connect import Connection
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

VERSION: Final = version("msgexchange")
LOOP: Final = "control"
_LOOK: Final = timedelta(seconds=0.5)
_STATES: Final[Mapping[State, pb.LoopState]] = MappingProxyType(
    {
        State.WORKING: pb.LOOP_STATE_WORKING,
        State.RESTING: pb.LOOP_STATE_RESTING,
        State.WAITING: pb.LOOP_STATE_WAITING,
        State.PAUSED: pb.LOOP_STATE_PAUSED,
        State.FAILED: pb.LOOP_STATE_FAILED,
    }
)


class Keeper:
    """Reads what is paused, and keeps refused calls; the loop `control` of every service."""

    def __init__(
        self,
        service: Service,
        session: Session,
        halt: Halt,
        denials: Denials,
        *,
        environment: str,
    ) -> None:
        self._service = service
        self._environment = environment
        self._fits = False  # the schema; asked until it does
        self._session = session
        self._halt = halt
        self._denials = denials
        self.drives: Sequence[Drive] = ()

    def step(self) -> timedelta:
        """Look once and return how long to rest.

        Raises:
            Away: PostgreSQL is away; what was paused stays so.
            Unfit: the database is another installation's (R50).
            Standby: the schema is too old for this code.
        """
        with self._session.use("reading what is paused") as conn:
            self._fit(conn)
            installation.check(conn, self._environment)
            pauses = service_control.pauses(conn, self._service)
            before, self._halt.pauses = self._halt.pauses, pauses
            for drive in self.drives:
                name = drive.loop.name
                if before is None or (name in before) is not (name in pauses):
                    drive.wake()
            self._denials.keep(conn)
        return _LOOK

    def _fit(self, conn: Connection) -> None:
        if self._fits:
            return
        try:
            migrate.check_version(conn)
        except migrate.MigrationRefused as refusal:
            raise Standby(str(refusal)) from None
        self._fits = True

    def close(self) -> None:
        """Keep what was refused since the last step, and close the connection."""
        try:
            if self._denials.waiting:
                with self._session.use("keeping refused calls") as conn:
                    self._denials.keep(conn)
        except Fault as fault:
            log.warning("refused calls are not kept", extra={"reason": fault.text})
        self._session.close()


class About:
    """What a service is and does now."""

    def __init__(
        self,
        service: Service,
        leadership: Leadership | None,
        drives: Sequence[Drive],
        halt: Halt,
        backlog: Callable[[Connection], Sequence[Item]],
    ) -> None:
        self.service = service
        self.instance = name_instance() if leadership is None else leadership.instance
        self.drives = {drive.loop.name: drive for drive in drives}
        self.backlog = backlog
        self._leadership = leadership
        self._halt = halt

    @property
    def leads(self) -> bool:
        """Tell whether this instance leads."""
        return self._leadership is not None and self._leadership.leads

    @property
    def serves(self) -> bool:
        """Tell whether the service as a whole does what it is for."""
        able = self._leadership is None or self._leadership.leads
        needed = (one for one in self.drives.values() if one.loop.needed)
        return able and all(drive.report.well for drive in needed)

    def pause_of(self, loop: Loop) -> service_control.Pause | None:
        """Return why a loop is to rest; None: it is not."""
        return (self._halt.pauses or {}).get(loop.name) if loop.pausable else None


class ControlService(control_pb2_grpc.ControlServiceServicer):
    """The gRPC service. What it changes it only writes: the loop `control` reads it."""

    def __init__(self, about: About, desk: Desk) -> None:
        self._about = about
        self._service = about.service
        self._drives = about.drives
        self._desk = desk

    def service(self) -> GrpcService:
        """Return this as a service of the control address."""
        descriptor = pb.DESCRIPTOR.services_by_name["ControlService"]
        return GrpcService(descriptor, self._add, reads=frozenset({"Status"}))

    def _add(self, server: grpc.Server) -> None:
        control_pb2_grpc.add_ControlServiceServicer_to_server(self, server)

    def Status(
        self, request: pb.StatusRequest, context: grpc.ServicerContext
    ) -> pb.StatusResponse:
        """Say what this instance does now, and what PostgreSQL says of the service."""
        del request
        with self._desk.answering(context):
            answer = pb.StatusResponse(
                service=self._service,
                version=VERSION,
                instance=self._about.instance,
                leads=self._about.leads,
                serving=self._about.serves,
                loops=[self._loop(drive) for drive in self._drives.values()],
            )
            try:
                with self._desk.connection() as conn:
                    self._read(conn, answer)
            except Fault as fault:
                for field in ("leader", "schema", "backlog"):
                    answer.ClearField(field)
                answer.store_fault = fault.text
            return answer

    def Pause(
        self, request: pb.PauseRequest, context: grpc.ServicerContext
    ) -> pb.PauseResponse:
        """Let a loop rest."""
        with self._desk.answering(context):
            part = self._part(request.part)
            changed = self._switch(
                request.admin,
                "pause",
                part,
                lambda conn, act: service_control.pause(conn, self._service, part, act),
            )
            return pb.PauseResponse(changed=changed)

    def Resume(
        self, request: pb.ResumeRequest, context: grpc.ServicerContext
    ) -> pb.ResumeResponse:
        """End a pause."""
        with self._desk.answering(context):
            part = self._part(request.part)
            changed = self._switch(
                request.admin,
                "resume",
                part,
                lambda conn, _: service_control.resume(conn, self._service, part),
            )
            return pb.ResumeResponse(changed=changed)

    def Wake(self, request: pb.WakeRequest, context: grpc.ServicerContext) -> pb.WakeResponse:
        """End the rest of a loop, or of all."""
        with self._desk.answering(context):
            if request.part and request.part not in self._drives:
                raise Refusal(f"part must be one of {', '.join(self._drives)}, or empty")
            for name, drive in self._drives.items():
                if request.part in ("", name):
                    drive.wake()
            return pb.WakeResponse()

    def _part(self, given: str) -> str:
        """Return the loop that is meant.

        Raises:
            Refusal: there is none of that name, or it must not rest.
        """
        if given in self._drives and self._drives[given].loop.pausable:
            return given
        names = [name for name, drive in self._drives.items() if drive.loop.pausable]
        if not names:
            raise Refusal(f"no loop of {self._service} can be paused")
        raise Refusal(f"part must be one of {', '.join(names)}")

    def _switch(
        self,
        admin: Admin,
        action: str,
        part: str,
        switch: Callable[[Connection, admin_audit.Act], bool],
    ) -> bool:
        act = act_of(admin)
        with self._desk.fenced() as conn:
            changed = switch(conn, act)
            admin_audit.record(
                conn, self._service, act, action, asked={"part": part}, affected=int(changed)
            )
        self._drives[LOOP].wake()
        return changed

    def _read(self, conn: Connection, answer: pb.StatusResponse) -> None:
        answer.schema.current = migrate.current(conn)
        answer.schema.needed = migrate.needed()
        if (leader := service_term.leader(conn, self._service)) is not None:
            answer.leader.term = leader.term
            answer.leader.instance = leader.instance
            answer.leader.since.CopyFrom(stamp(leader.since))
        for item in self._about.backlog(conn):
            oldest = None if item.oldest is None else stamp(item.oldest)
            answer.backlog.add(name=item.name, count=item.count, oldest=oldest)

    def _loop(self, drive: Drive) -> pb.LoopStatus:
        loop, report = drive.loop, drive.report
        pause = self._about.pause_of(loop)
        return pb.LoopStatus(
            name=loop.name,
            state=_STATES[report.state],
            reason=clean(report.reason),
            last_clean=None if report.last_clean is None else stamp(report.last_clean),
            faults=report.faults,
            pausable=loop.pausable,
            pause=None if pause is None else _pause(pause),
        )


def _pause(pause: service_control.Pause) -> pb.Pause:
    return pb.Pause(since=stamp(pause.since), operator=pause.operator, reason=pause.reason)
