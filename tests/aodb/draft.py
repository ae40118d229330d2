"""A message before it has its place: what it says, when it is due, and how it is laid out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.aodb.airport import Leg
from tests.aodb.sis import Layout, Node, el, sis_time

SENDER = "AODB"


@dataclass(slots=True, eq=False, kw_only=True)
class Draft:
    """One message to be.

    `repeats` lends it the identity of an earlier one, `late_by` says how many rows become
    visible before it, `mangle` spoils the finished text.
    """

    due: timedelta
    type: str
    styp: str
    body: tuple[Node, ...]
    flids: tuple[str, ...] = ()
    label: str
    sndr: str = SENDER
    repeats: "Draft | None" = None
    layout: Layout | None = None
    mangle: Callable[[str], str] | None = None
    late_by: int = 0
    index: int = field(default=-1)
    seqn: str = field(default="")


def flop(leg: Leg, *nodes: Node, flid: str | None = None) -> Node:
    """Wraps an event's content; FFID describes the flight, not always truly."""
    ffid = "-".join((leg.airline[0], leg.flno[2:], leg.mvin, sis_time(leg.sodt), leg.flin))
    return el("FLOP", "", el("FLID", flid or leg.flid), el("FFID", ffid), *nodes)


def flop_draft(
    leg: Leg, styp: str, nodes: tuple[Node, ...], *, due: timedelta, label: str = "",
    flid: str | None = None,
) -> Draft:  # fmt: skip
    """Makes the draft of one FLOP about one flight."""
    return Draft(
        due=due,
        type="FLOP",
        styp=styp,
        body=(flop(leg, *nodes, flid=flid),),
        flids=(leg.flid,),
        label=label or f"flop {styp}",
    )


def offset(at: datetime, midnight: datetime, floor: timedelta) -> timedelta:
    """Turns an instant into an offset of the day, never before `floor`."""
    return max(at - midnight, floor)
