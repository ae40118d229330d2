"""THE registry: every SIS scalar, mark and collection of a flight. Decoder, merge, tables,
JSON, journal and the docs page read it; names are SIS tags, never rewritten (design 11.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Kind(StrEnum):
    """How a value is read, kept and shown."""

    TEXT = "text"
    # DDMMMYYhhmm, airport-local; an aware instant inside, timestamptz in the table (R25)
    TIME = "time"
    COUNT = "count"  # decimal digits
    KEY = "key"  # a FLID: 1 to 19 digits, not zero; text without leading zeros (R58)
    MOVEMENT = "movement"  # A or D
    NATURE = "nature"  # D, I or M
    DURATION = "duration"  # HHMM, kept as text


class Where(StrEnum):
    """Where a part of an element stands in the XML."""

    ATTRIBUTE = "attribute"
    CHILD = "child"
    TEXT = "text"  # the element's own text, kept under the name TEXT


@dataclass(frozen=True, slots=True)
class Scalar:
    """A child element with text; empty clears it (R47)."""

    tag: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class PartField:
    """A part of a mark or of a collection's element."""

    name: str
    kind: Kind = Kind.TEXT
    where: Where = Where.CHILD


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An element that stands once and holds parts; `clears_by` empty (or missing) clears it
    whatever else it holds."""

    tag: str
    parts: tuple[PartField, ...]
    clears_by: str | None
    allowed: Mapping[str, frozenset[str]]  # part -> allowed values; anything else is PROTOCOL
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A repeated element: replaced as a whole, in message order; never deduplicated
    (INV-14b)."""

    tag: str
    # the attribute that numbers it: kept as SOURCE_SEQ, null and duplicates allowed
    sequence: str | None
    parts: tuple[PartField, ...]  # the sequence attribute first, if any
    limit: int  # more elements than this: DEAD(PROTOCOL)
    source: str
    kept: tuple[str, ...] | None = None  # the parts that are stored, if not all


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurring:
    """An append-only record of occurrences with the raw fragment: outside merge, JSON and
    topics (R47)."""

    tag: str
    meaning: str


def _text(tags: str, meaning: str) -> tuple[Scalar, ...]:
    return tuple(Scalar(tag, Kind.TEXT, meaning) for tag in tags.split())


def _times(tags: str, meaning: str) -> tuple[Scalar, ...]:
    return tuple(Scalar(tag, Kind.TIME, meaning) for tag in tags.split())


SCALARS: Final[tuple[Scalar, ...]] = (
    *_text(
        "ALCD ALSC FLNO", "airline code, airline suffix, flight number with its airline prefix"
    ),
    Scalar("MVIN", Kind.MOVEMENT, "arrival or departure"),
    Scalar("SODT", Kind.TIME, "scheduled time at the own airport; gives the operation day"),
    *_text("FLTY", "flight type"),
    Scalar("FLIN", Kind.NATURE, "domestic, international or mixed"),
    *_text("ACFT RENO", "aircraft type, registration"),
    *_text("TAOP TAFL", "turnaround: airline and flight number of the linked departure"),
    Scalar("TAID", Kind.KEY, "turnaround: FLID of the linked flight"),
    *_text("TRML CSOP CSFT", "terminal; codeshare airline and flight number"),
    Scalar(
        "MAID",
        Kind.KEY,
        "codeshare: FLID of its main flight; equal to FLID or absent: a main flight",
    ),
    *_times("ESTT ACTT", "estimated, actual time"),
    *_times(
        "BOTM LACL",
        "boarding time, last call time; together they give the boarding status (R22)",
    ),
    *_times("FINT APPT EGSR EGST", "final, approach, engine start requested and given"),
    *_times("PADT NAAT NEAT PEDT FTSS", "times at the neighbour airports; flight suspension"),
    *_text("STND PHAG FHAG MHAG", "stand; passenger, ramp and maintenance handling agent"),
    Scalar("CNCL", Kind.TIME, "cancelled at; empty withdraws the cancellation"),
    *_text("REMC", "remark"),
    Scalar("MAXP", Kind.COUNT, "most passengers"),
    *_text("VIPP VIPR", "VIP indicator and remark, independent of each other"),
    *_text(
        "LBNO LBWT PAXC EXSC EXSR",
        "load: bags, weight, passengers; extra service code and remark",
    ),
    *_text("BDPB", "boarding announcement"),
)


