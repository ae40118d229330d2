"""The FLOP rule table: one row per STYP (R21). What differs between the subtypes is data."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class FlopGroup(StrEnum):
    """`msgx.flop.groups` switches these on."""

    SIS = "sis"  # the 25 of the interface
    LEGACY = "legacy"  # seen in real traffic, not in the interface
    EXTENDED = "extended"  # off by default


class Side(StrEnum):
    """What a subtype does beyond setting and clearing its tags."""

    NONE = "none"
    DELETE = "delete"  # the deletion path
    LINK = "link"  # any tag empty: all of them cleared (TAOP)


@dataclass(frozen=True, slots=True)
class FlopRule:
    """What one STYP may change: the tags it names, and nothing else (INV-14b)."""

    styp: str
    tags: tuple[str, ...]
    group: FlopGroup
    source: str
    side: Side = Side.NONE
    empty: str = "clears"  # what an empty tag means, for the docs page


def _sis(
    styp: str, section: str, *tags: str, side: Side = Side.NONE, empty: str = "clears"
) -> FlopRule:
    return FlopRule(styp, tags or (styp,), FlopGroup.SIS, f"SIS:{section}", side, empty)


def _legacy(styp: str) -> FlopRule:
    return FlopRule(styp, (styp,), FlopGroup.LEGACY, "Q8")


def _extended(styp: str, *tags: str) -> FlopRule:
    return FlopRule(styp, tags or (styp,), FlopGroup.EXTENDED, "XSD FLOP")


RULES: Final[tuple[FlopRule, ...]] = (
    _sis("ACFT", "3.19"),
    _sis("ACTT", "3.20"),
    _sis("BOTM", "3.21", empty="clears; the boarding status falls back"),
    _sis("CHOT", "3.22", empty="an empty CHTM removes that chock time"),
    _sis("FLTY", "3.23"),
    _sis("CKDT", "3.24", empty="sequence 0: no counter assigned"),
    _sis("CLDT", "3.25", empty="sequence 0: no belt assigned"),
    _sis("CHDT", "3.26", empty="sequence 0: no chute assigned"),
    _sis("CNCL", "3.27", empty="withdraws the cancellation"),
    _sis("ESTT", "3.28"),
    FlopRule("FDEL", (), FlopGroup.SIS, "SIS:3.29", Side.DELETE, "always empty"),
    _sis("FDIV", "3.30", empty="an empty DDES clears the diversion"),
    _sis("FINT", "3.31"),
    _sis("FLIN", "3.32"),
    _sis("FRET", "3.33"),
    _sis("GTDT", "3.34", empty="sequence 0: no gate assigned"),
    _sis("LACL", "3.35", empty="clears; the boarding status falls back"),
    _sis("MAXP", "3.36"),
    _sis("HNAG", "3.37", "FHAG", "PHAG", "MHAG", empty="clears that agent; MHAG may be absent"),
    _sis("PSDT", "3.38", empty="sequence 0: no stand assigned"),
    _sis("RENO", "3.39"),
    _sis("ROUT", "3.40"),
    _sis(
        "TAOP", "3.41", "TAOP", "TAFL", "TAID", side=Side.LINK, empty="any: the link is broken"
    ),
    _sis("TRML", "3.42"),
    _sis("VIPP", "3.43", "VIPP", "VIPR"),
    *(_legacy(styp) for styp in ("ABTM", "DELY", "PADT", "FTSS", "STND", "BDPB", "REMC")),
    *(_extended(styp) for styp in ("APPT", "EGSR", "EGST", "NAAT", "NEAT", "PEDT")),
    _extended("EXSS", "EXSC", "EXSR"),
    _extended("FLAB"),
    _extended("ERUT"),
)

RULE: Final = MappingProxyType({rule.styp: rule for rule in RULES})
DEFAULT_GROUPS: Final = frozenset({FlopGroup.SIS, FlopGroup.LEGACY})
