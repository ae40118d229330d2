"""The payload below META: is the kind ours, is it there, does every value hold (R58)."""

from dataclasses import dataclass
from datetime import tzinfo

from lxml import etree

from msgx.codec.elements import Refusal, count_attributes, scalar
from msgx.codec.plan import Plan, named_only, whole_record
from msgx.codec.records import RecordReader
from msgx.codec.recs import agreed
from msgx.codec.unmapped import Tally
from msgx.domain.failure import ErrorClass, clean
from msgx.domain.flop import RULE, FlopGroup, FlopRule, Side
from msgx.domain.message import (
    Adft,
    Fdel,
    Flop,
    Meta,
    Payload,
    Record,
    Refused,
    Schedule,
    ScheduleKind,
    Unsupported,
)

_ADFT = "ADFT"
_FDEL = "FDEL"
_SCHEDULES = frozenset({_ADFT, *ScheduleKind})


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadReader:
    """Reads the payload of one message; `tally` gathers what is not read."""

    zone: tzinfo
    year: int
    groups: frozenset[FlopGroup]
    tally: Tally

    def read(self, root: etree._Element, meta: Meta) -> Payload:
        """Return the payload, or why there is none: a broken rule is an answer."""
        try:
            if meta.type == "SCHD" and meta.styp in _SCHEDULES:
                return self._schedule(root, meta.styp)
            rule = RULE.get(meta.styp) if meta.type == "FLOP" else None
            if rule is not None and rule.group in self.groups:
                return self._flop(root, rule)
        except Refusal as refusal:
            return Refused(ErrorClass.PROTOCOL, clean(str(refusal)), refusal.flid)
        return Unsupported()

    def _schedule(self, root: etree._Element, styp: str) -> Payload:
        bodies = self._bodies(root, "SCHD")
        if not bodies:
            return _missing("SCHD")
        if len(bodies) > 1:
            raise Refusal(f"SCHD stands {len(bodies)} times")
        reader = self._reader(whole_record(self.zone, self.year))
        count_attributes(bodies[0], self.tally)
        declared, elements = self._package(bodies[0])
        records = tuple(
            _record(reader, element, number, len(elements))
            for number, element in enumerate(elements, start=1)
        )
        _once_each(records)
        if styp == _ADFT:
            return Adft(records)
        return Schedule(kind=ScheduleKind(styp), declared=declared, records=records)

    def _package(self, body: etree._Element) -> tuple[int, list[etree._Element]]:
        """Return RECS and the FLTR elements, which must agree (B99)."""
        counts: list[str] = []
        elements: list[etree._Element] = []
        for child in body:
            if child.tag == "FLTR":
                elements.append(child)
            elif child.tag == "RECS":
                counts.append(scalar(child, self.tally))
            else:
                self.tally.add(child.tag, child.text)
        return agreed(counts, len(elements), "FLTR"), elements

    def _flop(self, root: etree._Element, rule: FlopRule) -> Payload:
        bodies = self._bodies(root, "FLOP")
        if not bodies:
            return _missing("FLOP")
        deletes = rule.side is Side.DELETE
        needs = (_FDEL,) if deletes else rule.tags
        reader = self._reader(named_only(needs, self.zone, self.year))
        records = tuple(
            _record(reader, body, number, len(bodies), needs=needs)
            for number, body in enumerate(bodies, start=1)
        )
        if deletes:
            return Fdel(tuple(record.flid for record in records))
        return Flop(rule.styp, records)

    def _bodies(self, root: etree._Element, tag: str) -> list[etree._Element]:
        bodies = []
        for child in root:
            if child.tag == tag:
                bodies.append(child)
            elif child.tag != "META":
                self.tally.add(child.tag, child.text)
        return bodies

    def _reader(self, plan: Plan) -> RecordReader:
        return RecordReader(plan, self.tally)


def _record(
    reader: RecordReader,
    element: etree._Element,
    number: int,
    total: int,
    *,
    needs: tuple[str, ...] = (),
) -> Record:
    place = f"{element.tag} {number} of {total}, line {element.sourceline}"
    flid = None
    try:
        flid = reader.flid(element)
        place += f" (FLID {flid})"
        if needs and not any(child.tag in needs for child in element):
            raise Refusal(f"nothing that the subtype names: {', '.join(needs)}")
        return reader.record(element, flid)
    except Refusal as refusal:
        raise Refusal(f"{place}: {refusal}", flid) from None


def _once_each(records: tuple[Record, ...]) -> None:
    seen: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        first = seen.setdefault(record.flid, number)
        if first != number:
            text = f"FLID {record.flid} stands twice: FLTR {first} and {number}"
            raise Refusal(text, record.flid)


def _missing(tag: str) -> Refused:
    return Refused(ErrorClass.MALFORMED, f"TYPE is {tag}, but MSG holds no {tag}")
