"""The application: routes, limits, failures, and the document that describes them."""

from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI

from msgx.projection.read import Reader
from services.api import errors
from services.api.asking import Asking
from services.api.door import Door, Gate
from services.api.landing import Landing
from services.api.records import Records
from services.api.reference import Reference
from services.api.routes import flights, health, mailbox, reference, requests
from services.api.settings import ApiSettings

READS: Final = 4
"""Reads of Redis at once, each with a connection."""

WRITES: Final = 4
"""Inserts into the mailbox at once, each with a connection."""

USES: Final = 4
"""Uses of PostgreSQL at once, each with a connection."""

_BODIES: Final = 16
"""Bodies in memory at once."""

_CHECKS: Final = 2
"""Bodies parsed at once: a tree is many times its text."""

_REQUESTS: Final = 64
"""Requests in work at once, of every kind."""


class _App(FastAPI):
    """FastAPI, whose document says what we answer: a wrong parameter is 400, as everything that
    is wrong (R27)."""

    def openapi(self) -> dict[str, Any]:
        """Return the document."""
        document = super().openapi()
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"].pop("422", None)
        for unused in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(unused, None)
        return document


def build(settings: ApiSettings, reader: Reader, landing: Landing, records: Records) -> FastAPI:
    """Return the application. It opens nothing itself."""
    app = _App(
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
    bodies = Gate(_BODIES, seconds=seconds)
    app.include_router(flights.router(reader, reads, seconds=seconds))
    app.include_router(
        mailbox.router(
            landing,
            bodies=bodies,
            checks=Gate(_CHECKS, seconds=seconds),
            writes=Gate(WRITES, seconds=seconds),
            limit=min(settings.http.max_body, settings.max_message_bytes),
            seconds=seconds,
        )
    )
    uses = Gate(USES, seconds=seconds)
    app.include_router(
        requests.router(
            Asking(records, settings.request, settings.airport),
            bodies=bodies,
            uses=uses,
            seconds=seconds,
        )
    )
    app.include_router(reference.router(Reference(records, settings.airport), uses=uses))
    app.include_router(health.router(reader, reads))
    return app
