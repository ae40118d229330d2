"""Error classes (R46): one table of what each means and what becomes of its rows, and the one
exception that carries them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256
from types import MappingProxyType
from typing import Final


class ErrorClass(StrEnum):
    """Why a message or an event failed. The class decides whether it is tried again."""

    MALFORMED = "MALFORMED"
    PROTOCOL = "PROTOCOL"
    IDENTITY_CONFLICT = "IDENTITY_CONFLICT"
    CODEC_ERROR = "CODEC_ERROR"
    PROCESSING = "PROCESSING"
    INFRA = "INFRA"
    TOO_LARGE = "TOO_LARGE"
    SERIALISATION = "SERIALISATION"


class Retry(StrEnum):
    """What a failure of a message leads to."""

    NEVER = "dead at once"  # another try can bring nothing else
    LADDER = "tried again after each rung of the ladder, then dead"
    FOREVER = "tried again without an end"
    DELIVERY = "-"  # events only: see the delivery life cycle


class Replay(StrEnum):
    """Whether an operator may put a dead message back (R35)."""

    FREE = "yes"
    FORCED = "with force"
    NONE = "-"  # events only


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One class: what it means, whose fault it is, and what becomes of the row."""

    means: str
    whose: str
    retry: Retry
    replay: Replay


_SENDER: Final = "sender"

RULES: Final[Mapping[ErrorClass, Rule]] = MappingProxyType(
    {
        ErrorClass.MALFORMED: Rule(
            means="not well-formed, forbidden construct, META or payload missing, text missing",
            whose=_SENDER,
            retry=Retry.NEVER,
            replay=Replay.FORCED,
        ),
        ErrorClass.PROTOCOL: Rule(
            means="well-formed, but a value, count or rule of the interface is broken",
            whose="sender, or our reading of the interface",
            retry=Retry.NEVER,
            replay=Replay.FORCED,
        ),
        ErrorClass.IDENTITY_CONFLICT: Rule(
            means="a known identity with another content (R01)",
            whose=_SENDER,
            retry=Retry.NEVER,
            replay=Replay.FORCED,
        ),
        ErrorClass.CODEC_ERROR: Rule(
            means="our decoder raised on well-formed input",
            whose="ours",
            retry=Retry.LADDER,
            replay=Replay.FREE,
        ),
        ErrorClass.PROCESSING: Rule(
            means="our decision or commit raised, or a replay would overwrite newer values",
            whose="ours",
            retry=Retry.LADDER,
            replay=Replay.FREE,
        ),
        ErrorClass.INFRA: Rule(
            means="a server is away, a time-out, a lock time-out, a deadlock",
            whose="a server",
            retry=Retry.FOREVER,
            replay=Replay.FREE,
        ),
        ErrorClass.TOO_LARGE: Rule(
            means="an event is over the broker's limit",
            whose="configuration",
            retry=Retry.DELIVERY,
            replay=Replay.NONE,
        ),
        ErrorClass.SERIALISATION: Rule(
            means="an event cannot be put on the wire",
            whose="ours",
            retry=Retry.DELIVERY,
            replay=Replay.NONE,
        ),
    }
)
"""The one table (R46): code reads it, a CHECK of PROC_STATE repeats it, docs/failures.md shows
it."""

REFUSED: Final = frozenset(c for c, rule in RULES.items() if rule.retry is Retry.NEVER)
"""Dead at once: another try can bring nothing else."""

_MAX_TEXT: Final = 2000
_VARIABLE: Final = re.compile(
    r"""
    '[^']*' | "[^"]*" | `[^`]*`                  # quoted values
    | \b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b
    | (?<![(\w])\w*\d\w*\b                      # ids, numbers, dates; not "(23505)"
    """,
    re.VERBOSE,
)


class Fault(Exception):
    """A failure with its class. `text` says what could not be done and to which id, never the
    payload."""

    def __init__(self, error_class: ErrorClass, text: str) -> None:
        super().__init__(text)
        self.error_class = error_class
        self.text = text


class Away(Fault):
    """A server does not answer, refuses, or is not ready: INFRA, tried again without an end
    (R04)."""

    def __init__(self, text: str, rest: timedelta | None = None) -> None:
        super().__init__(ErrorClass.INFRA, text)
        self.rest = rest  # how long to leave it alone; None: the loop's own rest


class Unfit(Exception):
    """This process must not run here: its surroundings are not the ones it was told of. It
    ends; the text says why, in one sentence (R13, R50)."""


def clean(text: str) -> str:
    """Return `text` fit to be stored and logged: no control characters, no lone surrogates, cut
    to a bound."""
    kept = "".join(c if c.isprintable() else " " for c in text[:_MAX_TEXT])
    return kept.encode("utf-8", "replace").decode("utf-8")


def replayable(*, force: bool) -> list[ErrorClass]:
    """Return the classes of which an operator may put dead messages back (R35)."""
    allowed = {Replay.FREE, Replay.FORCED} if force else {Replay.FREE}
    return [error_class for error_class, rule in RULES.items() if rule.replay in allowed]


def fingerprint(error_class: ErrorClass, text: str) -> str:
    """Return what failures of one cause have in common: a short digest of the class and of
    `text` without ids, numbers and quoted values."""
    said = " ".join(_VARIABLE.sub("*", clean(text)).split())
    return sha256(f"{error_class}|{said}".encode()).hexdigest()[:12]
