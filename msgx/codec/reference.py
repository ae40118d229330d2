"""Reference data below META: which kind, are records there, does each of them hold (R58)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from lxml import etree

from msgx.codec.elements import Refusal, count_attributes, scalar, shown
from msgx.codec.recs import Miscount, agreed
from msgx.codec.refvalues import field_readers, unknown
from msgx.codec.unmapped import Tally
from msgx.domain.failure import ErrorClass, clean
from msgx.domain.message import HandOff, Meta, Payload, Reference, ReferenceRecord, Refused
from msgx.domain.refdata import (
    BEGIN,
    END,
    FORM,
    KEY_LIMIT,
    RTYPES,
    STATS,
    WHOLE,
    Action,
    Category,
    Reading,
    Told,
)

_CATEGORIES: Final = frozenset(Category)
_ACTIONS: Final = frozenset(Action)


def kind_of(meta: Meta) -> HandOff | None:
    """Return what reference data a message is, or None: it is none that is supported.

    Nothing adds, replaces or removes an RSTA record but its events (R54)."""
    if meta.type not in _CATEGORIES or meta.styp not in _ACTIONS:
        return None
    category, action = Category(meta.type), Action(meta.styp)
    if category is Category.RSTA and action not in WHOLE:
        return None
    return HandOff(category, action)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceReader:
    """Reads the records of one message; `tally` gathers what the registry does not name."""

    kind: HandOff
    zone: tzinfo
    year: int
    reading: Reading
    tally: Tally

    def read(self, root: etree._Element) -> Payload:
        """Return the payload, or why there is none: a broken rule is an answer."""
        try:
            return self._read(root)
        except Refusal as refusal:
            return Refused(ErrorClass.PROTOCOL, clean(str(refusal)))

    def _read(self, root: etree._Element) -> Payload:
        category = self.kind.category
        counts, elements = self._package(root)
        if not elements:
            if any(counts) and not counts[0].strip("0"):
                raise Refusal(f"RECS says 0: a package holds one {category} at least")  # R48
            return Refused(
                ErrorClass.MALFORMED, f"TYPE is {category}, but MSG holds no {category}"
            )
        declared, warning = self._declared(counts, len(elements))
        records = tuple(
            self._record(element, number, len(elements))
            for number, element in enumerate(elements, start=1)
        )
        return Reference(
            category=category,
            action=self.kind.action,
            declared=declared,
            records=_once_each(records, category),
            warning=warning,
        )

    def _package(self, root: etree._Element) -> tuple[list[str], list[etree._Element]]:
        """Return RECS and the records: they stand in MSG itself, named like TYPE."""
        counts: list[str] = []
        elements: list[etree._Element] = []
        for child in root:
            if child.tag == self.kind.category:
                elements.append(child)
            elif child.tag == "RECS":
                counts.append(scalar(child, self.tally))
            elif child.tag != "META":
                self.tally.add(child.tag, child.text)
        return counts, elements

    def _declared(self, counts: list[str], have: int) -> tuple[int | None, str | None]:
        """Return RECS, and what is wrong with it where that is no reason to refuse (R23)."""
        category, action = self.kind.category, self.kind.action
        if category is Category.RSTA and not any(counts):
            return None, None  # an event: nothing is deleted by absence
        try:
            return agreed(counts, have, category), None
        except Miscount as miscount:
            if action in WHOLE:
                raise
            return miscount.declared, clean(str(miscount))

    def _record(self, element: etree._Element, number: int, total: int) -> ReferenceRecord:
        place = f"{element.tag} {number} of {total}, line {element.sourceline}"
        try:
            parts = _key(element, FORM[self.kind.category].key, self.tally)
            key = ":".join(parts.values())
            if self.kind.action is Action.DEL:
                return ReferenceRecord(key, None)
            place += f" ({key})"
            return ReferenceRecord(key, self._payload(element, parts))
        except Refusal as refusal:
            raise Refusal(f"{place}: {refusal}") from None

    def _payload(self, element: etree._Element, key: Mapping[str, str]) -> Mapping[str, Told]:
        category, tally = self.kind.category, self.tally
        fields = field_readers(category, self.reading, self.zone, self.year)
        ignored = FORM[category].ignored
        groups: dict[str, list[etree._Element]] = {}
        count_attributes(element, tally)
        for child in element:
            if child.tag not in ignored and child.tag not in key:
                groups.setdefault(child.tag, []).append(child)
        payload: dict[str, Told] = {**key}
        for tag, found in groups.items():
            if (field := fields.get(tag)) is not None:
                payload[field.name] = field.read(found, tally)
            elif category is Category.RSTA and tag in (BEGIN, END):
                tally.add(tag, found[0].text)  # would be taken for the window
            elif (told := unknown(found, tally)) is not None:
                (payload[tag],) = told
        if category is Category.RSTA:
            _check_state(payload)
        return payload


def _key(element: etree._Element, tags: Sequence[str], tally: Tally) -> Mapping[str, str]:
    parts = {}
    for tag in tags:
        found = list(element.iterchildren(tag))
        if len(found) != 1:
            raise Refusal(f"{tag} is missing" if not found else f"{tag} stands twice")
        text = scalar(found[0], tally)
        if not text:
            raise Refusal(f"{tag} is empty")
        if len(text) > KEY_LIMIT or not text.isprintable():
            raise Refusal(f"{tag} {shown(text)} is no key of 1 to {KEY_LIMIT} characters")
        if tag == "RTYP":
            _one_of(tag, text, RTYPES)
        parts[tag] = text
    return parts


def _one_of(tag: str, text: str, allowed: Sequence[str]) -> None:
    if text not in allowed:
        raise Refusal(f"{tag} {shown(text)} is not one of {', '.join(allowed)}")


def _check_state(payload: Mapping[str, Told]) -> None:
    """Raise Refusal unless `payload` is a state with a window that can be (13.4)."""
    stat = payload.get("STAT")
    if not isinstance(stat, str):
        raise Refusal("STAT is empty" if "STAT" in payload else "STAT is missing")
    _one_of("STAT", stat, STATS)
    begin, end = payload.get(BEGIN), payload.get(END)
    if isinstance(end, str) and stat == "E":
        raise Refusal("the end of a window stands beside STAT E, which has none")
    if not isinstance(begin, str) or not isinstance(end, str):
        return
    if datetime.fromisoformat(end) <= datetime.fromisoformat(begin):
        raise Refusal("the window does not end after it begins")


def _once_each(
    records: Sequence[ReferenceRecord], category: Category
) -> tuple[ReferenceRecord, ...]:
    """Return `records` with each key once: of a resource's events the last holds (13.4)."""
    if category is Category.RSTA:
        return tuple({record.key: record for record in records}.values())
    seen: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        first = seen.setdefault(record.key, number)
        if first != number:
            raise Refusal(
                f"{'+'.join(FORM[category].key)} {shown(record.key)} stands twice:"
                f" {category} {first} and {number}"
            )
    return tuple(records)
