"""An operator's part of the demo: one of the day's MALFORMED messages is corrected and replayed
through msgxctl, and ends as the oracle says that the corrected text must (R35)."""

import json
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deploy.local.demo import views
from deploy.local.demo.operators import Desk
from deploy.local.demo.prepare import Installation
from deploy.local.demo.services import Services
from deploy.local.demo.watch import Play
from deploy.local.faults import CannotStart
from msgx import clock
from tests import aodb
from tests.aodb.model import Flight
from tests.aodb.oracle import Oracle

BROKEN: Final = "malformed: bare ampersand"
FINISHED_LIMIT: Final = 60.0
LOOK_EVERY: Final = 0.1
WHY: Final = "the sender forgot to escape an ampersand"
SELECT_END: Final = """
    SELECT state, coalesce(last_error, '') AS reason FROM proc_state
     WHERE msg_id = %s AND finished_at IS NOT NULL AND state <> 'DEAD'
"""
SELECT_AUDIT: Final = """
    SELECT audit_id, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') AS at,
           operator, reason, action, target::text AS target, affected
      FROM admin_audit WHERE service = 'processor' ORDER BY audit_id
"""


def repair(
    play: Play, installation: Installation, services: Services, folder: Path, out: Console
) -> bool:
    """Correct and replay the message, and print what was done and came of it; return whether
    it ended as the oracle says.

    Raises:
        CannotStart: a command failed, or nothing came of it.
    """
    broken = next(one for one in play.day.messages if one.label == BROKEN)
    msg_id = (play.played.ids if play.played else {})[broken.index]
    flid = broken.flids[0]
    out.print(
        f"An operator corrects message {msg_id}, which is DEAD(MALFORMED), and replays it:"
    )
    file = folder / f"corrected-{msg_id}.xml"
    file.write_text(broken.xml.replace("A & B", "A &amp; B", 1))
    desk = services.desk
    _do(desk, out, "dead", "show", msg_id)
    _do(desk, out, "dead", "correct", msg_id, file, "--reason", WHY)
    forecast = json.loads(desk.msgxctl("dead", "dry-run", msg_id, "--force", "--json"))
    stale = forecast["forecasts"][0]["verdict"] == "NEWER_SOURCE"
    how = ("--force", "--allow-stale") if stale else ("--force",)
    _do(desk, out, "dead", "replay", msg_id, *how, "--reason", WHY)
    state, reason = _end(installation, msg_id)
    _do(services.desk, out, "message", "show", msg_id)
    out.print(_audit(installation))
    flight, wanted = _expected(play.day, None if stale else file.read_text(), flid)
    shown = {
        "PostgreSQL": views.postgres(installation.owner_dsn)[flid],
        "Redis": views.redis(installation.redis_url).get(flid),
        "the API": views.api(services.http).get(flid),
    }
    ended = f"{state}({reason})" if reason else state
    faults = [f"message {msg_id} is {ended}, expected {wanted}"] if state != wanted else []
    told = flight.get("REMC")
    faults += [
        f"flight {flid}: REMC is {found.get('REMC')!r} in {name}, expected {told!r}"
        for name, found in shown.items()
        if found is not None and found.get("REMC") != told
    ]
    for fault in faults:
        out.print(f"  {fault}", markup=False, highlight=False)
    if not faults:
        out.print(
            f"Message {msg_id} ended as {ended}, and flight {flid} is as the oracle says:"
            f" REMC {told}",
            markup=False,
        )
    return not faults


def _do(desk: Desk, out: Console, *arguments: object) -> None:
    words = " ".join(f"'{one}'" if " " in str(one) else str(one) for one in arguments)
    out.print(Text(f"$ msgxctl {words}", style="bold"), soft_wrap=True)
    out.print(Text(desk.msgxctl(*arguments).rstrip()), soft_wrap=True)


def _end(installation: Installation, msg_id: int) -> tuple[str, str]:
    """Wait until the message has another end than it had, and return it."""
    deadline = clock.ticks() + FINISHED_LIMIT
    with psycopg.connect(installation.owner_dsn, autocommit=True) as conn:
        while (row := conn.execute(SELECT_END.encode(), (msg_id,)).fetchone()) is None:
            if clock.ticks() > deadline:
                raise CannotStart(f"Message {msg_id} did not end within {FINISHED_LIMIT:g} s.")
            clock.rest(LOOK_EVERY)
    return str(row[0]), str(row[1])


def _audit(installation: Installation) -> Table:
    """Return what the processor's audit says."""
    with (
        psycopg.connect(installation.owner_dsn, autocommit=True) as conn,
        conn.cursor(row_factory=dict_row) as cursor,
    ):
        rows: list[dict[str, Any]] = cursor.execute(SELECT_AUDIT.encode()).fetchall()
    table = Table("audit", "at", "operator", "action", "target", "rows", "reason")
    for row in rows:
        named = ("audit_id", "at", "operator", "action", "target", "affected", "reason")
        table.add_row(*(Text(str(row[name])) for name in named))
    return table


def _expected(day: aodb.Day, corrected: str | None, flid: str) -> tuple[Flight, str]:
    """Return the flight after the day and the corrected message, and how that one must end;
    None: what it says is older than what the flight has."""
    if corrected is None:
        return day.flights[flid], "SUCCEEDED"
    oracle = Oracle()
    for message in day.messages:
        oracle.judge(message.index, message.xml)
    end = oracle.judge(len(day.messages), corrected)
    return oracle.flights()[flid], end.state
