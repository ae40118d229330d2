"""Api: HTTP clients to mailbox, flight projection and records. `python -m services.api`.

Stateless: several may serve at once, so it leads nothing.
"""

import argparse
import sys
from contextlib import ExitStack, closing

from msgx.mailbox.connect import look
from msgx.projection.read import Reader
from msgx.runtime import logs
from msgx.runtime.loops import Loop, run
from msgx.runtime.recognise import recognise
from msgx.settings import load
from msgx.store.service_term import Service
from services.api.app import READS, build
from services.api.landing import Landing
from services.api.records import Records
from services.api.server import HttpServer
from services.api.settings import ApiSettings


def main() -> int:
    """Serve until a signal; return the exit status."""
    argparse.ArgumentParser(
        prog="python -m services.api",
        description="Serve HTTP clients until a signal.",
    ).parse_args()
    settings = load(ApiSettings)
    logs.configure("api", settings.log_level)
    with ExitStack() as stack:
        reader = stack.enter_context(
            closing(Reader(settings.redis, connections=READS, environment=settings.environment))
        )
        recognise(reader.look)
        recognise(lambda: look(settings.mailbox))
        landing = stack.enter_context(closing(Landing(settings.mailbox)))
        records = stack.enter_context(closing(Records(settings.database)))
        app = build(settings, reader, landing, records)
        server = HttpServer(app, settings.http, settings.control.grace)
        stack.callback(server.stop)
        server.start()
        return run(
            Service.API,
            [Loop("http", server.check, pausable=False, needed=True)],
            settings,
            on_stop=server.stop,
        )


if __name__ == "__main__":
    sys.exit(main())
