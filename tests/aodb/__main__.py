"""The simulator's command line: play a day, show it, answer requests, or check what a system
made of it."""

import argparse
import json
import sys
from datetime import date
from urllib.request import Request, urlopen

import psycopg
import pymysql
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from msgx import clock
from tests.aodb import verify
from tests.aodb.adapter import landed, play
from tests.aodb.answering import answer_requests
from tests.aodb.answers import Answerer
from tests.aodb.day import SMALLEST, build_day
from tests.aodb.model import Day, Flight

_EPILOG = """The same seed, flights, messages-per-flight and day give the same messages: `check`
needs no file from `play`. For one command: python -m tests.aodb play --help"""
_API_TIMEOUT = 10
_LOOK_EVERY = 0.5
_out = Console(soft_wrap=True)
_err = Console(stderr=True, soft_wrap=True)


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        day = build_day(
            seed=options.seed,
            flights=options.flights,
            day=options.day,
            messages_per_flight=options.messages_per_flight,
        )
        return int(options.run(day, options))
    except (ValueError, OSError, pymysql.MySQLError, psycopg.Error) as fault:
        _err.print(f"aodb: {fault}", markup=False)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.aodb", description=__doc__, epilog=_EPILOG
    )
    commands = parser.add_subparsers(required=True, metavar="play|show|answer|check")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--seed", type=int, default=1, help="the day to build (1)")
    shared.add_argument("--flights", type=int, default=300, help=f"at least {SMALLEST} (300)")
    shared.add_argument("--messages-per-flight", type=int, default=20, help="on average (20)")
    shared.add_argument("--day", type=date.fromisoformat, default=date(2026, 6, 15))

    command = commands.add_parser("play", parents=[shared], help="write a day into a mailbox")
    command.add_argument("mailbox", help="mysql://user:password@host:port/schema")
    command.add_argument(
        "--speed", type=float, help="simulated seconds per second (as fast as possible)"
    )
    command.set_defaults(run=_play)

    command = commands.add_parser("show", parents=[shared], help="print the messages of a day")
    command.add_argument("--label", default="", help="only messages whose label contains this")
    command.add_argument("--flid", help="only messages about this flight")
    command.add_argument("--xml", action="store_true", help="print the XML of each")
    command.add_argument("--flight", metavar="FLID", help="print how this flight must end")
    command.set_defaults(run=_show)

    command = commands.add_parser(
        "answer", parents=[shared], help="answer requests in a mailbox, until Ctrl-C"
    )
    command.add_argument("mailbox", help="mysql://user:password@host:port/schema")
    command.add_argument("--once", action="store_true", help="those that wait, and no more")
    command.set_defaults(run=_answer)

    command = commands.add_parser(
        "check", parents=[shared], help="compare a system with the oracle"
    )
    command.add_argument("--mailbox", help="where the day was played: its ids, for --database")
    command.add_argument("--database", help="PostgreSQL of the system: how each message ended")
    command.add_argument("--api", help="base URL of the system: the flights it shows")
    command.set_defaults(run=_check)
    return parser


def _play(day: Day, options: argparse.Namespace) -> int:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=_err) as progress:
        task = progress.add_task(f"seed {day.seed}", total=len(day.messages))
        played = play(
            day,
            options.mailbox,
            speed=options.speed,
            on_landed=lambda count: progress.update(task, completed=count),
        )
    rate = len(played.ids) / max(played.seconds, 0.001)
    ids = played.ids.values()
    _out.print(
        f"{len(played.ids)} messages landed as {min(ids)} to {max(ids)}"
        f" in {played.seconds:.1f} s ({rate:.0f}/s)"
    )
    return 0


def _show(day: Day, options: argparse.Namespace) -> int:
    if options.flight:
        flight = day.flights.get(options.flight)
        if flight is None:
            raise ValueError(f"no flight {options.flight} in this day")
        _out.print_json(json.dumps(flight, ensure_ascii=False))
        return 0
    table = Table("index", "due", "late by")
    for heading in ("what", "flights", "ends"):
        table.add_column(heading, overflow="fold")
    for message in day.messages:
        if options.label not in message.label:
            continue
        if options.flid and options.flid not in message.flids:
            continue
        if options.xml:
            _out.print(f"--- {message.index} {message.label}", markup=False, highlight=False)
            _out.out(message.xml, highlight=False)
            continue
        ends = message.expected.state
        if message.expected.reason_prefix:
            ends += f"({message.expected.reason_prefix})"
        table.add_row(
            str(message.index),
            str(message.due).split(".", maxsplit=1)[0],
            str(message.commits_after - message.index) if message.late else "",
            message.label,
            " ".join(message.flids[:2]) + (" …" if len(message.flids) > 2 else ""),
            ends,
        )
    if not options.xml:
        _out.print(table)
    return 0


def _answer(day: Day, options: argparse.Namespace) -> int:
    answerer = Answerer(day.seed)
    try:
        while True:
            for row_id, answer in answer_requests(answerer, options.mailbox).items():
                _out.print(f"answered with {answer.kind}-RESP, landed as {row_id}")
            if options.once:
                return 0
            clock.rest(_LOOK_EVERY)
    except KeyboardInterrupt:
        return 0


def _check(day: Day, options: argparse.Namespace) -> int:
    if not options.database and not options.api:
        raise ValueError("check needs --database with --mailbox, or --api, or both")
    faults: list[str] = []
    if options.database:
        if not options.mailbox:
            raise ValueError("--database needs --mailbox: the mailbox knows the ids")
        played = landed(day, options.mailbox)
        faults += verify.compare_messages(day, played, verify.read_messages(options.database))
    if options.api:
        shown = _shown_by(options.api)
        faults += verify.compare_flights(day, shown, shown_only=True)
    for fault in faults:
        _out.print(fault, markup=False, highlight=False)
    checked = len(day.messages) if options.database else 0
    _out.print(
        f"{checked} messages, {len(day.flights)} flights:"
        f" {'agree' if not faults else f'{len(faults)} differences'}"
    )
    return 1 if faults else 0


def _shown_by(api: str) -> dict[str, Flight]:
    if not api.startswith(("http://", "https://")):
        raise ValueError("the API has an http:// or https:// URL")
    request = Request(f"{api.rstrip('/')}/all/flights", headers={"Accept": "application/json"})  # noqa: S310
    with urlopen(request, timeout=_API_TIMEOUT) as answer:  # noqa: S310 - checked above
        body = json.load(answer)["body"]
    return {str(flight["FLID"]): flight for flight in body}


if __name__ == "__main__":
    sys.exit(main())
