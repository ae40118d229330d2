"""THE registry of reference data: its categories, their keys, and the fields that the documents
name. Decoder, views and the docs page read it; names are SIS tags, never rewritten.

The interface document is not at hand, so the registry is no whitelist: a tag without children
that it does not name is kept as text all the same, and counted (R51, ADR 0041).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from msgx.domain.fields import PartField, Where

Text: TypeAlias = str | None
"""None: the tag is there and empty, "no value now" (R24)."""

Told: TypeAlias = Text | tuple[Text, ...] | tuple[Mapping[str, Text], ...]
"""A field's value, ready for JSON."""


class Category(StrEnum):
    """`META.TYPE` of reference data, and `RTYPE` of `ref_master`."""

    COUL = "COUL"
    ARPT = "ARPT"
    AIRL = "AIRL"
    AIRC = "AIRC"
    REGN = "REGN"
    ORGN = "ORGN"
    FLTL = "FLTL"
    TLST = "TLST"
    GLST = "GLST"
    SLST = "SLST"
    CLST = "CLST"
    BLST = "BLST"
    CHLT = "CHLT"
    RSTA = "RSTA"


class Action(StrEnum):
    """`META.STYP` of reference data."""

    DNLD = "DNLD"
    RESP = "RESP"
    ADD = "ADD"
    UPD = "UPD"
    DEL = "DEL"


WHOLE: Final = frozenset({Action.DNLD, Action.RESP})
"""The package is the whole category, except of RSTA, where nothing is deleted by absence."""


class Shape(StrEnum):
    """How a field stands in the XML and in the payload."""

    TEXT = "text"  # stands once: a text, or null
    LIST = "list"  # may repeat: texts in message order
    RECORDS = "records"  # may repeat: objects of the parts that are there, in message order
    TIME = "time"  # DDMMMYYhhmm, airport-local; ISO-8601 with its offset in the payload


@dataclass(frozen=True, slots=True, kw_only=True)
class RefField:
    """A field of a reference record."""

    tag: str
    shape: Shape = Shape.TEXT
    parts: tuple[PartField, ...] = ()  # of RECORDS
    first: bool = False  # it may repeat, and the first is kept
    cut: int | None = None  # the most characters that are kept
    filtered: bool = False  # only codes that a parameter names are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a record of one category looks like."""

    category: Category
    meaning: str
    source: str
    key: tuple[str, ...]  # joined by ':'
    fields: tuple[RefField, ...]  # the key's tags first
    ignored: frozenset[str] = frozenset()  # never stored, and not counted either


RTYPES: Final = ("BELT", "CNTR", "GATE", "STND")
"""The kinds of resources that RSTA speaks of."""

STATS: Final = ("E", "D")
"""Available, not available."""

BEGIN: Final = "BEGIN"
END: Final = "END"
"""RSTA: the ends of the window in the payload, whatever `msgx.reference` calls their tags."""


def _form(
    category: Category,
    number: int,
    meaning: str,
    *,
    key: str,
    fields: tuple[RefField | str, ...] = (),
    ignored: str = "",
) -> Form:
    every = (*key.split(), *fields)
    return Form(
        category=category,
        meaning=meaning,
        source=f"SIS:3.{number}",
        key=tuple(key.split()),
        fields=tuple(RefField(tag=one) if isinstance(one, str) else one for one in every),
        ignored=frozenset(ignored.split()),
    )


def _attribute(name: str) -> PartField:
    return PartField(name, where=Where.ATTRIBUTE)


_OWN_TEXT: Final = PartField("TEXT", where=Where.TEXT)

# CLST and CHLT share their tags with different meanings: only the category tells (13.2).
FORMS: Final[tuple[Form, ...]] = (
    _form(Category.COUL, 1, "countries", key="COUC",
          fields=(RefField(tag="REGC", first=True),), ignored="COUN"),
    _form(Category.ARPT, 2, "airports", key="ITCD", ignored="ANAM ACTY ICCD BDIS ATYP HAUL"),
    _form(Category.AIRL, 3, "airlines", key="ITOP"),
    _form(Category.AIRC, 4, "aircraft types", key="ITAT",
          ignored="DESC CHAP MFWT MTWT MHTM MABR"),
    _form(Category.REGN, 5, "registrations", key="RNUM", ignored="OWID MFWT MTWT"),
    _form(Category.ORGN, 6, "organisations", key="OGID",
          fields=(RefField(tag="OCAT", shape=Shape.LIST, filtered=True),), ignored="ONAM"),
    _form(Category.FLTL, 7, "flight types", key="FTYP", ignored="FDES FCML CTYP"),
    _form(Category.TLST, 8, "terminals", key="TCOD", ignored="TNAM TCAT TPAX"),
    _form(Category.GLST, 9, "gates", key="GCOD"),
    _form(Category.SLST, 10, "stands", key="SCOD", fields=(RefField(tag="STGP", cut=8),),
          ignored="STNM MABS FEPU"),
    _form(Category.CLST, 11, "check-in counters", key="CCOD", fields=("CNMC", "CTML"),
          ignored="CTNM CCAT"),
    _form(Category.BLST, 12, "baggage belts", key="BCOD", ignored="BTNM BCAT"),
    _form(Category.CHLT, 13, "baggage chutes", key="CCOD", fields=("CNMC", "CTML", "CCAT")),
    _form(Category.RSTA, 14, "availability of resources", key="RTYP RSID",
          fields=("STAT", RefField(tag=BEGIN, shape=Shape.TIME),
                  RefField(tag=END, shape=Shape.TIME))),
)  # fmt: skip

FORM: Final = MappingProxyType({form.category: form for form in FORMS})

REPEATED: Final[tuple[RefField, ...]] = (
    RefField(tag="REGC", shape=Shape.LIST),
    RefField(tag="OCAT", shape=Shape.LIST),
    RefField(tag="OGRP", shape=Shape.LIST),
    RefField(
        tag="TRML",
        shape=Shape.RECORDS,
        parts=(_attribute("MVIN"), _attribute("FLIN"), _OWN_TEXT),
    ),
    RefField(
        tag="SUBC",
        shape=Shape.RECORDS,
        parts=(PartField("CODE"), PartField("NAME"), PartField("NAMC")),
    ),
    RefField(tag="ABBR", shape=Shape.RECORDS, parts=(_attribute("CODE"), _OWN_TEXT)),
)
"""Fields whose category the documents do not tell: read so in each one but RSTA, unless it has
a field of that name itself."""

KEY_LIMIT: Final = 64
"""The most characters of a part of a key."""

RKEY_LIMIT: Final = 2 * KEY_LIMIT + 1
"""The most characters of a key: of RSTA two parts and what joins them."""


def fields_of(category: Category) -> Mapping[str, RefField]:
    """Return the fields that are read of a category's record, its own first, by their name in
    the payload."""
    own = {field.tag: field for field in FORM[category].fields}
    if category is Category.RSTA:
        return own
    return own | {field.tag: field for field in REPEATED if field.tag not in own}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What parameters say about reading reference data (`msgx.reference`)."""

    begin_tag: str
    end_tag: str
    ocat: frozenset[str] = frozenset()  # codes to keep; none: all of them
