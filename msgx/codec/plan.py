"""The registry turned into lookups: what is read of a record, and by which reader."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache
from typing import Final

from msgx.codec.values import Read, one_of, readers
from msgx.domain.fields import COLLECTION, MARK, OCCURRING, SCALAR, TAGS, Kind, PartField, Where

TEXT: Final = "TEXT"
"""The part that is the element's own text."""

_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How the parts of a mark, or of one element of a collection, are read."""

    tag: str
    attributes: Mapping[str, Read]
    children: Mapping[str, Read]
    own_text: bool
    order: tuple[str, ...]  # the parts that are kept, in the registry's order
    clears_by: str | None = None  # a mark: empty, it clears the whole
    sequence: str | None = None  # a collection: zero in a lone bare element says "none"
    limit: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is read of one record; all else is counted as unmapped."""

    scalars: Mapping[str, Read]
    marks: Mapping[str, Shape]
    collections: Mapping[str, Shape]
    occurring: frozenset[str]
    passed_over: frozenset[str]  # known, and read elsewhere or on purpose never


@lru_cache(maxsize=8)
def whole_record(zone: tzinfo, year: int) -> Plan:
    """Return the plan of a FLTR: every tag of the registry."""
    return _plan(TAGS, zone, year, occurring=frozenset(field.tag for field in OCCURRING))


@lru_cache(maxsize=256)
def named_only(tags: tuple[str, ...], zone: tzinfo, year: int) -> Plan:
    """Return the plan of a FLOP: what its STYP names (INV-14b); FFID is never used."""
    return _plan(tags, zone, year, passed_over=frozenset({"FFID", *tags}))  # FDEL is no field


def _plan(
    tags: Iterable[str],
    zone: tzinfo,
    year: int,
    *,
    occurring: frozenset[str] = _NONE,
    passed_over: frozenset[str] = _NONE,
) -> Plan:
    by_kind = readers(zone, year)
    wanted = frozenset(tags)
    return Plan(
        scalars={tag: by_kind[field.kind] for tag, field in SCALAR.items() if tag in wanted},
        marks={tag: _mark(tag, by_kind) for tag in MARK if tag in wanted},
        collections={tag: _collection(tag, by_kind) for tag in COLLECTION if tag in wanted},
        occurring=occurring,
        passed_over=passed_over | {"FLID"},
    )


def _mark(tag: str, by_kind: Mapping[Kind, Read]) -> Shape:
    mark = MARK[tag]
    special = {name: one_of(allowed) for name, allowed in mark.allowed.items()}
    return Shape(
        tag=tag,
        attributes=_reads(mark.parts, Where.ATTRIBUTE, by_kind) | special,
        children=_reads(mark.parts, Where.CHILD, by_kind),
        own_text=any(part.where is Where.TEXT for part in mark.parts),
        order=tuple(part.name for part in mark.parts),
        clears_by=mark.clears_by,
    )


def _collection(tag: str, by_kind: Mapping[Kind, Read]) -> Shape:
    collection = COLLECTION[tag]
    parts = collection.parts
    return Shape(
        tag=tag,
        attributes=_reads(parts, Where.ATTRIBUTE, by_kind),
        children=_reads(parts, Where.CHILD, by_kind),
        own_text=any(part.where is Where.TEXT for part in parts),
        order=tuple(
            part.name
            for part in parts
            if collection.kept is None or part.name in collection.kept
        ),
        sequence=collection.sequence,
        limit=collection.limit,
    )


def _reads(
    parts: Iterable[PartField], where: Where, by_kind: Mapping[Kind, Read]
) -> dict[str, Read]:
    return {part.name: by_kind[part.kind] for part in parts if part.where is where}
