"""One record, FLTR or FLOP, to what it tells: absent, empty or a value (INV-14b, C-6)."""

from dataclasses import dataclass

from lxml import etree

from msgx.codec.elements import Refusal, attributes, count_attributes, own_text, part_of, scalar
from msgx.codec.plan import TEXT, Plan, Shape
from msgx.codec.position import BLANKS
from msgx.codec.unmapped import Tally
from msgx.codec.values import key
from msgx.domain.message import Element, Occurrence, Part, Record, Value


@dataclass(frozen=True, slots=True)
class RecordReader:
    """Reads the records of one message and counts what nobody reads."""

    plan: Plan
    tally: Tally

    def flid(self, element: etree._Element) -> str:
        """Return the FLID of a record.

        Raises:
            Refusal: missing, twice, or no key (R58).
        """
        found = list(element.iterchildren("FLID"))
        if len(found) != 1:
            raise Refusal("FLID is missing" if not found else "FLID stands twice")
        text = scalar(found[0], self.tally)
        if not text:
            raise Refusal("FLID is empty")
        return str(part_of(key, "FLID", text))

    def record(self, element: etree._Element, flid: str) -> Record:
        """Return what a record tells about its flight.

        Raises:
            Refusal: a value, a count or a limit is wrong.
        """
        plan = self.plan
        told: dict[str, Value | None] = {}
        groups: dict[str, list[etree._Element]] = {}
        occurrences: list[Occurrence] = []
        count_attributes(element, self.tally)
        for child in element:
            tag = child.tag
            if (read := plan.scalars.get(tag)) is not None:
                text = scalar(child, self.tally)
                _set(told, tag, part_of(read, tag, text) if text else None)
            elif tag in plan.collections:
                groups.setdefault(tag, []).append(child)
            elif (mark := plan.marks.get(tag)) is not None:
                _set(told, tag, self._mark(child, mark))
            elif tag in plan.occurring:
                occurrences.append(Occurrence(tag, _fragment(child)))
            elif tag not in plan.passed_over:
                self.tally.add(tag, child.text)
        for tag, found in groups.items():
            told[tag] = self._collection(found, plan.collections[tag])
        return Record(flid=flid, told=told, occurrences=tuple(occurrences))

    def _mark(self, element: etree._Element, shape: Shape) -> Element | None:
        parts = self._parts(element, shape)
        if shape.clears_by is not None and shape.clears_by not in parts:
            return None
        return parts or None

    def _collection(self, found: list[etree._Element], shape: Shape) -> tuple[Element, ...]:
        if len(found) > shape.limit:
            raise Refusal(f"{shape.tag} stands {len(found)} times, the limit is {shape.limit}")
        elements = tuple(self._parts(element, shape) for element in found)
        if len(found) == 1 and _says_none(found[0], shape):
            return ()
        return elements

    def _parts(self, element: etree._Element, shape: Shape) -> dict[str, Part]:
        parts: dict[str, Part | None] = {}
        for name, value in attributes(element):
            read = shape.attributes.get(name)
            if read is None:
                self.tally.add(f"{shape.tag}@{name}", value)
            elif text := value.strip(BLANKS):
                parts[name] = part_of(read, f"{shape.tag}@{name}", text)
        for child in element:
            name = child.tag
            read = shape.children.get(name)
            if read is None:
                self.tally.add(f"{shape.tag}/{name}", child.text)
            elif name in parts:
                raise Refusal(f"{shape.tag}/{name} stands twice")
            else:
                text = scalar(child, self.tally)
                parts[name] = part_of(read, f"{shape.tag}/{name}", text) if text else None
        if shape.own_text:
            parts[TEXT] = own_text(element) or None
        elif (stray := element.text) and not stray.isspace():
            self.tally.add(f"{shape.tag}/{TEXT}", stray)
        return {name: part for name in shape.order if (part := parts.get(name)) is not None}


def _says_none(element: etree._Element, shape: Shape) -> bool:
    """Tell whether a lone element says "none": no content, sequence zero or no value (R60)."""
    if len(element) or (element.text or "").strip(BLANKS):
        return False
    for name, value in attributes(element):
        text = value.strip(BLANKS)
        zero = name == shape.sequence and not text.strip("0")
        if name in shape.attributes and text and not zero:
            return False
    return True


def _set(told: dict[str, Value | None], tag: str, value: Value | None) -> None:
    if tag in told:
        raise Refusal(f"{tag} stands twice")
    told[tag] = value


def _fragment(element: etree._Element) -> str:
    canonical = etree.tostring(element, method="c14n", exclusive=True, with_comments=False)
    return canonical.decode()
