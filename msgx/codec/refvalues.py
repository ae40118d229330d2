"""The elements of one tag of a reference record to what is stored of them (R24)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache, partial
from typing import TypeAlias

from lxml import etree

from msgx.codec.elements import Refusal, attributes, own_text, part_of, scalar
from msgx.codec.position import BLANKS
from msgx.codec.unmapped import Tally
from msgx.codec.values import sis_time
from msgx.domain.fields import Where
from msgx.domain.refdata import (
    BEGIN,
    END,
    Category,
    Reading,
    RefField,
    Shape,
    Text,
    Told,
    fields_of,
)

Elements: TypeAlias = list[etree._Element]
"""The elements of one tag, in message order; one at least."""


@dataclass(frozen=True, slots=True)
class FieldReader:
    """Reads a field; `name` is what it is called in the payload."""

    name: str
    read: Callable[[Elements, Tally], Told]


@lru_cache(maxsize=64)
def field_readers(
    category: Category, reading: Reading, zone: tzinfo, year: int
) -> Mapping[str, FieldReader]:
    """Return the reader of each tag that the registry names for a category."""
    tags = {BEGIN: reading.begin_tag, END: reading.end_tag}
    return {
        tags.get(name, name): FieldReader(name, _reader(field, reading, zone, year))
        for name, field in fields_of(category).items()
    }


def unknown(found: Elements, tally: Tally) -> tuple[Told] | None:
    """Return what a tag that the registry does not name tells, and count it (R51); None: it
    holds elements, and how to keep them is not known."""
    for element in found:
        tally.add(element.tag, element.text)
    if any(len(element) for element in found) or found[0].tag.startswith("{"):
        return None
    if len(found) == 1:
        return (_text(found[0], tally),)
    return (_texts(found, tally),)


def _reader(
    field: RefField, reading: Reading, zone: tzinfo, year: int
) -> Callable[[Elements, Tally], Told]:
    match field.shape:
        case Shape.TEXT:
            return partial(_single, field)
        case Shape.LIST:
            return partial(_list, reading.ocat if field.filtered else frozenset())
        case Shape.RECORDS:
            return partial(_records, field)
        case Shape.TIME:
            return partial(_time, field, zone, year)


def _single(field: RefField, found: Elements, tally: Tally) -> Told:
    if len(found) > 1 and not field.first:
        raise Refusal(f"{field.tag} stands {len(found)} times")
    text = _text(found[0], tally)
    return text if text is None or field.cut is None else text[: field.cut]


def _time(field: RefField, zone: tzinfo, year: int, found: Elements, tally: Tally) -> Told:
    tag = found[0].tag
    if len(found) > 1:
        raise Refusal(f"{tag} stands {len(found)} times")
    text = _text(found[0], tally)
    if text is None:
        return None
    return str(
        part_of(
            lambda given: sis_time(given, zone, year).astimezone(zone).isoformat(), tag, text
        )
    )


def _list(kept: frozenset[str], found: Elements, tally: Tally) -> Told:
    texts = _texts(found, tally)
    if texts == (None,):
        return None
    return tuple(text for text in texts if text in kept) if kept else texts


def _records(field: RefField, found: Elements, tally: Tally) -> Told:
    records = tuple(_parts(field, element, tally) for element in found)
    if len(records) == 1 and not any(records[0].values()):
        return None
    return records


def _parts(field: RefField, element: etree._Element, tally: Tally) -> dict[str, Text]:
    """Return the parts that are there; an empty one is null."""
    where = {part.name: part.where for part in field.parts}
    parts: dict[str, Text] = {}
    for name, given in attributes(element):
        if where.get(name) is Where.ATTRIBUTE:
            parts[name] = given.strip(BLANKS) or None
        else:
            tally.add(f"{field.tag}@{name}", given)
    for child in element:
        if where.get(child.tag) is not Where.CHILD:
            tally.add(f"{field.tag}/{child.tag}", child.text)
        elif child.tag in parts:
            raise Refusal(f"{field.tag}/{child.tag} stands twice")
        else:
            parts[child.tag] = _text(child, tally)
    own = own_text(element)
    if where.get("TEXT") is Where.TEXT:
        parts["TEXT"] = own or None
    elif own:
        tally.add(f"{field.tag}/TEXT", own)
    return {part.name: parts[part.name] for part in field.parts if part.name in parts}


def _texts(found: Elements, tally: Tally) -> tuple[Text, ...]:
    return tuple(_text(element, tally) for element in found)


def _text(element: etree._Element, tally: Tally) -> Text:
    return scalar(element, tally) or None
