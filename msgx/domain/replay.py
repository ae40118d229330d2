"""Replay: what an operator orders for a dead message, and what it would come to (R35)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from msgx.domain.failure import ErrorClass, replayable


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How a message was put back. One that was never put back has none."""

    force: bool = False  # classes that would fail the same way too; a conflict is bound apart
    allow_stale: bool = False  # apply what nothing newer has set, leave the rest
    approve_removals: int | None = None  # a day plan may delete exactly so many flights (R18)

    @property
    def classes(self) -> list[ErrorClass]:
        """Return the classes that it puts back. To approve removals is to know the refusal."""
        allowed = replayable(force=self.force)
        if self.approve_removals is not None and ErrorClass.PROTOCOL not in allowed:
            return [*allowed, ErrorClass.PROTOCOL]
        return allowed


class Verdict(StrEnum):
    """What a replay would come to, as things stand."""

    APPLIES = "applies"
    NO_CHANGE = "no change"
    NEWER_SOURCE = "newer source"  # refused: it would overwrite newer values
    RAW_MISSING = "raw missing"
    SKIPPED = "skipped"
    DIES = "dies again"
    NEEDS_FORCE = "needs force"
    NOT_DEAD = "not dead"
    BUSY = "busy"  # its row is locked: the mark is being written (R43)
    NOT_JUDGED = "not judged"  # another service knows its rules


REFUSED: Final = (
    Verdict.NEWER_SOURCE,
    Verdict.RAW_MISSING,
    Verdict.NEEDS_FORCE,
    Verdict.NOT_DEAD,
    Verdict.BUSY,
)
"""A replay leaves these alone. What would be skipped or die again is the operator's choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerSource:
    """Tags of a flight that later messages have set, and the newest of them."""

    flid: str
    tags: tuple[str, ...]
    msg_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What the replay of one message would come to."""

    msg_id: int
    verdict: Verdict
    text: str = ""
    newer: tuple[NewerSource, ...] = ()
    flights: int = 0  # that it would write
    removals: int = 0  # of them, by a day plan, to delete


def conflict_key(identity: str, msg_id: int) -> str:
    """Return what a forced conflict is bound under; the older binding stays."""
    return f"{identity}#{msg_id}"
