"""A service made of a test's own loops, run by the production runtime in this process, and
whoever calls its control address."""

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from msgx.rpc.v1 import control_pb2 as pb
from msgx.rpc.v1 import control_pb2_grpc
from msgx.runtime.halt import Halt
from msgx.runtime.leadership import Leadership
from msgx.runtime.loops import Loop, run
from msgx.settings import Admin as AdminSettings
from msgx.settings import Control, ServiceSettings
from msgx.store.service_term import Service
from tests.support import patient
from tests.support.calls import TIMEOUT, TOKEN, WHO, Calls, bearer
from tests.support.waiting import PATIENCE_SECONDS, until

READ_TOKEN: Final = "a-token-that-only-reads"
HOUR: Final = timedelta(hours=1)


def settings(dsn: str, bind: str, **control: Any) -> ServiceSettings:
    """Return settings of a dispatcher that admits both tokens."""
    return ServiceSettings(
        environment="test",
        database=patient.database(make_conninfo(dsn, user="msgx_dispatcher")),
        leadership=patient.LEADERSHIP,
        control=Control(**{"bind": bind, "grace": patient.PATIENT} | control),
        admin=AdminSettings(token=SecretStr(TOKEN), read_token=SecretStr(READ_TOKEN)),
    )


def standing(dsn: str) -> Leadership:
    """Return the dispatcher's leadership, not yet held."""
    given = settings(dsn, "127.0.0.1:0")
    return Leadership(
        given.database, given.leadership, Service.DISPATCHER, environment=given.environment
    )


@contextmanager
def leading(dsn: str) -> Iterator[Leadership]:
    """Yield the dispatcher's leadership, held."""
    leadership = standing(dsn)
    leadership.hold()
    try:
        yield leadership
    finally:
        leadership.lose()


class Caller(Calls):
    """An operator of one service."""

    def __init__(self, channel: grpc.Channel, token: str = TOKEN) -> None:
        super().__init__(channel, control_pb2_grpc.ControlServiceStub, bearer(token))
        self._health: Any = health_pb2_grpc.HealthStub(channel)

    def status(self) -> Any:
        """Ask what the service does."""
        return self.call("Status", pb.StatusRequest())

    def loop(self, name: str) -> Any:
        """Ask what a loop does."""
        return next(one for one in self.status().loops if one.name == name)

    def state(self, name: str) -> str:
        """Ask what a loop does, in one word."""
        told = pb.LoopState.Name(self.loop(name).state)
        return told.removeprefix("LOOP_STATE_")

    def pause(self, part: str) -> bool:
        """Pause a loop; return whether it was at work."""
        return bool(self.call("Pause", pb.PauseRequest(admin=WHO, part=part)).changed)

    def resume(self, part: str) -> bool:
        """Resume a loop; return whether it was paused."""
        return bool(self.call("Resume", pb.ResumeRequest(admin=WHO, part=part)).changed)

    def wake(self, part: str = "") -> None:
        """Wake a loop."""
        self.call("Wake", pb.WakeRequest(part=part))

    def health(self, part: str = "") -> str:
        """Ask gRPC health."""
        request = health_pb2.HealthCheckRequest(service=part)
        try:
            answer = self._health.Check(request, timeout=TIMEOUT, wait_for_ready=True)
        except grpc.RpcError as error:
            return str(error.code().name)
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))


class Watch:
    """An open health Watch: the states that were told, None when the server completed it."""

    def __init__(self, channel: grpc.Channel, part: str = "") -> None:
        self.told: queue.Queue[str | None] = queue.Queue()
        stub = health_pb2_grpc.HealthStub(channel)
        self._stream = stub.Watch(
            health_pb2.HealthCheckRequest(service=part), wait_for_ready=True
        )
        self._thread = threading.Thread(target=self._collect)
        self._thread.start()

    def wait_for(self, state: str | None) -> None:
        """Return once `state` was told."""
        while self.told.get(timeout=PATIENCE_SECONDS) != state:
            pass

    def close(self) -> None:
        """Hang up."""
        self._stream.cancel()
        self._thread.join(PATIENCE_SECONDS)

    def _collect(self) -> None:
        try:
            for answer in self._stream:
                name = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
                self.told.put(str(name))
        except grpc.RpcError:
            pass
        self.told.put(None)


class Looking:
    """A client of reflection that asks once and keeps its stream open."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._hung_up = threading.Event()
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        self._stream = stub.ServerReflectionInfo(self._requests(), wait_for_ready=True)

    def answer(self) -> str:
        """Return how the server answers next: it does, or it ends the stream."""
        try:
            next(self._stream)
        except grpc.RpcError as error:
            return str(error.code().name)
        return "answered"

    def close(self) -> None:
        """Hang up."""
        self._hung_up.set()
        self._stream.cancel()

    def _requests(self) -> Iterator[Any]:
        yield reflection_pb2.ServerReflectionRequest(list_services="")
        self._hung_up.wait()


@dataclass
class Steps:
    """The steps of a loop: counted, failing on demand, held on demand."""

    rest: timedelta = HOUR
    count: int = 0
    fault: Exception | None = None
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Let steps through."""
        self.gate.set()

    def __call__(self) -> timedelta:
        """Do one step."""
        self.count += 1
        assert self.gate.wait(TIMEOUT)
        if self.fault is not None:
            raise self.fault
        return self.rest

    def reach(self, count: int) -> None:
        """Wait until so many steps were done."""
        until(lambda: self.count >= count, f"{count} steps")


class Running:
    """A service in a thread of this process."""

    def __init__(self, bind: str, halt: Halt) -> None:
        self.caller = Caller(grpc.insecure_channel(bind))
        self.status: int | None = None
        self._halt = halt
        self._thread: threading.Thread | None = None

    def start(self, loops: Sequence[Loop], given: ServiceSettings, **rest: Any) -> None:
        """Run."""

        def serve() -> None:
            self.status = run(Service.DISPATCHER, loops, given, halt=self._halt, **rest)

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()

    def stop(self) -> int | None:
        """Stop as a signal would, and return the exit status."""
        self._halt.stop()
        assert self._thread is not None
        self._thread.join(PATIENCE_SECONDS)
        return self.status

    def close(self) -> None:
        """Stop, and hang up."""
        self.stop()
        self.caller.channel.close()


@contextmanager
def serving(
    dsn: str, folder: Path, *loops: Loop, control: dict[str, Any] | None = None, **rest: Any
) -> Iterator[Running]:
    """Run loops as the dispatcher's; `rest` is what `run` takes besides."""
    bind = f"unix:{folder}/control"
    running = Running(bind, rest.pop("halt", None) or Halt())
    with closing(running):
        running.start(loops, settings(dsn, bind, **(control or {})), **rest)
        until(lambda: running.caller.health() != "UNKNOWN", "it answers")
        yield running
