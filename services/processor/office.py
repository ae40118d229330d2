"""What answers operators, put together: with connections of its own, apart from the pump's."""

from contextlib import ExitStack, closing

from msgx.codec.decode import Decoder
from msgx.mailbox.inbox import Mailbox
from msgx.mailbox.texts import Texts
from msgx.projection.write import Projection
from msgx.runtime.desk import Desk
from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.telemetry.board import Board
from services.processor.acts import Acts
from services.processor.admin import Replays
from services.processor.assess import Assessor
from services.processor.effect import Airport
from services.processor.project import Projector
from services.processor.settings import ProcessorSettings
from services.processor.snapshot import Snapshots


def replays(
    settings: ProcessorSettings,
    leadership: Leadership,
    decoder: Decoder,
    board: Board,
    stack: ExitStack,
) -> Replays:
    """Return the service of operators; what it opens is closed with `stack`."""
    airport = Airport(zone=settings.airport.zone, day_cut=settings.airport.day_cut)
    projection = stack.enter_context(closing(Projection(settings.redis, settings.environment)))
    projector = Projector(
        projection, airport.zone, settings.projection.epoch_check.total_seconds(), board
    )
    # A skip shows in Redis what it ends, in its transaction; if it is stopped there, the next
    # leader waits no longer than this.
    patience = settings.leadership.timeout + settings.redis.timeout
    session = Session(settings.database, "processor-admin", transaction_timeout=patience)
    desk = stack.enter_context(closing(Desk(leadership, session)))
    snapshots = Snapshots(airport, settings.schd)
    tolerance = settings.request.clock_tolerance
    assessor = Assessor(
        Texts(Mailbox(settings.mailbox), decoder), snapshots, airport, tolerance
    )
    stack.callback(assessor.close)
    return Replays(desk, assessor, Acts(desk, leadership, assessor, projector))
