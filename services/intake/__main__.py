"""Intake: mailbox → registration, and the mark back. `python -m services.intake`."""

import argparse
from functools import partial

from msgx.mailbox.connect import look
from msgx.mailbox.inbox import Mailbox
from msgx.runtime.desk import Desk
from msgx.runtime.gauges import Gauges
from msgx.runtime.leadership import Leadership
from msgx.runtime.logs import configure
from msgx.runtime.loops import Loop, run
from msgx.runtime.recognise import recognise
from msgx.runtime.session import Session
from msgx.settings import load
from msgx.store import backlog
from msgx.store.service_term import Service
from msgx.telemetry.board import Board
from services.intake.admin import Marks
from services.intake.backfill import Backfiller
from services.intake.figures import figures
from services.intake.poller import Poller
from services.intake.retention import Retention
from services.intake.settings import IntakeSettings


def main() -> int:
    """Run intake until a signal arrives."""
    argparse.ArgumentParser(
        prog="python -m services.intake",
        description="Register what the mailbox holds, and write its marks, until a signal.",
    ).parse_args()
    settings = load(IntakeSettings)
    configure(Service.INTAKE, settings.log_level)
    mailboxes = [Mailbox(settings.mailbox) for _ in range(3)]
    recognise(lambda: look(settings.mailbox))
    leadership = Leadership(
        settings.database,
        settings.leadership,
        Service.INTAKE,
        environment=settings.environment,
    )
    board = Board(Service.INTAKE)
    backoff = settings.pipeline.infra_wait
    # A stopped instance lets go of its term row, but not while the mailbox may still answer.
    patience = settings.leadership.timeout + settings.mailbox.timeout
    poller = Poller(
        session=Session(settings.database, "intake-poller", transaction_timeout=patience),
        mailbox=mailboxes[0],
        term=leadership.require,
        intake=settings.intake,
        batch=settings.pipeline.claim_batch,
        board=board,
    )
    gauges = Gauges(
        board,
        leadership,
        Session(settings.database, "intake-gauges", by_key=True),
        partial(figures, stubborn=settings.pipeline.backfill_max_attempts),
        settings.telemetry.period,
    )
    retention = Retention(
        Session(
            settings.database,
            "intake-retention",
            transaction_timeout=settings.leadership.timeout,
            by_key=True,
        ),
        leadership.require,
        records=settings.proc.retention,
        dead=settings.dead.retention,
    )
    loops = [
        Loop("leadership", leadership.beat, backoff, pausable=False),
        Loop("poller", poller.step, backoff),
        Loop("retention", retention.step),
        Loop("gauges", gauges.step, pausable=False),
    ]
    if not settings.mailbox.read_only:  # shadow mode writes nothing (R50)
        backfiller = Backfiller(
            session=Session(settings.database, "intake-backfill", transaction_timeout=patience),
            mailbox=mailboxes[1],
            term=leadership.require,
            pipeline=settings.pipeline,
        )
        loops.append(Loop("backfill", backfiller.step, backoff))
    desk = Desk(leadership, Session(settings.database, "intake-admin"))
    marks = Marks(desk, mailboxes[2], settings.intake.near_window)
    return run(
        Service.INTAKE,
        loops,
        settings,
        leadership=leadership,
        backlog=backlog.of_intake,
        services=[marks.service()],
        board=board,
    )


if __name__ == "__main__":
    raise SystemExit(main())
