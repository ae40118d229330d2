"""`make demo`: start everything, play a day, ask the oracle, say where to look next."""

import sys

from rich.console import Console

from deploy.local import folder as folders
from deploy.local.__main__ import Stop, stopped_by_signals
from deploy.local.children import failed
from deploy.local.demo import options as choices
from deploy.local.demo.asking import Asking
from deploy.local.demo.options import Options
from deploy.local.demo.prepare import Installation, install
from deploy.local.demo.repair import repair
from deploy.local.demo.report import report
from deploy.local.demo.services import Services, start
from deploy.local.demo.watch import play_through
from deploy.local.faults import CannotStart, Interrupted
from deploy.local.stack import Stack, opened
from msgx import clock
from tests import aodb

WATCH = 0.5


def main() -> int:
    """Run the demo; a fault is one sentence and status 1."""
    out = Console(soft_wrap=True, highlight=False)
    folder = None
    try:
        options = choices.read()
        day = _day(options)
        with stopped_by_signals():
            folder = folders.scratch()
            with opened(folder, keep=options.keep, say=out.out) as stack:
                agreed = _run(stack, day, options, out)
        if options.keep:
            out.print(f"The data is kept: make up MSGX_LOCAL_FOLDER={folder} KEEP=1")
        return 0 if agreed else 1
    except (CannotStart, Interrupted) as fault:
        print(fault, file=sys.stderr)
        return 1
    except Stop:
        out.print("Stopped.")
        return 130


def _day(options: Options) -> aodb.Day:
    try:
        return aodb.build_day(seed=options.seed, flights=options.flights)
    except ValueError as fault:
        raise CannotStart(f"There is no such day: {fault}.") from None


def _run(stack: Stack, day: aodb.Day, options: Options, out: Console) -> bool:
    begun = clock.ticks()
    installation = install(stack.endpoints)
    services = start(stack, installation)
    out.print(f"Database, mailbox, topics and {len(services.children)} services are ready.")
    with Asking(day, installation.mailbox_url, services.http) as asking:
        play = play_through(day, installation, stack.family, options, out, asking)
        agreed = report(play, asking, installation, services, out)
        agreed = repair(play, installation, services, stack.folder, out) and agreed
        out.print(f"Done {clock.ticks() - begun:.1f} s after the servers were up.")
        _say_where(stack, installation, services, out)
        if not options.once:
            out.print("All of it stays up until Ctrl-C, and whoever asks the AODB is answered.")
            _stay(stack)
    return agreed


def _say_where(
    stack: Stack, installation: Installation, services: Services, out: Console
) -> None:
    out.print("Where to look next:")
    for name, text in (
        ("flights", f"{services.http}/all/flights"),
        ("API", f"{services.http}/openapi.json"),
        ("requests", f"{services.http}/api/v1/requests; POST /schd/sync asks for more"),
        ("PostgreSQL", installation.database_url()),
        ("mailbox", installation.mailbox_url),
        ("Redis", installation.redis_url),
        ("Kafka", f"{installation.kafka} (topics msg, schd)"),
        ("gRPC", ", ".join(f"{name} {address}" for name, address in services.control.items())),
        ("msgxctl", f"MSGXCTL_CONFIG={services.desk.config} .venv/bin/msgxctl --help"),
        ("logs", str(stack.folder / "logs")),
    ):
        out.print(f"  {name:<11}{text}", markup=False)


def _stay(stack: Stack) -> None:
    try:
        while not (ended := stack.family.ended()):
            stack.family.stopping.wait(WATCH)
    except Stop:
        return
    raise CannotStart(failed(ended[0].name, "ended by itself", ended[0].log))


if __name__ == "__main__":
    sys.exit(main())
