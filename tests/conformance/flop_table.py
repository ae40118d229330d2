"""One line for each STYP: its value, its empty form, its parts, its limit and a bad value. Data
only; `flop` makes cells of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.conformance.parts import Element, element, scalar, scalars

SIS: Final = [
    "ACFT",
    "ACTT",
    "BOTM",
    "CHOT",
    "FLTY",
    "CKDT",
    "CLDT",
    "CHDT",
    "CNCL",
    "ESTT",
    "FDEL",
    "FDIV",
    "FINT",
    "FLIN",
    "FRET",
    "GTDT",
    "LACL",
    "MAXP",
    "HNAG",
    "PSDT",
    "RENO",
    "ROUT",
    "TAOP",
    "TRML",
    "VIPP",
]
LEGACY: Final = ["ABTM", "DELY", "PADT", "FTSS", "STND", "BDPB", "REMC"]
EXTENDED: Final = ["APPT", "EGSR", "EGST", "NAAT", "NEAT", "PEDT", "EXSS", "FLAB", "ERUT"]

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


def _one(styp: str, old: str, new: str, bad: str, *says: str) -> Line:
    """A scalar: its limit is one, and a FLOP without it says nothing."""
    return Line(
        styp=styp,
        old=Said(xml=scalar(styp, old), state=_shown(styp, old)),
        new=Said(xml=scalar(styp, new), state=_shown(styp, new)),
        empty=Said(xml=scalar(styp, "")),
        part=_missing(styp),
        limit=_twice(styp, scalar(styp, new)),
        bad=Broken(xml=f"<{styp}>{bad}</{styp}>", says=says or (styp, bad)),
    )


def _time(styp: str, bad: int) -> Line:
    return _one(styp, "@0700", "@0830", BAD_TIMES[bad])


def _text(styp: str, old: str, new: str) -> Line:
    says = f"{styp} holds elements where a value is expected"
    return _one(styp, old, new, f"<CODE>{new}</CODE>", says)


def _several(
    styp: str, old: dict[str, str], new: dict[str, str], part: dict[str, str], bad: Broken
) -> Line:
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


def _list(
    tag: str, most: int, full: Element, second: Element, bare: Element, bad: Element, says: str
) -> Line:
    """A collection: replaced whole; `bare` is an element that lacks most parts."""
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


def _mark(
    tag: str,
    old: Element,
    new: Element,
    empty: str,
    part: Element,
    bad: Element | str,
    says: str,
) -> Line:
    return Line(
        styp=tag,
        old=Said(xml=old.xml, state={tag: old.state}),
        new=Said(xml=new.xml, state={tag: new.state}),
        empty=Said(xml=empty),
        part=Said(xml=part.xml, state={tag: part.state}),
        limit=_twice(tag, new.xml),
        bad=bad if isinstance(bad, str) else Broken(xml=bad.xml, says=(tag, says)),
    )


def _rout(tag: str, full: Element, second: Element, bad: Element, most: int) -> Line:
    line = _list(tag, most, full, second, element(tag, "1", APCD="ZSPD"), bad, BAD_TIMES[1])
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


_DDES = Element(tag="FDIV", attributes={"DDES": "ZSNJ", "DDIR": "TO"}, text="weather 天气")
_DELAY = Element(
    tag="DELY", attributes={"CODE": "81", "STRT": "@0815", "DURA": "0045"}, text="流控"
)

LINES: Final = (
    _text("ACFT", "733", "32N"),
    _time("ACTT", 0),
    _time("BOTM", 1),
    _list(
        "CHOT", 99,
        element("CHOT", "1", CHTM="@0810", CHID="C1", CHST="ON"),
        element("CHOT", "2", CHTM="@0910", CHID="C2", CHST="OFF"),
        Element(tag="CHOT", attributes={"CSNO": "1"}, children={"CHTM": "", "CHID": "C1"}),
        element("CHOT", "1", CHTM="{DAY}2500"), "{DAY}2500",
    ),
    _text("FLTY", "J", "C"),
    _list(
        "CKDT", 99,
        element("CKDT", "1", CHKC="001", CCLS="Y", PCOT="@0900", PCCT="@1100", COTM="@0905",
                CCTM="@1055", CTYP="D"),
        element("CKDT", "2", CHKC="002", CCLS="F"),
        element("CKDT", "1", CHKC="003"),
        element("CKDT", "1", CHKC="003", PCOT="29FEB270900"), "29FEB270900",
    ),
    _list(
        "CLDT", 99,
        element("CLDT", "1", BELT="07", BCLS="Y", PCOT="@1210", PCCT="@1250", FBAG="@1215",
                LBAG="@1240", BTYP="D"),
        element("CLDT", "2", BELT="08"),
        element("CLDT", "1", BELT="09"),
        element("CLDT", "1", BELT="09", FBAG="soon"), "soon",
    ),
    _list(
        "CHDT", 99,
        element("CHDT", "1", CHUT="11", CCLS="Y", PCBT="@0900", PCET="@1150", CBTM="@0905",
                CETM="@1145", CTYP="D"),
        element("CHDT", "2", CHUT="12"),
        element("CHDT", "1", CHUT="13"),
        element("CHDT", "1", CHUT="13", CETM="{DAY}1175"), "{DAY}1175",
    ),
    _time("CNCL", 2),
    _time("ESTT", 0),
    _mark(
        "FDIV", _DDES,
        Element(tag="FDIV", attributes={"DDES": "ZGGG", "DDIR": "FROM"}, text="fog"),
        '<FDIV DDES="" DDIR="TO">still a word</FDIV>',
        Element(tag="FDIV", attributes={"DDES": "ZGGG"}),
        Element(tag="FDIV", attributes={"DDES": "ZGGG", "DDIR": "UP"}), "UP",
    ),
    _time("FINT", 3),
    _one("FLIN", "D", "I", "X"),
    _mark(
        "FRET", Element(tag="FRET", attributes={"REID": "G"}, text="door open"),
        Element(tag="FRET", attributes={"REID": "A"}, text="bird strike"),
        "<FRET/>",
        Element(tag="FRET", text="only a word"),
        Element(tag="FRET", attributes={"REID": "X"}), "X",
    ),
    _list(
        "GTDT", 99,
        element("GTDT", "1", GATE="A1", PGOT="@1100", PGCT="@1150", GOTM="@1105", GCTM="@1145",
                GTYP="D"),
        element("GTDT", "2", GATE="A2"),
        element("GTDT", "1", GATE="A3"),
        element("GTDT", "1", GATE="A3", GOTM="{DAY}2500"), "{DAY}2500",
    ),
    _time("LACL", 4),
    _one("MAXP", "180", "186", "18O"),
    _several(
        "HNAG", {"FHAG": "F1", "PHAG": "P1", "MHAG": "M1"},
        {"FHAG": "F2", "PHAG": "P2", "MHAG": "M2"}, {"FHAG": "F3"},
        Broken(xml="<FHAG><CODE>F</CODE></FHAG>", says=("FHAG holds elements",)),
    ),
    _list(
        "PSDT", 9,
        element("PSDT", "1", PSST="101", STST="@1100", STET="@1210"),
        element("PSDT", "2", PSST="102"),
        element("PSDT", "1", PSST="103"),
        element("PSDT", "1", PSST="103", STST="1100"), "1100",
    ),
    _text("RENO", "B1234", "B5678"),
    _rout(
        "ROUT", element("ROUT", "1", APCD="ZBAA", SCDT="@1400"),
        element("ROUT", "1", APCD="ZSSS", SCAT="@1350", SCDT="@1450"),
        element("ROUT", "1", APCD="ZSPD", SCAT="{DAY}2500"), 6,
    ),
    _several(
        "TAOP", {"TAOP": "CA", "TAFL": "CA12", "TAID": "900001"},
        {"TAOP": "MU", "TAFL": "MU34", "TAID": "900002"}, {"TAFL": "CA13"},
        Broken(xml="<TAOP>CA</TAOP><TAFL>CA1</TAFL><TAID>9X</TAID>", says=("TAID", "9X")),
    ),
    _text("TRML", "T1", "T2"),
    _several(
        "VIPP", {"VIPP": "Y", "VIPR": "minister"}, {"VIPP": "N", "VIPR": "要客"},
        {"VIPP": "N"},
        Broken(xml="<VIPR><NAME>x</NAME></VIPR>", says=("VIPR holds elements",)),
    ),
    _list(
        "ABTM", 99,
        element("ABTM", "1", ABDG="B1", ABOP="DOCK", AOTM="@0805"),
        element("ABTM", "2", ABDG="B2"),
        element("ABTM", "1", ABDG="B3"),
        element("ABTM", "1", AOTM="{DAY}9999"), "{DAY}9999",
    ),
    _list(
        "DELY", 99, _DELAY,
        Element(tag="DELY", attributes={"CODE": "93", "DURA": "0130"}),
        Element(tag="DELY", attributes={"CODE": "81"}),
        Element(tag="DELY", attributes={"CODE": "81", "DURA": "0175"}), "0175",
    ),
    _time("PADT", 0),
    _time("FTSS", 1),
    _text("STND", "101", "007"),
    _text("BDPB", "Y", "N"),
    _text("REMC", "old", "备注 𠜎 '; --"),
    _time("APPT", 0),
    _time("EGSR", 1),
    _time("EGST", 2),
    _time("NAAT", 3),
    _time("NEAT", 4),
    _time("PEDT", 0),
    _several(
        "EXSS", {"EXSC": "E1", "EXSR": "one"}, {"EXSC": "E2", "EXSR": "two"}, {"EXSR": "three"},
        Broken(xml="<EXSC><CODE>E</CODE></EXSC>", says=("EXSC holds elements",)),
    ),
    _mark(
        "FLAB", Element(tag="FLAB", attributes={"ARES": "T"}, text="technical"),
        Element(tag="FLAB", attributes={"ARES": "W"}, text="weather"),
        '<FLAB ARES=""/>',
        Element(tag="FLAB", attributes={"ARES": "C"}),
        "attribute and text take any text", "",
    ),
    _rout(
        "ERUT", element("ERUT", "1", APCD="ZBAA", SCDT="@0700"),
        element("ERUT", "2", APCD="ZSSS", SCAT="@0900", SCDT="@1000"),
        element("ERUT", "1", APCD="ZSPD", SCAT="{DAY}2500"), 7,
    ),
)  # fmt: skip
