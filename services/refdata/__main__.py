"""Refdata: routed heads to REF_MASTER. `python -m services.refdata`."""

import argparse
from contextlib import ExitStack, closing

from msgx.codec.decode import Decoder
from msgx.mailbox.connect import look
from msgx.mailbox.inbox import Mailbox
from msgx.mailbox.texts import Texts
from msgx.runtime.desk import Desk
from msgx.runtime.leadership import Leadership
from msgx.runtime.logs import configure
from msgx.runtime.loops import Loop, run
from msgx.runtime.recognise import recognise
from msgx.runtime.session import Session
from msgx.settings import load
from msgx.store import backlog
from msgx.store.service_term import Service
from msgx.telemetry.board import Board
from services.refdata.admin import Records
from services.refdata.execute import Executor
from services.refdata.fetch import Fetcher
from services.refdata.pump import Pump
from services.refdata.settings import RefdataSettings


def main() -> int:
    """Run refdata until SIGTERM."""
    argparse.ArgumentParser(
        prog="python -m services.refdata",
        description="Take the reference data that was handed over, until a signal.",
    ).parse_args()
    settings = load(RefdataSettings)
    configure("refdata", settings.log_level)
    decoder = Decoder(
        zone=settings.airport.zone,
        groups=frozenset(),
        max_bytes=settings.max_message_bytes,
        reference=settings.reference.reading,
    )
    recognise(lambda: look(settings.mailbox))
    backoff = settings.pipeline.infra_wait
    leadership = Leadership(
        settings.database,
        settings.leadership,
        Service.REFDATA,
        environment=settings.environment,
    )
    board = Board(Service.REFDATA)
    with ExitStack() as stack:
        stack.callback(leadership.lose)
        fetcher = stack.enter_context(
            closing(Fetcher(Texts(Mailbox(settings.mailbox), decoder)))
        )
        pump = Pump(
            leadership,
            stack.enter_context(closing(Session(settings.database, "refdata-ears"))),
            Executor(
                fetcher,
                settings.pipeline,
                tolerance=settings.request.clock_tolerance,
                board=board,
                keep_raw=settings.dead.keep_raw,
            ),
            settings.pipeline,
        )
        desk = stack.enter_context(
            closing(Desk(leadership, Session(settings.database, "refdata-admin")))
        )
        return run(
            Service.REFDATA,
            # The pump's session is the leading one: a paused pump still beats it.
            [Loop("pump", pump.step, backoff, while_paused=leadership.beat)],
            settings,
            leadership=leadership,
            backlog=backlog.of_refdata,
            services=[Records(desk).service()],
            board=board,
        )


if __name__ == "__main__":
    raise SystemExit(main())
