"""What a day is made of: planned messages, what each must end as, and the end itself."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import date, timedelta
from typing import Any

Flight = dict[str, Any]
"""One flight as the outside sees it: SIS tags to values, absent where there is no value."""

Reference = dict[str, Any]
"""The payload of one record of reference data."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The terminal state a message must reach, and how its reason begins.

    `reason_prefix` None: the reason is empty. An empty prefix: any reason will do, because no
    rule fixes one. `other` is the planned index of the message that this one repeats.
    """

    state: str
    reason_prefix: str | None = None
    _: KW_ONLY
    other: int | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """One mailbox row to be; it commits only after the row `commits_after` has."""

    index: int
    xml: str
    _: KW_ONLY
    due: timedelta
    expected: Expected
    flids: tuple[str, ...]
    label: str
    commits_after: int

    @property
    def late(self) -> bool:
        """Says whether rows with higher ids become visible before this one (B13, R11)."""
        return self.commits_after > self.index


@dataclass(frozen=True, slots=True)
class Day:
    """A whole day in landing order and the flights it must end with."""

    seed: int
    day: date
    _: KW_ONLY
    messages: tuple[Planned, ...]
    flights: Mapping[str, Flight]
    reference: Mapping[tuple[str, str], Reference]  # by RTYPE and RKEY


@dataclass(frozen=True, slots=True)
class Played:
    """Where the planned messages landed: planned index to CMINMSGS_ID."""

    ids: Mapping[int, int]
    seconds: float
