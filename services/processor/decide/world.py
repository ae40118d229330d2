"""What a decision sees and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, auto
from typing import TypeAlias

from msgx.domain.failure import ErrorClass
from msgx.domain.flight import Changes, EntryKind, Flight, FlightState, Sharer, Values
from msgx.domain.message import Value
from msgx.domain.replay import NewerSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What a physically deleted FLID left: a returning one starts above it (R45)."""

    state_version: int
    life: int


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The flights that a message may touch: its targets and, if MAID is in play, their
    mains."""

    flights: Mapping[str, Flight] = field(default_factory=dict)
    # by main, ACTIVE ones
    sharers: Mapping[str, tuple[Sharer, ...]] = field(default_factory=dict)
    floors: Mapping[str, Floor] = field(default_factory=dict)
    # of a replay: what newer messages have set, and the decision leaves alone (R35)
    spared: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """The state that a message wants a flight to have."""

    state: FlightState
    operation_day: date | None
    values: Values


class Emission(Enum):
    """What the topics and Redis get under the flight's own key."""

    NOTHING = auto()  # a codeshare (R41), or a deleted flight that was not shown
    UPSERT = auto()
    TOMBSTONE = auto()  # it was shown and is no more (R31, R61)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """The final state of one flight that a message touches, planned before the first write
    (R12)."""

    flight: Flight
    kind: EntryKind
    changes: Changes  # journal form: folds back exactly
    changed: Mapping[str, Value | None]  # tags with their new value, for `msg`
    mafl: tuple[Sharer, ...]
    mafl_changed: bool
    emission: Emission


@dataclass(frozen=True, slots=True)
class Commit:
    """Write all of these in one transaction, then project them; none: nothing changed (R40)."""

    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing to write; `reason` is the slug of the SKIPPED row."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reject:
    """Dead with this text, nothing written (INV-19): the interface is broken, or a replay
    would overwrite newer values."""

    text: str
    error_class: ErrorClass = ErrorClass.PROTOCOL
    newer: tuple[NewerSource, ...] = ()


Decision: TypeAlias = Commit | Skip | Reject
