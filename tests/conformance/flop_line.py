"""The line of one STYP, and how a line of each shape is made from little."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.conformance.parts import Element, element, scalar, scalars

BAD_TIMES: Final = ("29FEB270830", "{DAY}2500", "32JAN260830", "{DAY}083", "{DAY}0860")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A content and the tags that the flight has afterwards."""

    xml: str
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A content that the interface does not allow, and the words of the reason."""

    xml: str
    says: tuple[str, ...]
    shown: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The cases of one STYP."""

    styp: str
    old: Said  # what the flight had
    new: Said
    empty: Said
    part: Said | Broken  # content without the tag, or without a part of it
    limit: Broken
    bad: Broken | str  # a text says why there is none


def _missing(styp: str, *tags: str) -> Broken:
    says = ("nothing that the subtype names", *(tags or (styp,)))
    return Broken(xml="<OTHR>1</OTHR>", says=says)


def _twice(tag: str, xml: str) -> Broken:
    return Broken(xml=xml * 2, says=(tag, "stands twice"))


def _shown(tag: str, text: str) -> dict[str, Any]:
    value = int(text) if tag == "MAXP" else text
    status = {"BOTM": {"BOARDING_STATUS": "BOARDING"}, "LACL": {"BOARDING_STATUS": "LAST_CALL"}}
    return {tag: value} | status.get(tag, {})


def one(styp: str, old: str, new: str, bad: str, *says: str) -> Line:
    """Return a scalar's line: its limit is one, and a FLOP without it says nothing."""
    return Line(
        styp=styp,
        old=Said(xml=scalar(styp, old), state=_shown(styp, old)),
        new=Said(xml=scalar(styp, new), state=_shown(styp, new)),
        empty=Said(xml=scalar(styp, "")),
        part=_missing(styp),
        limit=_twice(styp, scalar(styp, new)),
        bad=Broken(xml=f"<{styp}>{bad}</{styp}>", says=says or (styp, bad)),
    )


def time(styp: str, bad: int) -> Line:
    """Return the line of a time; `bad` picks one of BAD_TIMES."""
    return one(styp, "@0700", "@0830", BAD_TIMES[bad])


def text(styp: str, old: str, new: str) -> Line:
    """Return the line of a text: any text is a value, elements are none."""
    says = f"{styp} holds elements where a value is expected"
    return one(styp, old, new, f"<CODE>{new}</CODE>", says)


def several(
    styp: str, old: dict[str, str], new: dict[str, str], part: dict[str, str], bad: Broken
) -> Line:
    """Return the line of a subtype that names several scalars."""
    first = next(iter(old))
    cleared = dict.fromkeys(old, "")
    return Line(
        styp=styp,
        old=Said(xml=scalars(old), state=old),
        new=Said(xml=scalars(new), state=new),
        empty=Said(xml=scalars(cleared)),
        part=Said(xml=scalars(part), state=old | part),
        limit=_twice(first, scalar(first, new[first])),
        bad=bad,
    )


def listing(
    tag: str, most: int, full: Element, second: Element, bare: Element, bad: Element, says: str
) -> Line:
    """Return the line of a collection; `bare` is an element that lacks most parts."""
    none = f'<{tag} {next(iter(full.attributes))}="0"/>' if tag != "DELY" else "<DELY/>"
    many = "".join(
        Element(tag=tag, attributes=bare.attributes, children=bare.children, text=bare.text).xml
        for _ in range(most + 1)
    )
    return Line(
        styp=tag,
        old=Said(xml=full.xml, state={tag: [full.state]}),
        new=Said(xml=second.xml + full.xml, state={tag: [second.state, full.state]}),
        empty=Said(xml=none),
        part=Said(xml=bare.xml, state={tag: [bare.state]}),
        limit=Broken(
            xml=many,
            says=(f"{tag} stands {most + 1} times", str(most)),
            shown=f"{most + 1} × {bare.xml}",
        ),
        bad=Broken(xml=bad.xml, says=(tag, says)),
    )


def mark(
    tag: str,
    old: Element,
    new: Element,
    empty: str,
    part: Element,
    bad: Element | str,
    says: str,
) -> Line:
    """Return the line of a mark."""
    return Line(
        styp=tag,
        old=Said(xml=old.xml, state={tag: old.state}),
        new=Said(xml=new.xml, state={tag: new.state}),
        empty=Said(xml=empty),
        part=Said(xml=part.xml, state={tag: part.state}),
        limit=_twice(tag, new.xml),
        bad=bad if isinstance(bad, str) else Broken(xml=bad.xml, says=(tag, says)),
    )


def route(tag: str, full: Element, second: Element, bad: Element, most: int) -> Line:
    """Return the line of ROUT, which keeps two parts of a point, or of ERUT."""
    line = listing(tag, most, full, second, element(tag, "1", APCD="ZSPD"), bad, BAD_TIMES[1])
    if tag == "ERUT":
        return line
    kept = [{"RTNO": one.state["RTNO"], "APCD": one.state["APCD"]} for one in (second, full)]
    return Line(
        styp=tag,
        old=Said(xml=line.old.xml, state={tag: kept[1:]}),
        new=Said(xml=line.new.xml, state={tag: kept}),
        empty=line.empty,
        part=line.part,
        limit=line.limit,
        bad=line.bad,
    )
