"""What follows from one attempt to write a mark (design 6.2). Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from msgx.domain.backoff import doubling
from msgx.domain.marking import Abandonment, Marking, Owed


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How patient backfill is."""

    overdue: timedelta  # R
    backoff: timedelta
    backoff_limit: timedelta


@dataclass(frozen=True, slots=True)
class Settle:
    """The mark stands in the mailbox: confirm it."""

    msg_id: int


@dataclass(frozen=True, slots=True)
class Postpone:
    """A transient fault: another attempt from `until` on."""

    msg_id: int
    until: datetime


@dataclass(frozen=True, slots=True)
class Abandon:
    """No further attempt by itself. Not a confirmation."""

    msg_id: int
    reason: Abandonment


Decision: TypeAlias = Settle | Postpone | Abandon


def decide(owed: Owed, marking: Marking | None, *, now: datetime, rules: Rules) -> Decision:
    """Return what becomes of `owed`; `marking` None means that the mailbox did not answer.

    Time gives up, never the number of attempts (design 6.3); a missing row is certain and is
    given up at once.
    """
    match marking:
        case Marking.MARKED | Marking.ALREADY:
            return Settle(owed.msg_id)
        case Marking.MISSING:
            return Abandon(owed.msg_id, Abandonment.MISSING_ROW)
        case Marking.BUSY | None:
            if now - owed.owed_since > rules.overdue:
                return Abandon(owed.msg_id, Abandonment.TRANSIENT_DEADLINE)
            wait = doubling(rules.backoff, rules.backoff_limit, owed.attempts + 1)
            return Postpone(owed.msg_id, now + wait)