def _attribute(name: str, kind: Kind = Kind.TEXT) -> PartField:
    return PartField(name, kind, Where.ATTRIBUTE)


_OWN_TEXT: Final = PartField("TEXT", Kind.TEXT, Where.TEXT)

MARKS: Final[tuple[Mark, ...]] = (
    Mark(
        tag="FDIV",
        parts=(_attribute("DDES"), _attribute("DDIR"), _OWN_TEXT),
        clears_by="DDES",
        allowed=MappingProxyType({"DDIR": frozenset({"TO", "FROM"})}),
        meaning="diversion; an empty DDES clears it even with other content",
    ),
    Mark(
        tag="FRET",
        parts=(_attribute("REID"), _OWN_TEXT),
        clears_by=None,
        allowed=MappingProxyType({"REID": frozenset({"G", "A"})}),
        meaning="return to ground or air; without attribute and text it clears",
    ),
    Mark(
        tag="FLAB",
        parts=(_attribute("ARES"), _OWN_TEXT),
        clears_by=None,
        allowed=MappingProxyType({}),
        meaning="flight abandoned; without attribute and text it clears",
    ),
)


def _resource(
    tag: str, sequence: str, *parts: PartField | str, limit: int, source: str
) -> Collection:
    fields = tuple(PartField(p) if isinstance(p, str) else p for p in parts)
    return Collection(
        tag=tag,
        sequence=sequence,
        parts=(_attribute(sequence), *fields),
        limit=limit,
        source=source,
    )


def _at(*names: str) -> tuple[PartField, ...]:
    return tuple(PartField(name, Kind.TIME) for name in names)


_POINT: Final = (
    _attribute("RTNO"),
    PartField("APCD"),
    *_at("SCAT", "SCDT"),
)

COLLECTIONS: Final[tuple[Collection, ...]] = (
    _resource("GTDT", "GTNO", "GATE", *_at("PGOT", "PGCT", "GOTM", "GCTM"), "GTYP",
              limit=99, source="SIS:3.34"),
    _resource("CKDT", "CKNO", "CHKC", "CCLS", *_at("PCOT", "PCCT", "COTM", "CCTM"), "CTYP",
              limit=99, source="SIS:3.24"),
    _resource("CLDT", "CLNO", "BELT", "BCLS", *_at("PCOT", "PCCT", "FBAG", "LBAG"), "BTYP",
              limit=99, source="SIS:3.25"),
    _resource("CHDT", "CHNO", "CHUT", "CCLS", *_at("PCBT", "PCET", "CBTM", "CETM"), "CTYP",
              limit=99, source="SIS:3.26"),
    _resource("PSDT", "PSNO", "PSST", *_at("STST", "STET"), limit=9, source="SIS:3.38"),
    _resource("CHOT", "CSNO", *_at("CHTM"), "CHID", "CHST", limit=99, source="SIS:3.22"),
    Collection(
        tag="DELY",
        sequence=None,
        parts=(
            _attribute("CODE"),
            _attribute("STRT", Kind.TIME),
            _attribute("DURA", Kind.DURATION),
            _OWN_TEXT,
        ),
        limit=99,
        source="XSD FLOP",
    ),
    _resource("ABTM", "ASNO", "ABDG", "ABOP", *_at("AOTM"), limit=99, source="XSD FLOP"),
    Collection(tag="ROUT", sequence="RTNO", parts=_POINT, limit=6, source="SIS:3.40",
               kept=("RTNO", "APCD")),
    Collection(tag="ERUT", sequence="RTNO", parts=_POINT, limit=7, source="SIS:3.40"),
)  # fmt: skip

ROUTE_KEPT: Final = 4
"""Points of ROUT that are kept: a departure's first, an arrival's last (R47)."""

OCCURRING: Final[tuple[Occurring, ...]] = (
    Occurring(tag="SRVT", meaning="service"),
    Occurring(tag="VIPF", meaning="VIP details"),
)

SCALAR: Final = MappingProxyType({field.tag: field for field in SCALARS})
MARK: Final = MappingProxyType({field.tag: field for field in MARKS})
COLLECTION: Final = MappingProxyType({field.tag: field for field in COLLECTIONS})
TAGS: Final = (*SCALAR, *MARK, *COLLECTION)
"""Every tag that merges, in the order of JSON and journal."""

ROUTE_TAGS: Final = ("ROUT", "ERUT")
"""The collections that share `flight_route_point`."""
