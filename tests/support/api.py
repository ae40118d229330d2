"""The api for tests: in this process on a free port, or as a process of its own."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Final

from msgx import clock
from msgx.domain.failure import Away
from msgx.mailbox.inbox import Mailbox
from msgx.projection.read import Reader
from msgx.settings import Http, Redis
from msgx.settings import Mailbox as MailboxSettings
from services.api.app import READS, build
from services.api.landing import Landing
from services.api.server import HttpServer
from services.api.settings import ApiSettings

NOWHERE: Final = "127.0.0.1:9"
ROOT: Final = Path(__file__).parents[2]
PATIENCE_SECONDS: Final = 30.0


def api_settings(
    *,
    redis: str = f"redis://{NOWHERE}/0",
    mailbox: str = f"mysql://nobody:nothing@{NOWHERE}/none",
    http: dict[str, Any] | None = None,
    read_only: bool = False,
) -> ApiSettings:
    """Return settings for a free port; what is not named is away."""
    return ApiSettings(
        environment="test",
        redis=Redis.model_validate({"url": redis, "timeout": "PT1S"}),
        mailbox=MailboxSettings.model_validate({"url": mailbox, "read_only": read_only}),
        http=Http.model_validate({"bind": "127.0.0.1:0", **(http or {})}),
    )


@contextmanager
def serving(settings: ApiSettings) -> Iterator[str]:
    """Serve HTTP in this process and yield the base URL."""
    with ExitStack() as stack:
        reader = stack.enter_context(Reader(settings.redis, connections=READS))
        landing = stack.enter_context(
            Landing(
                lambda: Mailbox(settings.mailbox),
                read_only=settings.mailbox.read_only,
                now=clock.now,
            )
        )
        server = HttpServer(
            build(settings, reader, landing), settings.http, settings.control.grace
        )
        stack.callback(server.stop)
        server.start()
        until(lambda: server.serving, "the server serves")
        yield f"http://127.0.0.1:{server.port}"


class Process:
    """`python -m services.api`, with its log lines."""

    def __init__(self, settings: ApiSettings, **environment: str) -> None:
        ours = {name: text for name, text in os.environ.items() if "MSGX_" not in name}
        self.child = subprocess.Popen(
            [sys.executable, "-m", "services.api"],
            cwd=ROOT,
            env=ours
            | {
                "MSGX_ENVIRONMENT": "test",
                "MSGX_HTTP__BIND": settings.http.bind,
                "MSGX_CONTROL__BIND": "127.0.0.1:0",
                "MSGX_REDIS__URL": settings.redis.url.get_secret_value(),
                "MSGX_MAILBOX__URL": settings.mailbox.url.get_secret_value(),
            }
            | environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        assert self.child.stderr is not None
        self._collector = threading.Thread(target=self._collect, args=(self.child.stderr,))
        self._collector.start()

    def logged(self, event: str) -> dict[str, Any] | None:
        """Return the first line of `event`, if it was logged."""
        lines = (json.loads(line) for line in list(self.lines) if line.startswith("{"))
        return next((line for line in lines if line["event"] == event), None)

    def wait_for(self, event: str) -> dict[str, Any]:
        """Return the line of `event` as soon as it is there."""
        until(
            lambda: self.logged(event) is not None or self.child.poll() is not None,
            f"the api says {event!r}",
        )
        line = self.logged(event)
        assert line is not None, self.lines
        return line

    @property
    def url(self) -> str:
        """The base URL of HTTP."""
        return f"http://127.0.0.1:{self.wait_for('listens')['http']}"

    @property
    def control(self) -> str:
        """The address of gRPC."""
        return f"127.0.0.1:{self.wait_for('started')['port']}"

    def peak_kilobytes(self) -> int:
        """Return the most memory that the process ever had resident."""
        status = Path(f"/proc/{self.child.pid}/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])

    def ended(self) -> int:
        """Return the exit status once the process has ended."""
        status = self.child.wait(timeout=PATIENCE_SECONDS)
        self._collector.join(PATIENCE_SECONDS)
        return status

    def close(self) -> None:
        """Kill what is left."""
        if self.child.poll() is None:
            self.child.kill()
        self.ended()

    def _collect(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self.lines.append(line.rstrip("\n"))


@contextmanager
def running(settings: ApiSettings, **environment: str) -> Iterator[Process]:
    """Run the api as a process and kill it at the end."""
    process = Process(settings, **environment)
    try:
        yield process
    finally:
        process.close()


def until(condition: Any, what: str) -> None:
    """Wait until `condition()` is true."""
    deadline = clock.ticks() + PATIENCE_SECONDS
    while not condition():
        if clock.ticks() > deadline:
            raise Away(f"in vain: {what}")
        clock.rest(0.01)
