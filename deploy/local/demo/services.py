"""The gateway's services as separate processes, each with its own role and account."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from deploy.local import ports
from deploy.local.children import Child, Command, failed
from deploy.local.demo.operators import Desk, open_desk
from deploy.local.demo.prepare import Installation
from deploy.local.faults import CannotStart
from deploy.local.stack import Stack
from msgx import clock

ROOT: Final = Path(__file__).parents[3]
NAMES: Final = ("intake", "processor", "refdata", "dispatcher", "api")
SERVING_LIMIT: Final = 120.0
TOPICS_LIMIT: Final = 120.0
# Short ladders, so that a retry is seen within the demo.
SHORT: Final = {
    "MSGX_PIPELINE__LADDER": "PT0.2S PT0.5S PT1S PT2S",
    "MSGX_DISPATCH__LADDER": "PT0.2S PT0.5S PT1S PT1S PT2S PT2S PT4S",
}


@dataclass(frozen=True, slots=True)
class Services:
    """The running services and the addresses that they were given."""

    children: dict[str, Child]
    control: dict[str, str]
    http: str
    desk: Desk

    def peak_megabytes(self) -> dict[str, int]:
        """Return the most memory that each service has used so far."""
        return {name: _peak(child) for name, child in self.children.items()}


def start(stack: Stack, installation: Installation) -> Services:
    """Make the topics, start every service, and wait until gRPC health says SERVING.

    Raises:
        CannotStart: which service failed, with the end of its log.
    """
    taken: set[int] = set()
    control = {name: _address(name, taken) for name in NAMES}
    http = _address("http", taken)
    desk = open_desk(stack.folder, control, http)
    logs = stack.folder / "logs"

    def spawn(name: str) -> Child:
        command = _command(name, installation, control, http, desk)
        return stack.family.spawn(name, command, logs / f"{name}.log")

    children = {name: spawn(name) for name in NAMES if name != "dispatcher"}
    topics = _command("dispatcher", installation, control, http, desk, "topics")
    stack.family.run("dispatcher topics", topics, logs / "topics.log", timeout=TOPICS_LIMIT)
    children["dispatcher"] = spawn("dispatcher")  # which waits for its topics
    deadline = clock.ticks() + SERVING_LIMIT
    for name, child in children.items():
        _await_serving(child, control[name], deadline)
    return Services(children, control, f"http://{http}", desk)


def _address(name: str, taken: set[int]) -> str:
    port = ports.choose(name, f"the {name} service", given={}, last=None, taken=taken)
    taken.add(port)
    return f"{ports.HOST}:{port}"


def _command(
    name: str,
    installation: Installation,
    control: dict[str, str],
    http: str,
    desk: Desk,
    *arguments: str,
) -> Command:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("MSGX_")}
    environment = inherited | SHORT | {
        "MSGX_ENVIRONMENT": "demo",
        "MSGX_DATABASE__DSN": installation.dsn(name),
        "MSGX_MAILBOX__URL": installation.mailbox_urls[name],
        "MSGX_REDIS__URL": installation.redis_url,
        "MSGX_KAFKA__BOOTSTRAP": installation.kafka,
        "MSGX_CONTROL__BIND": control[name],
        "MSGX_ADMIN__TOKEN_FILE": str(desk.token),
        "MSGX_HTTP__BIND": http,
        "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    program = [sys.executable, "-m", f"services.{name}", *arguments]
    return Command(program, ROOT, environment=environment)


def _await_serving(child: Child, address: str, deadline: float) -> None:
    with grpc.insecure_channel(address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        while True:
            if child.ended():
                raise CannotStart(failed(child.name, "ended while starting", child.log))
            if clock.ticks() > deadline:
                late = f"did not say SERVING within {SERVING_LIMIT:g} s"
                raise CannotStart(failed(child.name, late, child.log))
            try:
                answer = health.Check(health_pb2.HealthCheckRequest(service=""), timeout=1)
            except grpc.RpcError:
                answer = None
            if answer is not None and answer.status == health_pb2.HealthCheckResponse.SERVING:
                return
            clock.rest(0.1)


def _peak(child: Child) -> int:
    """Return the peak resident memory of the program behind the guard, 0 if it is gone."""
    try:
        guard = child.process.pid
        program = Path(f"/proc/{guard}/task/{guard}/children").read_text().split()[0]
        lines = Path(f"/proc/{program}/status").read_text().splitlines()
    except (OSError, IndexError):
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0)
