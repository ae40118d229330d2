"""The application: routes, limits, failures, and the document that describes them."""

from importlib.metadata import version
from typing import Final

from fastapi import FastAPI

from msgx.projection.read import Reader
from services.api import errors
from services.api.door import Door, Gate
from services.api.landing import Landing
from services.api.records import Records
from services.api.routes import flights, health, mailbox
from services.api.settings import ApiSettings

READS: Final = 4
"""Reads of Redis at once, each with a connection."""

WRITES: Final = 4
"""Inserts into the mailbox at once, each with a connection."""

_BODIES: Final = 16
"""Bodies in memory at once."""

_CHECKS: Final = 2
"""Bodies parsed at once: a tree is many times its text."""

_REQUESTS: Final = 64
"""Requests in work at once, of every kind."""


def build(settings: ApiSettings, reader: Reader, landing: Landing, records: Records) -> FastAPI:
    """Return the application. It opens nothing itself."""
    app = FastAPI(
        title="msgexchange",
        version=version("msgexchange"),
        docs_url=None,  # the page would load its script from outside
        redoc_url=None,
        redirect_slashes=False,
    )
    errors.install(app)
    app.add_middleware(Door, limit=_REQUESTS)
    seconds = settings.http.timeout.total_seconds()
    reads = Gate(READS, seconds=seconds)
    app.include_router(flights.router(reader, reads, seconds=seconds))
    app.include_router(
        mailbox.router(
            landing,
            bodies=Gate(_BODIES, seconds=seconds),
            checks=Gate(_CHECKS, seconds=seconds),
            writes=Gate(WRITES, seconds=seconds),
            limit=min(settings.http.max_body, settings.max_message_bytes),
            seconds=seconds,
        )
    )
    app.include_router(health.router(reader, reads))
    return app
