"""One line for each STYP: its value, its empty form, its parts, its limit and a bad value. Data
only; `flop` makes cells of it."""

from typing import Final

from tests.conformance.flop_line import (
    Broken,
    listing,
    mark,
    one,
    route,
    several,
    text,
    time,
)
from tests.conformance.parts import Element, element

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

_DDES = Element(tag="FDIV", attributes={"DDES": "ZSNJ", "DDIR": "TO"}, text="weather 天气")
_DELAY = Element(
    tag="DELY", attributes={"CODE": "81", "STRT": "@0815", "DURA": "0045"}, text="流控"
)

LINES: Final = (
    text("ACFT", "733", "32N"),
    time("ACTT", 0),
    time("BOTM", 1),
    listing(
        "CHOT", 99,
        element("CHOT", "1", CHTM="@0810", CHID="C1", CHST="ON"),
        element("CHOT", "2", CHTM="@0910", CHID="C2", CHST="OFF"),
        Element(tag="CHOT", attributes={"CSNO": "1"}, children={"CHTM": "", "CHID": "C1"}),
        element("CHOT", "1", CHTM="{DAY}2500"), "{DAY}2500",
    ),
    text("FLTY", "J", "C"),
    listing(
        "CKDT", 99,
        element("CKDT", "1", CHKC="001", CCLS="Y", PCOT="@0900", PCCT="@1100", COTM="@0905",
                CCTM="@1055", CTYP="D"),
        element("CKDT", "2", CHKC="002", CCLS="F"),
        element("CKDT", "1", CHKC="003"),
        element("CKDT", "1", CHKC="003", PCOT="29FEB270900"), "29FEB270900",
    ),
    listing(
        "CLDT", 99,
        element("CLDT", "1", BELT="07", BCLS="Y", PCOT="@1210", PCCT="@1250", FBAG="@1215",
                LBAG="@1240", BTYP="D"),
        element("CLDT", "2", BELT="08"),
        element("CLDT", "1", BELT="09"),
        element("CLDT", "1", BELT="09", FBAG="soon"), "soon",
    ),
    listing(
        "CHDT", 99,
        element("CHDT", "1", CHUT="11", CCLS="Y", PCBT="@0900", PCET="@1150", CBTM="@0905",
                CETM="@1145", CTYP="D"),
        element("CHDT", "2", CHUT="12"),
        element("CHDT", "1", CHUT="13"),
        element("CHDT", "1", CHUT="13", CETM="{DAY}1175"), "{DAY}1175",
    ),
    time("CNCL", 2),
    time("ESTT", 0),
    mark(
        "FDIV", _DDES,
        Element(tag="FDIV", attributes={"DDES": "ZGGG", "DDIR": "FROM"}, text="fog"),
        '<FDIV DDES="" DDIR="TO">still a word</FDIV>',
        Element(tag="FDIV", attributes={"DDES": "ZGGG"}),
        Element(tag="FDIV", attributes={"DDES": "ZGGG", "DDIR": "UP"}), "UP",
    ),
    time("FINT", 3),
    one("FLIN", "D", "I", "X"),
    mark(
        "FRET", Element(tag="FRET", attributes={"REID": "G"}, text="door open"),
        Element(tag="FRET", attributes={"REID": "A"}, text="bird strike"),
        "<FRET/>",
        Element(tag="FRET", text="only a word"),
        Element(tag="FRET", attributes={"REID": "X"}), "X",
    ),
    listing(
        "GTDT", 99,
        element("GTDT", "1", GATE="A1", PGOT="@1100", PGCT="@1150", GOTM="@1105", GCTM="@1145",
                GTYP="D"),
        element("GTDT", "2", GATE="A2"),
        element("GTDT", "1", GATE="A3"),
        element("GTDT", "1", GATE="A3", GOTM="{DAY}2500"), "{DAY}2500",
    ),
    time("LACL", 4),
    one("MAXP", "180", "186", "18O"),
    several(
        "HNAG", {"FHAG": "F1", "PHAG": "P1", "MHAG": "M1"},
        {"FHAG": "F2", "PHAG": "P2", "MHAG": "M2"}, {"FHAG": "F3"},
        Broken(xml="<FHAG><CODE>F</CODE></FHAG>", says=("FHAG holds elements",)),
    ),
    listing(
        "PSDT", 9,
        element("PSDT", "1", PSST="101", STST="@1100", STET="@1210"),
        element("PSDT", "2", PSST="102"),
        element("PSDT", "1", PSST="103"),
        element("PSDT", "1", PSST="103", STST="1100"), "1100",
    ),
    text("RENO", "B1234", "B5678"),
    route(
        "ROUT", element("ROUT", "1", APCD="ZBAA", SCDT="@1400"),
        element("ROUT", "1", APCD="ZSSS", SCAT="@1350", SCDT="@1450"),
        element("ROUT", "1", APCD="ZSPD", SCAT="{DAY}2500"), 6,
    ),
    several(
        "TAOP", {"TAOP": "CA", "TAFL": "CA12", "TAID": "900001"},
        {"TAOP": "MU", "TAFL": "MU34", "TAID": "900002"}, {"TAFL": "CA13"},
        Broken(xml="<TAOP>CA</TAOP><TAFL>CA1</TAFL><TAID>9X</TAID>", says=("TAID", "9X")),
    ),
    text("TRML", "T1", "T2"),
    several(
        "VIPP", {"VIPP": "Y", "VIPR": "minister"}, {"VIPP": "N", "VIPR": "要客"},
        {"VIPP": "N"},
        Broken(xml="<VIPR><NAME>x</NAME></VIPR>", says=("VIPR holds elements",)),
    ),
    listing(
        "ABTM", 99,
        element("ABTM", "1", ABDG="B1", ABOP="DOCK", AOTM="@0805"),
        element("ABTM", "2", ABDG="B2"),
        element("ABTM", "1", ABDG="B3"),
        element("ABTM", "1", AOTM="{DAY}9999"), "{DAY}9999",
    ),
    listing(
        "DELY", 99, _DELAY,
        Element(tag="DELY", attributes={"CODE": "93", "DURA": "0130"}),
        Element(tag="DELY", attributes={"CODE": "81"}),
        Element(tag="DELY", attributes={"CODE": "81", "DURA": "0175"}), "0175",
    ),
    time("PADT", 0),
    time("FTSS", 1),
    text("STND", "101", "007"),
    text("BDPB", "Y", "N"),
    text("REMC", "old", "备注 𠜎 '; --"),
    time("APPT", 0),
    time("EGSR", 1),
    time("EGST", 2),
    time("NAAT", 3),
    time("NEAT", 4),
    time("PEDT", 0),
    several(
        "EXSS", {"EXSC": "E1", "EXSR": "one"}, {"EXSC": "E2", "EXSR": "two"}, {"EXSR": "three"},
        Broken(xml="<EXSC><CODE>E</CODE></EXSC>", says=("EXSC holds elements",)),
    ),
    mark(
        "FLAB", Element(tag="FLAB", attributes={"ARES": "T"}, text="technical"),
        Element(tag="FLAB", attributes={"ARES": "W"}, text="weather"),
        '<FLAB ARES=""/>',
        Element(tag="FLAB", attributes={"ARES": "C"}),
        "attribute and text take any text", "",
    ),
    route(
        "ERUT", element("ERUT", "1", APCD="ZBAA", SCDT="@0700"),
        element("ERUT", "2", APCD="ZSSS", SCAT="@0900", SCDT="@1000"),
        element("ERUT", "1", APCD="ZSPD", SCAT="{DAY}2500"), 7,
    ),
)  # fmt: skip
