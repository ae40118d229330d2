"""A service as a process: its log lines, its health, its end."""

import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.waiting import PATIENCE_SECONDS, until

ROOT: Final = Path(__file__).parents[2]


class Process:
    """`python -m services.<name>` with exactly the given MSGX_ variables."""

    def __init__(self, name: str, environment: dict[str, str]) -> None:
        ours = {key: text for key, text in os.environ.items() if "MSGX_" not in key}
        self.child = subprocess.Popen(
            [sys.executable, "-m", f"services.{name}"],
            cwd=ROOT,
            env={
                **ours,
                "MSGX_ENVIRONMENT": "test",
                "MSGX_CONTROL__BIND": "127.0.0.1:0",
                "MSGX_CONTROL__GRACE": f"PT{PATIENCE_SECONDS:.0f}S",
                **environment,
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        assert self.child.stderr is not None
        self._collector = threading.Thread(target=self._collect, args=(self.child.stderr,))
        self._collector.start()

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Return the lines of `event`."""
        lines = (json.loads(line) for line in list(self.lines) if line.startswith("{"))
        return [line for line in lines if line["event"] == event]

    def health(self, part: str = "") -> str:
        """Return what gRPC health says of the service, or of one loop of it."""
        self._until(lambda: bool(self.logged("started")), "it starts")
        port = self.logged("started")[0]["port"]
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest(service=part)
            try:
                answer = stub.Check(request, timeout=PATIENCE_SECONDS, wait_for_ready=True)
            except grpc.RpcError as error:
                return str(error.code().name)
            return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))

    def wait_for_health(self, wanted: str, part: str = "") -> None:
        """Wait until health says `wanted`."""
        self._until(lambda: self.health(part) == wanted, f"{part or 'it'} is {wanted}")

    def figures(self) -> set[str]:
        """Return the lines of `/metrics`."""
        self._until(lambda: bool(self.logged("started")), "it starts")
        where = f"http://127.0.0.1:{self.logged('started')[0]['metrics_port']}/metrics"
        with urllib.request.urlopen(where, timeout=PATIENCE_SECONDS) as answer:
            return set(answer.read().decode().splitlines())

    def wait_for_figures(self, wanted: set[str]) -> None:
        """Wait until `/metrics` has these lines."""
        self._until(lambda: wanted <= self.figures(), f"{wanted}")

    def peak_megabytes(self) -> float:
        """Return the most memory that the process ever had resident."""
        status = Path(f"/proc/{self.child.pid}/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024

    def terminate(self) -> int:
        """Send SIGTERM and return the exit status."""
        self.child.terminate()
        return self.ended()

    def kill(self) -> None:
        """Send SIGKILL and wait for the end."""
        self.child.kill()
        self.ended()

    def ended(self) -> int:
        """Return the exit status once the process has ended."""
        status = self.child.wait(timeout=PATIENCE_SECONDS)
        self._collector.join(PATIENCE_SECONDS)
        return status

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        def holds() -> bool:
            assert self.child.poll() is None, "it has ended"
            return condition()

        try:
            until(holds, what)
        except AssertionError as never:
            never.add_note(f"the last lines: {self.lines[-5:]}")
            raise

    def _collect(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                if line.endswith("\n"):  # else a kill has cut it off
                    self.lines.append(line.rstrip("\n"))


@contextmanager
def running(name: str, **environment: str) -> Iterator[Process]:
    """Run a service as a process; nothing of it is left at the end."""
    process = Process(name, environment)
    try:
        yield process
    finally:
        if process.child.poll() is None:
            process.kill()
