"""What a mailbox message says, once decoded: META, identity, and one typed payload.

*Absent*, *empty* and *value* are three things (INV-14b, C-6): a tag that is absent is not a key
of `told`, an empty one maps to None (an empty collection to an empty tuple), a value to the
value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from msgx.domain.failure import ErrorClass
from msgx.domain.refdata import Action, Category
from msgx.domain.refdata import Told as RefTold

Part: TypeAlias = str | int | datetime
"""A scalar: text, a count, or an instant (aware, UTC)."""

Element: TypeAlias = Mapping[str, Part]
"""One element of a collection: the parts that have a value, keyed by SIS name, in the
registry's order."""

Value: TypeAlias = Part | Element | tuple[Element, ...]
"""A scalar, a mark (FDIV, FRET, FLAB), or a whole collection."""

Told: TypeAlias = Mapping[str, Value | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptText:
    """What we keep of the text of a message that died (R35, R38)."""

    corrected: str | None  # the operator's; read instead of what was sent
    raw: str | None  # what was sent; read if the mailbox has it no more
    raw_altered: bool  # not to the letter: no column takes it


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """The head of a message. The first four, trimmed, are the identity (C-3, R59)."""

    sndr: str
    type: str
    styp: str
    seqn: str
    dttm: datetime | None  # None: missing or unreadable; nothing is decided by it alone

    @property
    def identity(self) -> str:
        """Return the business identity (INV-9)."""
        return f"{self.sndr}|{self.type}|{self.styp}|{self.seqn}"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One SRVT or VIPF: kept as it came, outside merge, JSON and topics (R47)."""

    tag: str
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One flight as a message tells it."""

    flid: str  # digits without leading zeros
    told: Told
    occurrences: tuple[Occurrence, ...] = ()


class ScheduleKind(StrEnum):
    """The two snapshots."""

    DNLD = "DNLD"
    RESP = "RESP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """SCHD-DNLD or SCHD-RESP: the whole truth about its operation days (INV-15b)."""

    kind: ScheduleKind
    declared: int  # RECS
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Adft:
    """SCHD-ADFT: create, restore or set; never clears by absence (INV-29, R60)."""

    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Flop:
    """One or several sibling FLOP of one STYP: all or nothing (R60)."""

    styp: str
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Fdel:
    """FLOP-FDEL: the flights to delete (INV-21)."""

    flids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReferenceRecord:
    """One record of reference data: all that is stored of it; None: it is to be deleted."""

    key: str  # of RSTA `<RTYP>:<RSID>` (R54)
    payload: Mapping[str, RefTold] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Reference data as refdata reads it: DNLD and RESP are a whole category (but of RSTA), ADD
    and UPD replace records, DEL removes them (R23, R62). A key stands once."""

    category: Category
    action: Action
    declared: int | None  # RECS
    records: tuple[ReferenceRecord, ...]
    warning: str | None = None  # ADD, UPD, DEL: what is wrong with RECS, for log and metric


@dataclass(frozen=True, slots=True)
class HandOff:
    """Reference data as the processor reads it: the category alone, for refdata to execute
    (R16)."""

    category: Category
    action: Action


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Legal, but not ours (US-03 AC2). `reason` is the slug of the SKIPPED row."""

    reason: str = "unsupported"


@dataclass(frozen=True, slots=True)
class Refused:
    """The identity is readable, the payload is not acceptable (R58): DEAD with this class and
    text."""

    error_class: ErrorClass
    text: str
    flid: str | None = None  # of the flight at fault, if that could be read


Payload: TypeAlias = Schedule | Adft | Flop | Fdel | Reference | HandOff | Unsupported | Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmapped:
    """A tag that the registry does not know, counted within one message (R51)."""

    tag: str
    occurrences: int
    sample: str  # cut and cleaned


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A decoded mailbox row."""

    meta: Meta
    body_digest: bytes  # SHA-256 over the canonical body (R59)
    payload: Payload
    unmapped: tuple[Unmapped, ...] = ()

    @property
    def flids(self) -> tuple[str, ...]:
        """Return the FLIDs that the payload names, in message order."""
        match self.payload:
            case Schedule(records=records) | Adft(records=records) | Flop(records=records):
                return tuple(record.flid for record in records)
            case Fdel(flids=flids):
                return flids
            case Refused(flid=str(flid)):
                return (flid,)
            case Reference() | HandOff() | Unsupported() | Refused():
                return ()
