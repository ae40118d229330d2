"""The dispatcher: `python -m services.dispatcher`, and `… topics` to make the topics."""

import argparse

from msgx.domain.delivery import Target
from msgx.domain.failure import Away
from msgx.mailbox.connect import look
from msgx.mailbox.outbound import Outbound
from msgx.runtime.desk import Desk
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
from services.dispatcher.admin import Delivery
from services.dispatcher.figures import figures
from services.dispatcher.outgoing import PART, Outgoing
from services.dispatcher.relay import Relay
from services.dispatcher.request_admin import Requests
from services.dispatcher.retention import Retention
from services.dispatcher.settings import DispatcherSettings, TopicSettings
from services.dispatcher.topics import Topics, wanted
from services.dispatcher.wake import Wake


def serve() -> int:
    """Deliver events until a signal."""
    settings = load(DispatcherSettings)
    configure("dispatcher", settings.log_level)
    recognise(lambda: look(settings.mailbox))
    leadership = Leadership(
        settings.database,
        settings.leadership,
        Service.DISPATCHER,
        environment=settings.environment,
    )
    board = Board(Service.DISPATCHER)
    wake = Wake(settings.database)
    halt = Halt()
    msg = Relay(
        settings,
        leadership,
        Target.MSG,
        limit=settings.dispatch.batch,
        pace=settings.dispatch.pace,
        idle=lambda: wake.wait(settings.dispatch.idle_interval),
        board=board,
        stopping=halt.of(Target.MSG.part),
    )
    schd = Relay(
        settings,
        leadership,
        Target.SCHD,
        limit=settings.schd.flush_limit,
        pace=settings.schd.flush_period,
        idle=lambda: settings.schd.flush_period,
        board=board,
        stopping=halt.of(Target.SCHD.part),
    )
    retention = Retention(
        leadership,
        Session(settings.database, "dispatcher-retention", by_key=True),
        events=settings.pipeline.event_retention,
        requests=settings.request.retention,
    )
    outgoing = _outgoing(settings, leadership)
    gauges = Gauges(
        board,
        leadership,
        Session(settings.database, "dispatcher-gauges", by_key=True),
        figures,
        settings.telemetry.period,
    )
    desk = Desk(leadership, Session(settings.database, "dispatcher-admin"))
    admin = Delivery(desk)
    requests = Requests(desk, settings.request, settings.airport)
    loops = [
        Loop("leadership", leadership.beat, pausable=False),
        Loop(Target.MSG.part, msg.step, needed=True),
        Loop(Target.SCHD.part, schd.step, needed=True),
        Loop(PART, outgoing.step, settings.pipeline.infra_wait, while_paused=outgoing.tend),
        Loop("retention", retention.step),
        Loop("gauges", gauges.step, pausable=False),
    ]
    status = run(
        Service.DISPATCHER,
        loops,
        settings,
        leadership=leadership,
        halt=halt,
        backlog=backlog.of_dispatcher,
        board=board,
        services=[admin.service(), requests.service()],
    )
    if status == 0:  # else a loop still uses them
        msg.close()
        schd.close()
        wake.close()
        outgoing.close()
        retention.close()
        gauges.close()
        desk.close()
        leadership.lose()
    return status


def _outgoing(settings: DispatcherSettings, leadership: Leadership) -> Outgoing:
    return Outgoing(
        leadership,
        Session(settings.database, "dispatcher-requests", by_key=True),
        Outbound(settings.mailbox, settings.request),
        settings.form,
        settings.request,
        read_only=settings.mailbox.read_only,
    )


def topics() -> int:
    """Create the missing topics, check the others, say what is; 1 if something is wrong."""
    settings = load(TopicSettings)
    configure("dispatcher", settings.log_level)
    broker = Topics(settings.kafka)
    said: list[str] = []
    faults: list[str] = []
    try:
        for target in Target:
            topic = wanted(settings.kafka, settings.dispatch, target)
            if broker.create(topic):
                said.append(
                    f"created topic {topic.name}: {topic.partitions} partitions, "
                    f"cleanup.policy={topic.policy}"
                )
            elif found := broker.faults(topic):
                faults += found
            else:
                said.append(f"topic {topic.name} exists and is as it must be")
    except Away as away:
        faults.append(away.text)
    print("\n".join(said + faults))  # noqa: T201
    return 1 if faults else 0


def main() -> int:
    """Run the service, or one of its commands."""
    parser = argparse.ArgumentParser(
        prog="python -m services.dispatcher",
        description="Carry released events to Kafka, and requests to the mailbox.",
    )
    commands = parser.add_subparsers(title="commands", dest="command")
    commands.add_parser("serve", help="deliver until a signal (the default)")
    commands.add_parser("topics", help="create the missing topics and check the others")
    return topics() if parser.parse_args().command == "topics" else serve()


if __name__ == "__main__":
    raise SystemExit(main())
