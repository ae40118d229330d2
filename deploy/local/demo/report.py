"""The summary: what became of the messages and the flights, and how fast."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import psycopg
from confluent_kafka import KafkaException
from rich.console import Console
from rich.table import Table

from deploy.local.demo import views
from deploy.local.demo.asking import CATEGORY, Asking
from deploy.local.demo.prepare import Installation
from deploy.local.demo.services import Services
from deploy.local.demo.watch import Play
from deploy.local.faults import CannotStart
from msgx.domain.failure import Away
from tests.aodb import verify

MOST_NAMED: Final = 20
STATES: Final = ("SUCCEEDED", "SKIPPED", "DEAD")
SELECT_FINISHED: Final = "SELECT msg_id, extract(epoch FROM finished_at) FROM proc_state"


@dataclass(frozen=True, slots=True)
class Latency:
    """From the commit of the mailbox row to the message's terminal state."""

    p50: float
    p99: float
    most: float
    first_landed: float
    last_finished: float


def report(
    play: Play, asking: Asking, installation: Installation, services: Services, out: Console
) -> bool:
    """Print the summary; return whether everything agrees."""
    if play.played is None:
        return False
    rows, faults = asking.compared(verify.read_messages(installation.owner_dsn))
    out.print(_messages(play, rows))
    faults += verify.compare_messages(play.day, play.played, rows)
    day = asking.extended(play.day)
    everything = views.postgres(installation.owner_dsn)
    faults += verify.compare_flights(day, everything)
    reference = verify.read_reference(installation.owner_dsn)
    faults += verify.compare_reference(day, reference)
    ends = ", ".join(f"request {one} is {state}" for one, state in asking.states().items())
    out.print(f"Asked for another day and for {CATEGORY}: {ends}, {asking.answers} answers.")
    shown = views.shown(everything)
    seen = {
        "PostgreSQL": shown,
        "Redis": _read("Redis", views.redis, installation.redis_url),
        "API": _read("the API", views.api, services.http),
        "topic schd": _read("topic schd", views.topic, installation.kafka),
    }
    out.print(_flights(seen, len(everything)))
    for name, view in seen.items():
        if apart := views.differences(shown, view):
            named = ", ".join(apart[:MOST_NAMED])
            more = f" and {len(apart) - MOST_NAMED} more" if len(apart) > MOST_NAMED else ""
            faults.append(f"{name} and PostgreSQL differ in FLID {named}{more}")
    for fault in faults:
        out.print(f"  {fault}", markup=False, highlight=False)
    agreed = "agree" if not faults else f"DO NOT AGREE: {len(faults)} differences, see above"
    counted = (
        f"{len(play.day.messages)} messages, {len(day.flights)} flights,"
        f" {len(day.reference)} records of reference data"
    )
    out.print(f"The oracle and the gateway {agreed} ({counted}, seed {play.day.seed}).")
    _speed(play, installation, out)
    used = ", ".join(f"{name} {size} MB" for name, size in services.peak_megabytes().items())
    out.print(f"Most memory used: {used}.")
    return not faults


def _read(name: str, view: Callable[[str], views.View], address: str) -> views.View:
    try:
        return view(address)
    except (OSError, Away, KafkaException) as fault:
        raise CannotStart(f"The flights could not be read from {name}: {fault}") from None


def _messages(play: Play, rows: list[verify.Row]) -> Table:
    table = Table("messages", *STATES, "total", title=None)
    wanted = Counter(message.expected.state for message in play.day.messages)
    found = Counter(state for _, state, _, _ in rows)
    for name, counts in (("expected", wanted), ("ended as", found)):
        table.add_row(name, *(str(counts[state]) for state in STATES), str(counts.total()))
    return table


def _flights(seen: dict[str, views.View], stored: int) -> Table:
    table = Table("flights shown", *seen)
    table.add_row(f"of {stored} stored", *(str(len(view)) for view in seen.values()))
    return table


def _speed(play: Play, installation: Installation, out: Console) -> None:
    latency = measure(play, installation)
    seconds = latency.last_finished - latency.first_landed
    count = len(play.day.messages)
    if play.backlog:
        out.print("Played as fast as possible, so a latency is mostly the wait in the queue.")
    out.print(
        f"End-to-end latency (commit of the mailbox row to terminal state): "
        f"p50 {latency.p50:.3f} s, p99 {latency.p99:.3f} s, most {latency.most:.3f} s."
    )
    out.print(
        f"The day took {seconds:.1f} s from the first row to the last end: "
        f"{count / max(seconds, 0.001):.0f} messages/s."
    )


def measure(play: Play, installation: Installation) -> Latency:
    """Return the latencies; both clocks are this machine's."""
    with psycopg.connect(installation.owner_dsn) as conn:
        rows = conn.execute(SELECT_FINISHED).fetchall()
    finished = {int(msg_id): float(at) for msg_id, at in rows}
    landed = play.landed_at()
    ids = play.played.ids if play.played else {}
    waits = sorted(
        max(0.0, finished[msg_id] - landed[index])
        for index, msg_id in ids.items()
        if msg_id in finished
    )
    return Latency(
        _percentile(waits, 0.50),
        _percentile(waits, 0.99),
        waits[-1] if waits else 0.0,
        min(landed.values(), default=0.0),
        max(finished.values(), default=0.0),
    )


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
