"""Processor: the head of the queue, to flights, projection and outbox. `python -m
services.processor`."""

from contextlib import ExitStack, closing
from functools import partial

from msgx.codec.decode import Decoder
from msgx.domain.backoff import doubling
from msgx.mailbox.inbox import Mailbox
from msgx.projection.write import Projection
from msgx.runtime.leadership import Leadership
from msgx.runtime.logs import configure
from msgx.runtime.loops import Loop, run
from msgx.runtime.session import Session
from msgx.settings import load
from msgx.store.service_term import Service
from services.processor.effect import Airport, Effects
from services.processor.fetch import Fetcher
from services.processor.process import Processor
from services.processor.project import Projector
from services.processor.pump import Pump
from services.processor.settings import ProcessorSettings
from services.processor.snapshot import Snapshots


def main() -> int:
    """Run the processor until SIGTERM."""
    settings = load(ProcessorSettings)
    configure("processor", settings.log_level)
    airport = Airport(zone=settings.airport.zone, day_cut=settings.airport.day_cut)
    decoder = Decoder(
        zone=airport.zone, groups=settings.flop.groups, max_bytes=settings.max_message_bytes
    )
    try:
        mailbox = Mailbox(settings.mailbox)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    backoff = partial(
        doubling, settings.pipeline.infra_backoff, settings.pipeline.infra_backoff_limit
    )
    leadership = Leadership(
        settings.database, settings.leadership, Service.PROCESSOR, by_key=True
    )
    with ExitStack() as stack:
        stack.callback(leadership.lose)
        projection = stack.enter_context(closing(Projection(settings.redis)))
        projector = Projector(
            projection, airport.zone, settings.projection.epoch_check.total_seconds()
        )
        fetcher = stack.enter_context(
            closing(
                Fetcher(
                    mailbox,
                    Session(settings.database, "processor-fetch"),
                    decoder,
                    settings.pipeline.prefetch,
                )
            )
        )
        pump = Pump(
            leadership,
            stack.enter_context(closing(Session(settings.database, "processor-ears"))),
            fetcher,
            Processor(
                Effects(projector, airport),
                Snapshots(airport, settings.schd),
                projector,
                settings.pipeline,
                keep_raw=settings.dead.keep_raw,
            ),
            projector,
            settings.pipeline,
        )
        return run(
            "processor",
            [Loop("pump", pump.step, backoff)],
            settings.control,
            ready=lambda: leadership.leads,
        )


if __name__ == "__main__":
    raise SystemExit(main())
