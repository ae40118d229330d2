"""The api for tests: in this process on a free port, or as a process of its own."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from typing import Any, Final

from pydantic import SecretStr

from msgx.projection.read import Reader
from msgx.settings import Http, Redis
from msgx.settings import Mailbox as MailboxSettings
from services.api.app import READS, build
from services.api.landing import Landing
from services.api.records import Records
from services.api.server import HttpServer
from services.api.settings import ApiSettings
from tests.support import patient
from tests.support.process import Process
from tests.support.waiting import PATIENCE_SECONDS, until

NOWHERE: Final = "127.0.0.1:9"


def api_settings(
    *,
    redis: str = f"redis://{NOWHERE}/0",
    mailbox: str = f"mysql://nobody:nothing@{NOWHERE}/none",
    database: str = "host=127.0.0.1 port=9 dbname=none user=nobody",
    http: dict[str, Any] | None = None,
    redis_timeout: timedelta = patient.PATIENT,
    read_only: bool = False,
) -> ApiSettings:
    """Return settings for a free port; what is not named is away."""
    return ApiSettings(
        environment="test",
        database=patient.database(database),
        redis=Redis.model_validate({"url": redis, "timeout": redis_timeout}),
        mailbox=MailboxSettings(
            url=SecretStr(mailbox), timeout=patient.PATIENT, read_only=read_only
        ),
        http=Http.model_validate(
            {"bind": "127.0.0.1:0", "timeout": patient.PATIENT, **(http or {})}
        ),
    )


@contextmanager
def serving(settings: ApiSettings) -> Iterator[str]:
    """Serve HTTP in this process and yield the base URL."""
    with ExitStack() as stack:
        reader = stack.enter_context(closing(Reader(settings.redis, connections=READS)))
        landing = stack.enter_context(closing(Landing(settings.mailbox)))
        records = stack.enter_context(closing(Records(settings.database)))
        app = build(settings, reader, landing, records)
        server = HttpServer(app, settings.http, settings.control.grace)
        stack.callback(server.stop)
        server.start()
        until(lambda: server.serving, "the server serves")
        yield f"http://127.0.0.1:{server.port}"


class Api(Process):
    """`python -m services.api`."""

    def __init__(self, settings: ApiSettings, **environment: str) -> None:
        given = {
            "MSGX_HTTP__BIND": settings.http.bind,
            "MSGX_HTTP__TIMEOUT": f"PT{PATIENCE_SECONDS:.0f}S",
            "MSGX_REDIS__URL": settings.redis.url.get_secret_value(),
            "MSGX_DATABASE__DSN": settings.database.dsn.get_secret_value(),
            "MSGX_MAILBOX__URL": settings.mailbox.url.get_secret_value(),
            "MSGX_MAILBOX__TIMEOUT": "PT10M",
        }
        super().__init__("api", given | environment)

    @property
    def url(self) -> str:
        """The base URL of HTTP."""
        return f"http://127.0.0.1:{self._port('listens', 'http')}"

    @property
    def control(self) -> str:
        """The address of gRPC."""
        return f"127.0.0.1:{self._port('started', 'port')}"

    def _port(self, event: str, name: str) -> int:
        until(lambda: bool(self.logged(event)) or self.child.poll() is not None, event)
        assert self.logged(event), self.lines
        return int(self.logged(event)[0][name])


@contextmanager
def running(settings: ApiSettings, **environment: str) -> Iterator[Api]:
    """Run the api as a process; nothing of it is left at the end."""
    api = Api(settings, **environment)
    try:
        yield api
    finally:
        if api.child.poll() is None:
            api.kill()
