"""Processor: the head of the queue, to flights, projection and outbox. `python -m
services.processor [serve | verify]`."""

import argparse
from contextlib import ExitStack, closing

from msgx.codec.decode import Decoder
from msgx.domain.failure import Fault
from msgx.mailbox.connect import look
from msgx.mailbox.inbox import Mailbox
from msgx.mailbox.texts import Texts
from msgx.projection.read import Reader
from msgx.projection.write import Projection
from msgx.runtime.gauges import Gauges
from msgx.runtime.halt import Halt
from msgx.runtime.leadership import Leadership
from msgx.runtime.logs import configure
from msgx.runtime.loops import Loop, run
from msgx.runtime.recognise import recognise
from msgx.runtime.session import Session
from msgx.settings import load
from msgx.store import backlog
from msgx.store.service_term import Service
from msgx.telemetry.board import Board
from services.processor.effect import Airport, Effects
from services.processor.fetch import Fetcher
from services.processor.figures import figures
from services.processor.office import replays
from services.processor.process import Processor
from services.processor.project import Projector
from services.processor.pump import Pump
from services.processor.retention import Retention
from services.processor.settings import ProcessorSettings, VerifySettings
from services.processor.snapshot import Snapshots
from services.processor.verify import verify


def serve() -> int:
    """Run the processor until SIGTERM."""
    settings = load(ProcessorSettings)
    configure("processor", settings.log_level)
    airport = Airport(zone=settings.airport.zone, day_cut=settings.airport.day_cut)
    decoder = Decoder(
        zone=airport.zone, groups=settings.flop.groups, max_bytes=settings.max_message_bytes
    )
    recognise(lambda: look(settings.mailbox))
    backoff = settings.pipeline.infra_wait
    leadership = Leadership(
        settings.database,
        settings.leadership,
        Service.PROCESSOR,
        environment=settings.environment,
        by_key=True,
    )
    board = Board(Service.PROCESSOR)
    with ExitStack() as stack:
        stack.callback(leadership.lose)
        projection = stack.enter_context(
            closing(Projection(settings.redis, settings.environment))
        )
        recognise(projection.look)
        projector = Projector(
            projection, airport.zone, settings.projection.epoch_check.total_seconds(), board
        )
        fetcher = stack.enter_context(
            closing(
                Fetcher(
                    Texts(Mailbox(settings.mailbox), decoder),
                    Session(settings.database, "processor-fetch"),
                    settings.pipeline.prefetch,
                )
            )
        )
        operators = replays(settings, leadership, decoder, board, stack)
        halt = Halt()
        pump = Pump(
            leadership,
            stack.enter_context(closing(Session(settings.database, "processor-ears"))),
            fetcher,
            Processor(
                Effects(projector, airport, settings.request.clock_tolerance),
                Snapshots(airport, settings.schd),
                projector,
                settings.pipeline,
                board=board,
                keep_raw=settings.dead.keep_raw,
            ),
            projector,
            settings.pipeline,
            stopping=halt.of("pump"),
        )
        retention = Retention(
            leadership,
            Session(
                settings.database,
                "processor-retention",
                transaction_timeout=settings.leadership.timeout,
            ),
            dead=settings.dead.retention,
            audit=settings.audit.retention,
            identities=settings.identity.retention,
            day_plans=settings.schd.snap_log_retention,
        )
        stack.callback(retention.close)
        gauges = Gauges(
            board,
            leadership,
            stack.enter_context(closing(Session(settings.database, "processor-gauges"))),
            figures,
            settings.telemetry.period,
        )
        return run(
            Service.PROCESSOR,
            # The pump's session is the leading one: a paused pump still beats it.
            [
                Loop("pump", pump.step, backoff, while_paused=leadership.beat),
                Loop("retention", retention.step),
                Loop("gauges", gauges.step, pausable=False),
            ],
            settings,
            leadership=leadership,
            halt=halt,
            backlog=backlog.of_processor,
            services=[operators.service()],
            on_stop=operators.jobs.stop,
            board=board,
        )


def check() -> int:
    """Verify every flight, say what was looked at and what differs; 1 if something does."""
    settings = load(VerifySettings)
    configure("processor", settings.log_level)
    said: list[str] = []
    try:
        with ExitStack() as stack:
            reader: Reader | None = None
            if settings.redis is not None:
                reader = stack.enter_context(closing(Reader(settings.redis, connections=1)))
            session = stack.enter_context(
                closing(Session(settings.database, "processor-verify"))
            )
            with session.use("verifying") as conn:
                found = verify(
                    conn,
                    reader,
                    settings.airport.zone,
                    event_retention=settings.pipeline.event_retention,
                )
    except (Fault, ValueError) as fault:
        print(fault)  # noqa: T201
        return 1
    said.append(", ".join(f"{count} {name}" for name, count in found.counts.items()))
    said += found.remarks + found.differences
    total = len(found.differences) + found.unnamed
    asked = "" if reader is not None else " Redis was not asked."
    said.append(f"{total} differences.{asked}" if total else f"Everything agrees.{asked}")
    print("\n".join(said))  # noqa: T201
    return 1 if total else 0


def main() -> int:
    """Run the service, or one of its commands."""
    parser = argparse.ArgumentParser(
        prog="python -m services.processor", description="Take messages to flights, in order."
    )
    commands = parser.add_subparsers(title="commands", dest="command")
    commands.add_parser("serve", help="process until a signal (the default)")
    commands.add_parser("verify", help="compare journal, tables, outbox and Redis")
    return check() if parser.parse_args().command == "verify" else serve()


if __name__ == "__main__":
    raise SystemExit(main())
