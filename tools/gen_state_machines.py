"""Write docs/state-machines.md from the life cycles' tables."""

import sys
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgx.domain import delivery, flight, marking, processing, requests
from msgx.domain.lifecycle import LifeCycle, S, T
from services.intake.decide.backfill import Abandon, Decision, Rules, decide
from tools.page import notice, publish, table
from tools.remarks import remarks

PAGE = "docs/state-machines.md"
_RULES = Rules(
    overdue=timedelta(hours=1), backoff=timedelta(seconds=1), backoff_limit=timedelta(minutes=1)
)
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def pages() -> dict[str, str]:
    """Return the page."""
    text = "# Life cycles\n\n" + notice("gen_state_machines")
    text += (
        "Each life cycle is one table in `msgx/domain`. The guards in SQL and this page"
        " come from it; CHECK constraints repeat what the database can judge. A move"
        " that the table does not have is refused.\n\n"
    )
    text += _cycle(
        "Processing",
        "`proc_state.state`, moved by the processor. PENDING and FAILED hold the head (INV-3).",
        processing.PROCESSING,
        (processing.ProcState, processing.Trigger),
        start=processing.ProcState.PENDING,
    )
    text += _cycle(
        "Delivery",
        "`msg_event.state`, moved by the dispatcher; the processor replaces a `schd` row as a"
        " whole, which begins a new life.",
        delivery.DELIVERY,
        (delivery.EventState, delivery.DeliveryTrigger),
        start=delivery.EventState.PENDING,
    )
    text += _cycle(
        "A request to the AODB",
        "`req_track.state`, moved by the dispatcher; processor and refdata close it with the"
        " answer.",
        requests.REQUESTS,
        (requests.RequestState, requests.RequestTrigger),
        start=requests.RequestState.PENDING,
    )
    return {PAGE: text + _mark() + _flight()}


def _cycle(
    title: str,
    about: str,
    life: LifeCycle[S, T],
    kinds: tuple[type[S], type[T]],
    *,
    start: S,
) -> str:
    states, triggers = kinds
    transitions = life.moves
    meaning = remarks(triggers)
    left = {before for before, _ in transitions}
    text = f"## {title}\n\n{about}{_states(states)}\n\n```mermaid\nstateDiagram-v2\n"
    text += f"    [*] --> {start}\n"
    text += "".join(f"    {a} --> {b} : {via}\n" for (a, via), b in transitions.items())
    text += "".join(f"    {state} --> [*]\n" for state in states if state not in left)
    text += "```\n\n"
    rows = [
        [
            f"`{trigger}`",
            meaning.get(trigger.name, ""),
            ", ".join(f"`{a}`" for a, via in transitions if via is trigger),
            ", ".join(
                sorted({f"`{b}`" for (_, via), b in transitions.items() if via is trigger})
            ),
        ]
        for trigger in triggers
    ]
    return text + table(["trigger", "meaning", "from", "to"], rows) + "\n"


def _states(states: type[StrEnum]) -> str:
    meaning = remarks(states)
    return "".join(f" {one}: {meaning[one.name]}." for one in states if one.name in meaning)


def _mark() -> str:
    outcome, reason = remarks(marking.Marking), remarks(marking.Abandonment)
    cases: list[tuple[str, str, marking.Marking | None]] = [
        (f"`{one}`", outcome[one.name], one) for one in marking.Marking
    ]
    cases.append(("no answer", "the mailbox is away or too slow", None))
    rows = [
        [name, meaning, _becomes(one, late=False), _becomes(one, late=True)]
        for name, meaning, one in cases
    ]
    text = _cycle(
        "The owed mark",
        "The backfill columns of `proc_state`, moved by intake; finish and replay are the"
        " processor's. A terminal message owes its mark, has it, or gave it up (INV-8).",
        marking.MARKING,
        (marking.MarkState, marking.MarkTrigger),
        start=marking.MarkState.OPEN,
    )
    text += (
        "What one attempt brings, and what follows; R is `msgx.pipeline.overdue-backfill`:\n\n"
    )
    text += table(["attempt", "meaning", "before R has passed", "after"], rows)
    text += "\nGiving up is not a confirmation; the reason is kept:\n\n"
    return text + table(
        ["reason", "meaning"], [[f"`{one}`", reason[one.name]] for one in marking.Abandonment]
    )


def _becomes(one: marking.Marking | None, *, late: bool) -> str:
    age = _RULES.overdue + timedelta(seconds=1) if late else timedelta()
    owed = marking.Owed(msg_id=1, finished_at=_NOW, attempts=0, owed_since=_NOW - age)
    decision: Decision = decide(owed, one, now=_NOW, rules=_RULES)
    name = type(decision).__name__.lower()
    return f"{name}: `{decision.reason}`" if isinstance(decision, Abandon) else name


def _flight() -> str:
    means = remarks(flight.EntryKind) | {
        "CREATED": "from nothing to ACTIVE",
        "CHANGED": "values or operation day of the flight",
        "DELETED": "from ACTIVE to DELETED, a mark: the values stay (C-5)",
        "RESTORED": "from DELETED to ACTIVE (INV-29)",
    }
    rows = [[f"`{one}`", means[one.name]] for one in flight.EntryKind]
    return (
        "\n## A flight\n\n"
        "`flight_schd.state` is ACTIVE or DELETED. Every write is one entry of the journal"
        " and adds one to the version (INV-13):\n\n" + table(["entry", "what it did"], rows)
    )


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
